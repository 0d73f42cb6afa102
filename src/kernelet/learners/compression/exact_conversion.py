"""Models of other libraries as estimators of kernelet with all of their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.model_file import SavableMixin
from kernelet.learners.compression.affine_steps import shift_and_scale
from kernelet.learners.compression.compressed_models import READINGS
from kernelet.learners.compression.sklearn_adapters import adapt
from kernelet.learners.compression.unwrapping import Unwrapped
from kernelet.machine import KernelMachine


def converted(model: Any) -> Any:
    """A model that predicts the same and can be saved.

    Parameters
    ----------
    model : fitted estimator or KernelMachine
        Without wrappers. A model of kernelet is returned as it is.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> converted(SVR().fit([[0.0], [1.0]], [0.0, 1.0])).n_vectors_
    2
    """
    if isinstance(model, KernelMachine | SavableMixin):
        return model
    adapted = adapt(model)
    attributes = {**adapted.attributes, "error_norm_": 0.0, "relative_error_": 0.0}
    if adapted.classes is not None:
        attributes["classes_"] = adapted.classes
    return READINGS[adapted.reading].from_machine(adapted.machine, model, **attributes)


def in_units_of_targets(machine: KernelMachine, inner: Unwrapped) -> KernelMachine:
    """A regression machine whose values are those that the targets' transformers make of its own.

    Raises
    ------
    TypeError
        If a transformer does more than shift and scale.
    """
    for transformer in inner.targets:
        affine = shift_and_scale(transformer, machine.n_outputs)
        if affine is None:
            raise TypeError(
                f"the targets were transformed by {type(transformer).__name__}, which cannot "
                "become part of a machine, as StandardScaler, MinMaxScaler, MaxAbsScaler and "
                "RobustScaler can. Take the fitted regressor_, and transform its predictions back "
                "yourself."
            )
        shift, scale = affine
        machine = KernelMachine(
            machine.kernel,
            machine.vectors,
            np.asarray(machine.coefficients) * scale,
            np.asarray(machine.intercepts) * scale + shift,
        )
    return machine


def warn_of_losses(inner: Unwrapped) -> None:
    """Say what is not kept of a model."""
    if inner.lost is not None:
        warn_caller(inner.lost, UserWarning)
