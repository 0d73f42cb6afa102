"""Linear programs over the coordinates of a Gram subspace: which there are, and their solution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import choice, factor, positive, threads
from kernelet.solvers import Rows, Solution, hinge_lasso_many
from kernelet.solvers.blocks.hinge import BlockSolution
from kernelet.solvers.linear_program.multiclass import MulticlassSolution, multiclass_hinge_lasso

# The tolerance of the one-vs-rest machines that a program for all classes starts from. They only
# choose its first working set, so that a few digits are enough.
_START_TOL = 1e-3


@dataclass(frozen=True, eq=False)
class SubspaceMachine:
    """Weights over the coordinates of a subspace, one column for each output.

    Attributes
    ----------
    weights : ndarray of shape (rank, k)
    intercepts : ndarray of shape (k,)
    solutions : sequence of Solution or BlockSolution, or of one MulticlassSolution
        What proves them.
    """

    weights: FloatArray
    intercepts: FloatArray
    solutions: Sequence[Solution | BlockSolution | MulticlassSolution]

    @classmethod
    def of_outputs(cls, solutions: Sequence[Solution | BlockSolution]) -> SubspaceMachine:
        """One solution for each output."""
        weights = np.stack([solution.weights for solution in solutions], axis=1)
        intercepts = np.array([solution.intercept for solution in solutions])
        return cls(weights, intercepts, solutions)

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


@dataclass(frozen=True)
class Norm:
    """A norm of the weights that makes a linear program.

    Attributes
    ----------
    name : {1, "inf"} or None
        As users give it.
    kind : {1, "inf"}
        As solvers take it.
    weight : float
        What it is multiplied by.
    """

    name: int | str | None
    kind: Literal[1, "inf"]
    weight: float = 1.0


# (2.7), (2.9) with p = infinity, and robust linear programming without any norm, (2.4).
NORMS = {1: Norm(1, 1), "inf": Norm("inf", "inf"), None: Norm(None, 1, 0.0)}


def checked_norm(norm: Any) -> Norm:
    """The norm that 1, "inf" or None means."""
    if isinstance(norm, Hashable) and not isinstance(norm, bool) and norm in NORMS:
        return NORMS[norm]
    raise ValueError(f'norm must be 1, "inf" or None (no norm at all, the RLP); got {norm!r}.')


@dataclass(frozen=True, eq=False)
class Programs(ABC):
    """The linear programs (3.3) to be solved, and how several classes make them.

    Attributes
    ----------
    C : float
        Cost of a row of weight one.
    norm : Norm
    tol : float
        Relative duality gap.
    n_jobs : int
        Threads.
    """

    # whether passes over blocks of rows can solve them, the norm apart
    strategy_runs_in_blocks: ClassVar[bool]

    C: float
    norm: Norm
    tol: float
    n_jobs: int

    @property
    def run_in_blocks(self) -> bool:
        """Whether passes over blocks of rows solve them, however many classes there are."""
        return self.strategy_runs_in_blocks and self.norm.weight > 0.0

    def require_blocks(self, n_classes: int) -> None:
        """Refuse programs that need all rows in memory."""
        # of two classes there is one program, whatever the strategy
        if not self.strategy_runs_in_blocks and n_classes > 2:
            raise ValueError(
                "strategy='direct' needs all rows in memory; take strategy=\"one_vs_rest\", or fit "
                "an array."
            )
        if not self.norm.weight:
            raise ValueError(
                "norm=None needs all rows in memory; take norm=1 or norm='inf', or fit an array."
            )

    @abstractmethod
    def solve(
        self,
        Phi: FloatArray | Rows,
        Y: FloatArray,
        costs: FloatArray,
        last: SubspaceMachine | None = None,
    ) -> SubspaceMachine:
        """Solve them over the coordinates of the rows in a subspace.

        Parameters
        ----------
        Phi : ndarray of shape (n, rank) or Rows
            Coordinates.
        Y : ndarray of shape (n, k)
            Labels, -1 or +1; of several columns exactly one +1 in each row.
        costs : ndarray of shape (n,)
            C times the weight of each row.
        last : SubspaceMachine, default=None
            Solution for other costs, to start from.

        Returns
        -------
        SubspaceMachine
        """


class OneVsRest(Programs):
    """A linear program for each column of Y."""

    strategy_runs_in_blocks = True

    def solve(
        self,
        Phi: FloatArray | Rows,
        Y: FloatArray,
        costs: FloatArray,
        last: SubspaceMachine | None = None,
    ) -> SubspaceMachine:
        starts = None
        if last is not None:
            starts = [start for start in last.solutions if isinstance(start, Solution)]
        solutions = hinge_lasso_many(
            Phi,
            Y,
            costs,
            self.norm.weight,
            norm=self.norm.kind,
            tol=self.tol,
            warm_start=starts,
            n_jobs=self.n_jobs,
        )
        return SubspaceMachine.of_outputs(solutions)


class Direct(Programs):
    """One linear program for all columns of Y."""

    strategy_runs_in_blocks = False

    def solve(
        self,
        Phi: FloatArray | Rows,
        Y: FloatArray,
        costs: FloatArray,
        last: SubspaceMachine | None = None,
    ) -> SubspaceMachine:
        if Y.shape[1] == 1:
            return OneVsRest(self.C, self.norm, self.tol, self.n_jobs).solve(Phi, Y, costs, last)
        if self.norm != NORMS[1]:
            raise ValueError(
                f'strategy="direct" needs norm=1, got norm={self.norm.name!r}; take "one_vs_rest".'
            )
        if last is None:
            # machines for one class each are not far off, and cheap
            last = OneVsRest(self.C, self.norm, _START_TOL, self.n_jobs).solve(Phi, Y, costs)
        solution = multiclass_hinge_lasso(
            Phi,
            Y.argmax(axis=1),
            Y.shape[1],
            costs,
            start=np.vstack([last.weights, last.intercepts]),
            tol=self.tol,
        )
        return SubspaceMachine(solution.weights, solution.intercepts, [solution])


STRATEGIES: dict[str, type[Programs]] = {"one_vs_rest": OneVsRest, "direct": Direct}


def programs_of(estimator: Any) -> Programs:
    """What the parameters of an estimator ask for."""
    norm = checked_norm(estimator.norm)
    programs = STRATEGIES[choice("strategy", estimator.strategy, STRATEGIES)]
    C, tol = factor("C", estimator.C), positive("tol", estimator.tol)
    return programs(C, norm, tol, threads(estimator.n_jobs))
