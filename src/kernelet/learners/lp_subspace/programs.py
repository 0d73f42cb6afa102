"""Linear programs over the coordinates of a Gram subspace, for one cost or a path of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.machine import KernelMachine
from kernelet.solvers import Rows, hinge_lasso_many
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.norms import LinearNormPenalty
from kernelet.solvers.linear_program.multiclass import multiclass_hinge_lasso
from kernelet.solvers.rows import as_rows
from kernelet.subspace import PrincipalMap

FloatArray = NDArray[np.float64]
STRATEGIES = ("one_vs_rest", "direct")


def checked_norm(norm: Any) -> Any:
    """1, "inf" or None, the norms that make a linear program."""
    if norm is None or norm == "inf" or (norm == 1 and not isinstance(norm, bool)):
        return norm
    raise ValueError(f'norm must be 1, "inf" or None (no norm at all, the RLP); got {norm!r}.')


@dataclass(frozen=True, eq=False)
class SubspaceMachine:
    """Weights over the coordinates of a subspace, one column for each output.

    Attributes
    ----------
    weights : ndarray of shape (rank, k)
    intercepts : ndarray of shape (k,)
    solutions : list of Solution or BlockSolution, or of one MulticlassSolution
        What proves them.
    """

    weights: FloatArray
    intercepts: FloatArray
    solutions: list[Any]

    @property
    def objective(self) -> float:
        """The value of the linear programs, in sum."""
        return float(sum(solution.primal_value for solution in self.solutions))

    @property
    def gap(self) -> float:
        """The largest relative duality gap."""
        return float(max(solution.gap for solution in self.solutions))

    @property
    def n_iter(self) -> int:
        """Newton systems or pivots."""
        return max(1, int(sum(solution.n_iter for solution in self.solutions)))

    def over_landmarks(
        self, kernel: Kernel, landmarks: FloatArray, transform: FloatArray
    ) -> KernelMachine:
        """The machine over the sample points: the weights pushed through the projection."""
        return KernelMachine(kernel, landmarks, transform.T @ self.weights, self.intercepts)


def learn_subspace_lp(
    Phi: FloatArray | Rows,
    Y: FloatArray,
    costs: FloatArray,
    *,
    norm: Any = 1,
    strategy: str = "one_vs_rest",
    tol: float = 1e-6,
    warm_start: SubspaceMachine | None = None,
    n_jobs: int = 1,
) -> SubspaceMachine:
    """Solve (3.3) over the coordinates of the rows in a subspace.

    Parameters
    ----------
    Phi : ndarray of shape (n, rank) or Rows
        Coordinates.
    Y : ndarray of shape (n, k)
        Labels, -1 or +1; with the direct strategy exactly one +1 in each row.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    norm : {1, "inf"} or None, default=1
        Of the weights: (2.7), or (2.9) with p = infinity; None is robust linear programming, (2.4).
    strategy : {"one_vs_rest", "direct"}, default="one_vs_rest"
        A linear program for each column of Y, or one for all.
    tol : float, default=1e-6
        Relative duality gap.
    warm_start : SubspaceMachine, default=None
        Solution for other costs.
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    SubspaceMachine
    """
    checked_norm(norm)
    if strategy == "direct" and Y.shape[1] > 1:
        return _learn_directly(Phi, Y, costs, norm, tol, warm_start, n_jobs)
    solutions = hinge_lasso_many(
        Phi,
        Y,
        costs,
        0.0 if norm is None else 1.0,
        norm=1 if norm is None else norm,
        tol=tol,
        warm_start=None if warm_start is None else warm_start.solutions,
        n_jobs=n_jobs,
    )
    weights = np.stack([solution.weights for solution in solutions], axis=1)
    intercepts = np.array([solution.intercept for solution in solutions])
    return SubspaceMachine(weights, intercepts, solutions)


def learn_subspace_lp_out_of_core(
    data: OutOfCoreData, space: PrincipalMap, C: float, norm: Any, tol: float
) -> SubspaceMachine:
    """Solve (3.3) for each class against the rest over out-of-core rows.

    Parameters
    ----------
    data : OutOfCoreData
    space : PrincipalMap
        The subspace.
    C : float
        Cost of a row of weight one.
    norm : {1, "inf"}
        Of the weights.
    tol : float
        Relative duality gap.

    Returns
    -------
    SubspaceMachine
    """
    solutions = block_hinge(
        data.rows, space, data.sample, C, tol=tol, penalty=LinearNormPenalty(norm)
    )
    weights = np.stack([solution.weights for solution in solutions], axis=1)
    intercepts = np.array([solution.intercept for solution in solutions])
    return SubspaceMachine(weights, intercepts, solutions)


def rows_of_each_class(Y: FloatArray, n_rows: int) -> NDArray[np.intp]:
    """About n_rows rows, evenly spaced among those of each class, at least one of each."""
    codes = Y.argmax(axis=1) if Y.shape[1] > 1 else (Y[:, 0] > 0).astype(np.intp)
    chosen = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        size = min(members.size, 1 + n_rows * members.size // codes.size)
        chosen.append(members[np.linspace(0, members.size - 1, size).astype(np.intp)])
    return np.sort(np.concatenate(chosen))


def _learn_directly(
    Phi: FloatArray | Rows,
    Y: FloatArray,
    costs: FloatArray,
    norm: Any,
    tol: float,
    warm_start: SubspaceMachine | None,
    n_jobs: int,
) -> SubspaceMachine:
    if norm != 1:
        raise ValueError(
            f'strategy="direct" is there for norm=1 only, got norm={norm!r}; take "one_vs_rest".'
        )
    rows = as_rows(Phi)
    if warm_start is None:
        # machines for one class each are not far off, and cheap
        warm_start = learn_subspace_lp(rows, Y, costs, tol=1e-3, n_jobs=n_jobs)
    solution = multiclass_hinge_lasso(
        rows,
        Y.argmax(axis=1),
        Y.shape[1],
        costs,
        start=np.vstack([warm_start.weights, warm_start.intercepts]),
        tol=tol,
    )
    return SubspaceMachine(solution.weights, solution.intercepts, [solution])
