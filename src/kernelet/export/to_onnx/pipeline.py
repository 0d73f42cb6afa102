"""kernelet's estimators inside scikit-learn pipelines that skl2onnx converts."""

from __future__ import annotations

from typing import Any

from kernelet.export.to_onnx.exporter import onnx_model


def register_skl2onnx() -> None:
    """Let skl2onnx convert pipelines that hold estimators of kernelet.

    After it, ``skl2onnx.to_onnx(pipeline, X)`` works as it does for scikit-learn's own estimators.
    The outputs are ``label`` and ``scores`` (and ``probabilities``) for classifiers, ``variable``
    for others; there is no ZipMap. Several calls do no harm. Conversion raises a ValueError where
    the input of an estimator is not one tensor of floats with the features it was fitted with.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from kernelet import ReducedSVC
    >>> from kernelet.export import register_skl2onnx
    >>> register_skl2onnx()
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(PCA(2), ReducedSVC(5, random_state=0)).fit(X, y)
    >>> [output.name for output in to_onnx(pipeline, X[:1]).graph.output]
    ['label', 'scores']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("pipelines are converted by skl2onnx: pip install skl2onnx.") from error
    from sklearn.base import BaseEstimator

    from kernelet import learners
    from kernelet.learners.compression.calibrated_classifier import PlattClassifier
    from kernelet.learners.compression.compressed_models import READINGS

    named = [getattr(learners, name) for name in learners.__all__]
    for kind in (*named, *READINGS.values(), PlattClassifier):
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            update_registered_converter(
                kind,
                _alias(kind),
                _infer_shapes,
                _convert,
                overwrite=True,
                parser=_parse,
            )


def _alias(kind: type) -> str:
    return f"Kernelet{kind.__name__}"


def _dtype(variable: Any) -> str:
    from skl2onnx.common.data_types import DoubleTensorType

    return "float64" if isinstance(variable.type, DoubleTensorType) else "float32"


def _check_inputs(model: Any, inputs: list[Any]) -> None:
    """Refuse rows that the estimator would refuse: a single column fits any number of features."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    name = type(model).__name__
    kinds = [type(variable.type) for variable in inputs]
    if len(inputs) != 1 or not issubclass(kinds[0], FloatTensorType | DoubleTensorType):
        raise ValueError(
            f"{name} takes one input of rows, FloatTensorType([None, {model.n_features_in_}]) or "
            f"DoubleTensorType, got {', '.join(kind.__name__ for kind in kinds)}; put a "
            "ColumnTransformer or a scaler in front of it."
        )
    width = inputs[0].type.shape[1] if len(inputs[0].type.shape) > 1 else None
    if width not in (None, model.n_features_in_):
        raise ValueError(
            f"{name} was fitted with {model.n_features_in_} features, the input has {width}."
        )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the operator and its outputs, as many as our own graph has."""
    from onnx import TensorProto
    from skl2onnx.common import data_types

    kinds = {
        TensorProto.FLOAT: data_types.FloatTensorType,
        TensorProto.DOUBLE: data_types.DoubleTensorType,
        TensorProto.INT64: data_types.Int64TensorType,
        TensorProto.STRING: data_types.StringTensorType,
    }
    _check_inputs(model, inputs)
    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    for output in onnx_model(model, _dtype(inputs[0])).graph.output:
        tensor = output.type.tensor_type
        shape = [dimension.dim_value or None for dimension in tensor.shape.dim]
        variable = scope.declare_local_variable(output.name, kinds[tensor.elem_type](shape))
        operator.outputs.append(variable)
    return list(operator.outputs)


def _infer_shapes(operator: Any) -> None:
    # what _parse declared holds for any number of rows
    return None


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.helpers import add_onnx_graph

    made = onnx_model(operator.raw_operator, _dtype(operator.inputs[0]), checks_width=True)
    add_onnx_graph(scope, operator, container, made)
