"""The vectors of any kernel model, in the units of its input rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import KernelMachine


@dataclass(frozen=True, eq=False)
class DrawnExpansion:
    """Vectors of a model, and the class that each supports.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    side : ndarray of shape (m,)
        The class of the largest coefficient, as an index into ``classes``; if none is positive,
        that of the smallest.
    weight : ndarray of shape (m,)
        That coefficient.
    classes : ndarray
    """

    vectors: FloatArray
    side: NDArray[np.intp]
    weight: FloatArray
    classes: NDArray[Any]


def model_of(source: Any) -> Any:
    """The fitted model; for a search, the one that it has chosen."""
    model = getattr(source, "best_estimator_", source)
    if not isinstance(model, KernelMachine):
        check_is_fitted(model)
    return model


def last_step(model: Any) -> Any:
    """The estimator at the end of a Pipeline; any other model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def expansion(source: Any) -> DrawnExpansion:
    """The vectors of a machine, a classifier of kernelet, an SVC, or a search or Pipeline of these.

    Vectors behind the transformers of a Pipeline are mapped back by ``inverse_transform``.
    """
    model = model_of(source)
    if isinstance(model, Pipeline):
        inner = expansion(last_step(model))
        head = model[:-1]
        if len(head) == 0:
            return inner
        if not hasattr(head, "inverse_transform"):
            raise ValueError(
                "the vectors are behind transformers that have no inverse_transform; pass the "
                f"last step of the Pipeline, {type(last_step(model)).__name__}, instead."
            )
        rows = np.asarray(head.inverse_transform(inner.vectors))
        return DrawnExpansion(rows, inner.side, inner.weight, inner.classes)
    machine = model if isinstance(model, KernelMachine) else getattr(model, "machine_", None)
    if machine is not None:
        beta = np.asarray(machine.coefficients, dtype=np.float64)
        n_classes = 2 if beta.shape[1] == 1 else beta.shape[1]
        classes = np.asarray(getattr(model, "classes_", np.arange(n_classes)))
        if beta.shape[1] == 1:
            side, weight = (beta[:, 0] > 0).astype(np.intp), np.abs(beta[:, 0])
        elif beta.shape[1] == classes.size:
            side = np.where(beta.max(axis=1) > 0, beta.argmax(axis=1), beta.argmin(axis=1))
            weight = np.take_along_axis(beta, side[:, None], axis=1)[:, 0]
        else:  # one function for each pair of classes, or features: no class is supported
            side, weight = np.zeros(beta.shape[0], dtype=np.intp), np.abs(beta).sum(axis=1)
        return DrawnExpansion(np.asarray(machine.vectors, np.float64), side, weight, classes)
    vectors = getattr(model, "support_vectors_", None)
    if vectors is None:
        raise ValueError(
            f"{type(model).__name__} has no vectors; give a classifier of kernelet, a "
            "KernelMachine or an SVC."
        )
    side = np.repeat(np.arange(model.n_support_.size), model.n_support_)
    weight = np.abs(_dense(model.dual_coef_)).sum(axis=0)
    return DrawnExpansion(
        _dense(vectors), side, weight, np.asarray(getattr(model, "classes_", [0]))
    )


def _dense(array: Any) -> FloatArray:
    """What an SVC has learned, which is sparse if its rows were."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array)


def feature_names_of(source: Any, n_features: int) -> list[str]:
    """Names of the features that the model was fitted with, or x1, x2, ..."""
    names = getattr(model_of(source), "feature_names_in_", None)
    if names is None:
        return [f"x{number + 1}" for number in range(n_features)]
    return [str(name) for name in names]
