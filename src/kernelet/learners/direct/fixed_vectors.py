"""Machines over given vectors: the inner problem of the direct method, solved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.coefficient_bits import in_few_bits
from kernelet.learners.direct.few_bits import svm_judge
from kernelet.learners.direct.losses import find_loss
from kernelet.learners.direct.losses.base import Machine
from kernelet.learners.direct.search.samples import extent_of
from kernelet.machine import KernelMachine
from kernelet.machine.rounding import vector_grid
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.subspace import EmpiricalMap, SubspaceMap, WhitenedMap

# "margin" is 1/2 beta' K^z beta, the norm of the function, equation (28); "ridge" is the RSVM's
# 1/2 beta'beta of section 4.2.
REGULARIZERS: dict[str, type[WhitenedMap] | type[EmpiricalMap]] = {
    "margin": WhitenedMap,
    "ridge": EmpiricalMap,
}


@dataclass(frozen=True, eq=False)
class FixedVectors:
    """A machine over given vectors, with the solutions that prove it optimal."""

    machine: KernelMachine
    solutions: Sequence[Machine]

    @property
    def gap(self) -> float:
        """The largest relative duality gap among the outputs."""
        return max(solution.gap for solution in self.solutions)

    @property
    def objective(self) -> float:
        """The value of (28), in sum over the outputs."""
        return float(sum(solution.primal_value for solution in self.solutions))


def learn_with_vectors(
    X: Any,
    Y: FloatArray,
    costs: FloatArray,
    kernel: Kernel,
    vectors: FloatArray,
    *,
    loss: str = "hinge",
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
    loss : str, default="hinge"
        The name of a loss.
    regularizer : {"margin", "ridge"}, default="margin"
    tol : float, default=1e-6

    Returns
    -------
    FixedVectors
    """
    space = REGULARIZERS[regularizer].from_vectors(kernel, vectors)
    return _learned(space, find_loss(loss).machines(space.features(X), Y, costs, tol))


def learn_classes(
    data: TrainingData | OutOfCoreData,
    C: float,
    kernel: Kernel,
    vectors: FloatArray,
    *,
    regularizer: str = "margin",
    tol: float = 1e-6,
    vector_bits: int | None = None,
) -> FixedVectors:
    """`learn_with_vectors` for the classes of a training set; a row costs C times its weight.

    The rows may be out of core; the hinge has its own solver for that. With ``vector_bits`` the
    vectors, and then the coefficients, are rounded.
    """
    if vector_bits is not None:
        near = data.at_hand
        droppable = np.asarray(extent_of(near.X) == 0.0)
        grid = vector_grid(kernel, vectors, vector_bits, droppable=droppable)
        learned = learn_classes(
            data, C, grid.full_kernel, grid.vectors, regularizer=regularizer, tol=tol
        )
        Y, costs = near.targets, C * near.weights
        judge = svm_judge(near.X, Y, costs, "hinge", learned.machine)
        return replace(learned, machine=in_few_bits(grid, learned.machine, judge))
    if isinstance(data, OutOfCoreData):
        space = REGULARIZERS[regularizer].from_vectors(kernel, vectors)
        return _learned(space, block_hinge(data.rows, space, data.sample, C, tol=tol))
    costs = C * data.weights
    return learn_with_vectors(
        data.X, data.targets, costs, kernel, vectors, regularizer=regularizer, tol=tol
    )


def _learned(space: SubspaceMap, solutions: Sequence[Machine]) -> FixedVectors:
    weights = np.stack([solution.weights for solution in solutions], axis=1)
    machine = KernelMachine(
        space.kernel,
        space.vectors,
        space.coefficients(weights),
        np.array([solution.intercept for solution in solutions]),
    )
    return FixedVectors(machine, solutions)
