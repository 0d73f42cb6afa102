"""Machines over vectors that are given: the inner problem of the direct method, solved once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.marginal import FloatArray
from kernelet.machine import KernelMachine
from kernelet.solvers import Solution, hinge_ridge_many
from kernelet.subspace import EmpiricalMap, SubspaceMap, WhitenedMap

# "margin" is 1/2 beta' K^z beta, the norm of the function, equation (28); "ridge" is the RSVM's
# 1/2 beta'beta of section 4.2.
REGULARIZERS: dict[str, type[SubspaceMap]] = {"margin": WhitenedMap, "ridge": EmpiricalMap}


@dataclass(frozen=True, eq=False)
class FixedVectors:
    """Machine over given vectors, with the solutions that prove it."""

    machine: KernelMachine
    solutions: list[Solution]

    @property
    def gap(self) -> float:
        """The largest relative duality gap among the outputs."""
        return max(solution.gap for solution in self.solutions)


def learn_with_vectors(
    X: Any,
    Y: FloatArray,
    costs: FloatArray,
    kernel: Kernel,
    vectors: FloatArray,
    *,
    regularizer: str = "margin",
    tol: float = 1e-6,
) -> FixedVectors:
    """Solve the SVM over the span of given vectors, equations (28)-(30) and (45).

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    Y : ndarray of shape (n, k)
        Labels, -1 or +1.
    costs : ndarray of shape (n,) or (n, k)
    kernel : Kernel
    vectors : ndarray of shape (m, d)
    regularizer : {"margin", "ridge"}, default="margin"
    tol : float, default=1e-6

    Returns
    -------
    FixedVectors
    """
    space: SubspaceMap
    if regularizer == "margin":
        space = WhitenedMap.from_vectors(kernel, vectors)
    else:
        space = EmpiricalMap.from_vectors(kernel, vectors)
    solutions = hinge_ridge_many(space.features(X), Y, costs, tol=tol)
    weights = np.stack([solution.weights for solution in solutions], axis=1)
    machine = KernelMachine(
        kernel,
        space.vectors,
        space.coefficients(weights),
        np.array([solution.intercept for solution in solutions]),
    )
    return FixedVectors(machine, solutions)
