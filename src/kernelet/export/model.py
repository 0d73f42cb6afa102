"""What an exporter has to know of a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import is_regressor

from kernelet.export.scalers import scaled_columns
from kernelet.learners import RelevanceVectorClassifier
from kernelet.learners.compression.column_steps import table_encoder
from kernelet.learners.compression.exact_conversion import in_units_of_targets, warn_of_losses
from kernelet.learners.compression.sklearn_adapters import adapt
from kernelet.learners.compression.unwrapping import unwrapped
from kernelet.machine import CalibratedMachine, Calibration, KernelMachine, SigmoidCalibration
from kernelet.machine.columns import Category, Number
from kernelet.machine.reading import Reading

# Nothing is predicted from these: exports give the outputs themselves.
_AS_VALUES = (Reading.SCORES, Reading.FEATURES)


@dataclass(frozen=True, eq=False)
class ExportedModel:
    """A machine and how its outputs are read.

    Attributes
    ----------
    machine : KernelMachine
    reading : Reading
    classes : list or None
        Labels as Python's own numbers and texts, where there are classes.
    calibration : Calibration or None
        Makes probabilities of the scores.
    labels_by_scores : bool
        Whether the class of the largest score is predicted even so, not that of the largest
        probability: they differ where probabilities are equal after rounding.
    votes : bool
        Whether the decision function of pairs is the votes of the classes, not the pairs' scores.
    break_ties : bool
        Whether equal votes are decided by the scores.
    feature_names : list of str or None
        Of the columns, where there are columns.
    columns : tuple of Number or Category, or None
        What is done to the columns of a row before it is the machine's; None takes it as it is.
        A column of numbers whose ``fill`` is NaN leaves NaN as it is.
    """

    machine: KernelMachine
    reading: Reading
    classes: list[Any] | None = None
    calibration: Calibration | None = None
    labels_by_scores: bool = False
    votes: bool = True
    break_ties: bool = False
    feature_names: list[str] | None = None
    columns: tuple[Number | Category, ...] | None = None


def exported_model(model: Any, *, with_columns: bool = False) -> ExportedModel:
    """The machine behind a fitted model, ready to be written down.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, fitted estimator of kernelet, or fitted SVC, NuSVC, \
SVR, NuSVR, OneClassSVM or KernelRidge
        Also in wrappers: a search stands for its best estimator, and OneVsRestClassifier,
        OneVsOneClassifier, CalibratedClassifierCV and TransformedTargetRegressor for one machine.
    with_columns : bool, default=False
        Whether TableModel and pipelines of scalers are taken too: who asks for them has to do what
        ``columns`` says.

    Returns
    -------
    ExportedModel

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If its kernel is a Python function, or a number in it is not finite.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> exported = exported_model(SVC().fit([[0.0], [1.0], [5.0]], ["low", "low", "high"]))
    >>> str(exported.reading), exported.classes, exported.machine.n_vectors
    ('classes', ['high', 'low'], 3)
    """
    exported = _exported(model)
    if exported.columns is not None and not with_columns:
        raise TypeError(
            f"a {type(model).__name__} as a whole is not exported to this format; export its "
            "estimator, and give it rows that are encoded or scaled already."
        )
    machine = exported.machine
    if not machine.kernel.is_serializable:
        raise ValueError(
            f"{machine.kernel!r} contains a Python function, which cannot be exported; use a "
            "kernel of kernelet.kernels, or sums and products of them."
        )
    for name in ("vectors", "coefficients", "intercepts"):
        if not np.isfinite(getattr(machine, name)).all():
            raise ValueError(f"the {name} of the machine hold NaN or infinity; it is not exported.")
    for text in _texts(exported):
        if not _is_unicode(text):
            raise ValueError(
                f"the name or label {text!r} holds half a character (a lone surrogate), which no "
                "format can hold; rename it."
            )
    return exported


def cast(name: str, array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """An array of a machine in the type that is written.

    Raises
    ------
    ValueError
        If a number in it is too large for the type.
    """
    with np.errstate(over="ignore"):
        rounded = np.asarray(array, dtype=dtype)
    if not np.isfinite(rounded).all():
        raise ValueError(f"the {name} of the machine are too large for float32; use float64.")
    return rounded


def _texts(exported: ExportedModel) -> Iterator[str]:
    """All that somebody else has named."""
    yield from (label for label in exported.classes or () if isinstance(label, str))
    yield from exported.feature_names or ()
    for column in exported.columns or ():
        yield column.name
        yield from column.categories if isinstance(column, Category) else ()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _exported(model: Any) -> ExportedModel:
    inner = unwrapped(model)
    warn_of_losses(inner)
    exported = _without_wrappers(inner.model)
    if inner.targets:
        exported = replace(exported, machine=in_units_of_targets(exported.machine, inner))
    if inner.calibration is not None:
        exported = replace(
            exported, calibration=inner.calibration, labels_by_scores=inner.labels_by_scores
        )
    if not inner.steps:
        return exported
    encoder = table_encoder(inner.steps)
    if encoder is not None:
        return replace(exported, columns=encoder.columns, feature_names=encoder.names)
    columns = scaled_columns(inner.steps, exported.machine.n_features)
    return replace(exported, columns=columns, feature_names=[column.name for column in columns])


def _without_wrappers(model: Any) -> ExportedModel:
    if isinstance(model, CalibratedMachine):
        return ExportedModel(model.machine, Reading.VALUES, calibration=model.calibration)
    names = getattr(model, "feature_names_in_", None)
    feature_names = None if names is None else [str(name) for name in names]
    machine = getattr(model, "machine_", None)
    if isinstance(machine, KernelMachine) and (
        is_regressor(model) or getattr(model, "transform", None) is not None
    ):
        return ExportedModel(machine, Reading.VALUES, feature_names=feature_names)
    try:
        adapted = adapt(model)
    except TypeError as error:
        raise TypeError(
            f"{type(model).__name__} cannot be exported, as it is not a kernel machine. Train SVC, "
            "SVR or an estimator of kernelet on the same rows, or use skl2onnx."
        ) from error
    calibration = None
    if isinstance(model, RelevanceVectorClassifier):
        k = adapted.machine.n_outputs
        calibration = SigmoidCalibration(np.full(k, -1.0), np.zeros(k))
    return ExportedModel(
        adapted.machine,
        Reading.VALUES if adapted.reading in _AS_VALUES else adapted.reading,
        _plain_labels(adapted.classes),
        calibration,
        labels_by_scores=calibration is not None,
        votes=adapted.attributes.get("decision_function_shape_", "ovr") == "ovr",
        break_ties=bool(adapted.attributes.get("break_ties_", False)),
        feature_names=feature_names,
    )


def _plain_labels(classes: NDArray[Any] | None) -> list[Any] | None:
    if classes is None:
        return None
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    for label in labels:
        if not isinstance(label, str | bool | int | float):
            raise ValueError(
                f"the label {label!r} is neither a number nor a text; train with labels that are."
            )
    return labels
