"""The SVM as an inner problem, over rows in memory and over classes of rows wherever they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.learners.direct.losses import MarginLoss, find_loss
from kernelet.learners.direct.search.inner_problem import (
    INNER_TOL,
    BlockInnerSolution,
    InnerSolution,
    Start,
)
from kernelet.rows import LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import Targets
from kernelet.solvers.squared_hinge.nearby_newton import Intervals
from kernelet.subspace import WhitenedMap


class SVMProblem:
    """sum_k min 1/2 ||w_k||^2 + sum_i C_i loss(y_ik f_k(x_i)), equations (24)-(27).

    Parameters
    ----------
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each machine; they share the vectors.
    C : ndarray of shape (n,)
        Cost of each row.
    loss : str or MarginLoss, default="hinge"
    tol : float, default=1e-7
        Relative duality gap of each solve.
    """

    is_sum = True

    def __init__(
        self, Y: FloatArray, C: FloatArray, loss: str | MarginLoss = "hinge", tol: float = INNER_TOL
    ) -> None:
        self.Y, self.C, self.tol = Y, C, tol
        self.margin_loss = find_loss(loss) if isinstance(loss, str) else loss
        self._ends: Intervals | None = None

    @property
    def n_outputs(self) -> int:
        """How many machines there are."""
        return int(self.Y.shape[1])

    @property
    def smooth(self) -> SVMProblem:
        """The problem itself, or its twin with a loss that has a derivative."""
        if self.margin_loss.is_smooth:
            return self
        return SVMProblem(self.Y, self.C, self.margin_loss.smooth, self.tol)

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve all machines, with a certificate."""
        return self.margin_loss.solve(self, Phi, start)

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """Solve as exactly as a search over vectors needs; see `SmoothProblem`."""
        return self.margin_loss.smooth.approximate(self, Phi, start, slopes)

    def row_losses(self, solution: InnerSolution) -> FloatArray | None:
        """What each row costs at the solution, all machines together."""
        return self.margin_loss.smooth.row_losses(self, solution)

    def intervals(self, dtype: Any) -> Intervals:
        """Where scores have no loss: at least 1 or at most -1, in the precision of the features."""
        if self._ends is None or self._ends.lower.dtype != dtype:
            self._ends = Intervals.of_labels(self.Y).astype(dtype)
        return self._ends

    def with_tol(self, tol: float) -> SVMProblem:
        """The same problem, to be solved to another tolerance."""
        return SVMProblem(self.Y, self.C, self.margin_loss, tol)

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> SVMProblem:
        """The same problem over some of its rows, whose costs are multiplied."""
        return SVMProblem(self.Y[index], scale * self.C[index], self.margin_loss, self.tol)

    def scaled(self, cost: float) -> SVMProblem:
        """The same problem with all costs multiplied."""
        return SVMProblem(self.Y, cost * self.C, self.margin_loss, self.tol)

    def loss(self, scores: FloatArray) -> float:
        """The loss of the margins, weighted."""
        values = self.margin_loss.values(self.Y * scores)
        costs = self.C[:, None] if self.C.ndim == 1 else self.C  # else of pairs of classes
        return float((costs * values).sum())


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The SVM stated for classes: the same for rows in memory and for rows that are not.

    Attributes
    ----------
    targets : Targets
        The machines.
    C : float
        Cost of a row of weight one.
    loss : MarginLoss
    tol : float
        Relative duality gap of each solve.
    """

    targets: Targets
    C: float
    loss: MarginLoss
    tol: float

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a derivative."""
        return self.loss.is_smooth

    def scaled(self, cost: float) -> ClassProblem:
        """The same problem with all costs multiplied."""
        return replace(self, C=cost * self.C)

    def over(self, codes: IndexArray, weights: FloatArray) -> SVMProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        return SVMProblem(self.targets.of(codes), self.C * weights, self.loss, self.tol)

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> InnerSolution | BlockInnerSolution:
        """Solve all machines together, by passes over all rows."""
        return self.loss.solve_out_of_core(self, rows, sample, space, start)
