"""One machine for the machines of several classifiers, with the vectors that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import KernelMachine

# Added to the diagonal of the kernel matrix of n different vectors, relative to its mean: as little
# as keeps it positive definite in rounding, which grows with n and with the largest eigenvalue.
_RIDGE, _RIDGE_OF_SQUARE = 1e-10, 1e-14


def joined_machine(machines: Sequence[KernelMachine], owner: str) -> KernelMachine:
    """The machines of one output each as one machine, in their order.

    Vectors that several have are stored once. If their widths differ, the functions are
    interpolated at all vectors with the geometric mean of the widths, and a warning says how far
    they are off.

    Parameters
    ----------
    machines : sequence of KernelMachine
    owner : str
        Of the machines, for messages.

    Raises
    ------
    ValueError
        If the kernels differ in more than ``gamma``.

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> one = KernelMachine(Linear(), [[1.0], [2.0]], [1.0, -1.0], 0.5)
    >>> two = KernelMachine(Linear(), [[2.0]], [3.0], 0.0)
    >>> joined = joined_machine([one, two], "two classifiers")
    >>> joined.n_vectors, joined.decision_function([[1.0]]).tolist()
    (2, [[-0.5, 6.0]])
    """
    stacked = np.concatenate([np.asarray(each.vectors, dtype=np.float64) for each in machines])
    vectors, places = np.unique(stacked, axis=0, return_inverse=True)
    places = places.reshape(-1)  # two-dimensional in NumPy 2.0.0
    intercepts = np.array([float(each.intercepts[0]) for each in machines])
    kernel = _common_kernel([each.kernel for each in machines], owner)
    if any(each.kernel != kernel for each in machines):
        return _interpolated(machines, kernel, vectors, intercepts, owner)
    coefficients = np.zeros((len(vectors), len(machines)))
    start = 0
    for column, each in enumerate(machines):
        own = places[start : start + each.n_vectors]
        np.add.at(coefficients[:, column], own, np.asarray(each.coefficients)[:, 0])
        start += each.n_vectors
    return KernelMachine(kernel, vectors, coefficients, intercepts)


def _common_kernel(kernels: Sequence[Kernel], owner: str) -> Kernel:
    """The kernel of all; where only gamma differs, one with the geometric mean."""
    first: Any = kernels[0]
    if all(each == first for each in kernels):
        return kernels[0]
    if not _differ_in_gamma_only(kernels):
        raise ValueError(
            f"the estimators of the {owner} have different kernels, and a machine has one; fit "
            "them all with the same kernel and the same parameters."
        )
    mean = float(np.exp(np.mean(np.log(_gammas(kernels)))))
    kernel: Kernel = replace(first, gamma=mean)
    return kernel


def _differ_in_gamma_only(kernels: Sequence[Any]) -> bool:
    first = kernels[0]
    return (
        is_dataclass(first)
        and hasattr(first, "gamma")
        and bool(getattr(first, "is_positive_definite", False))
        and {type(each) for each in kernels} == {type(first)}
        and all(replace(each, gamma=first.gamma) == first for each in kernels)
    )


def _gammas(kernels: Sequence[Any]) -> list[float]:
    return [each.gamma for each in kernels]


def _interpolated(
    machines: Sequence[KernelMachine],
    kernel: Kernel,
    vectors: FloatArray,
    intercepts: FloatArray,
    owner: str,
) -> KernelMachine:
    wanted = np.column_stack([each.decision_function(vectors) for each in machines])
    gram = np.asarray(kernel(vectors, vectors), dtype=np.float64)
    ridge = max(_RIDGE, _RIDGE_OF_SQUARE * len(vectors) ** 2)
    gram[np.diag_indices_from(gram)] += ridge * np.diag(gram).mean()
    coefficients = cho_solve(cho_factor(gram), wanted - intercepts)
    machine = KernelMachine(kernel, vectors, coefficients, intercepts)
    # halfway between vectors, where an interpolation is at its worst
    between = (vectors[1:] + vectors[:-1]) / 2.0
    exact = np.column_stack([each.decision_function(between) for each in machines])
    off = float(np.sqrt(np.mean((machine.decision_function(between) - exact) ** 2)))
    gammas = _gammas([each.kernel for each in machines])
    warn_caller(
        f"each estimator of the {owner} has a gamma of its own, from {min(gammas):.3g} to "
        f"{max(gammas):.3g}, as gamma='scale' depends on the rows; one machine has one gamma, so "
        f"the scores are interpolated and about {off:.1g} off. Fit with a number, such as "
        f"gamma={_gammas([kernel])[0]:.3g}, to have them exactly.",
        UserWarning,
    )
    return machine
