"""W(Z) of the hinge over out-of-core rows; see `objective` for what it is.

The inner problem is solved by passes over the rows; one more pass pulls its slopes back to the
vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.direct.search.inner_problem import (
    BlockInnerSolution,
    BlockProblem,
    RowSlopes,
    Slopes,
    Start,
)
from kernelet.learners.direct.search.marginal_objective import VectorObjective
from kernelet.learners.direct.search.objective import (
    Evaluation,
    candidate_rows,
    nearby_start,
    subspace_of,
)
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.subspace import WhitenedMap


@dataclass(frozen=True, eq=False)
class _GradientPass:
    """The slopes of a block, pulled back to the vectors."""

    slopes: RowSlopes
    space: WhitenedMap
    coefficients: FloatArray

    def __call__(self, block: Block) -> FloatArray:
        K, pullback = self.space.kernel.prepare(self.space.vectors).linearize(block.X)
        slope = self.slopes(block, self.space.features_from_values(K))
        return pullback(slope @ self.coefficients.T)


@dataclass(frozen=True, eq=False)
class _CandidatePass:
    """sum_i dF/df_i k(x_i, c) over a block, for candidates c."""

    slopes: RowSlopes
    space: WhitenedMap
    candidates: FloatArray

    def __call__(self, block: Block) -> FloatArray:
        slope = self.slopes(block, self.space.features(block.X))
        values = self.space.kernel(block.X, self.candidates)
        product: FloatArray = values.T @ slope
        return product


class BlockObjective(VectorObjective):
    """W(Z) over out-of-core rows, a kernel and an inner problem.

    Parameters
    ----------
    rows : LabelledBlocks
    sample : Sample
        Of the rows.
    kernel : Kernel
        With gradients in its vectors.
    inner : BlockProblem
        That is not smooth.
    """

    def __init__(
        self, rows: LabelledBlocks, sample: Sample, kernel: Kernel, inner: BlockProblem
    ) -> None:
        self.rows, self.sample = rows, sample
        self.kernel = kernel
        self.inner = inner
        self.n_evaluations = 0
        self.n_passes = 0
        self._last: Start | None = None

    @property
    def rows_at_hand(self) -> Rows:
        return self.sample.block.X

    @property
    def n_rows(self) -> int:
        """Rows that are worked on at once on this machine: those of the sample."""
        return int(self.sample.represents.size)

    @property
    def n_used(self) -> int:
        """All rows, wherever they are."""
        return int(self.rows.shape[0])

    @property
    def rows_read(self) -> int:
        """Rows gone through so far, each as often as it was."""
        return self.n_passes * self.rows.shape[0]

    def __call__(
        self, Z: FloatArray, rank: int | None = None, like: Evaluation | None = None
    ) -> Evaluation:
        """Value, gradient and machine at Z; ``rank`` holds the subspace's dimension fixed.

        A kernel that is learned is that of the evaluation ``like``.
        """
        self.n_evaluations += 1
        gram, gram_pullback = self.kernel.prepare(Z).linearize(Z)
        space = subspace_of(self.kernel, Z, gram, rank)
        start = nearby_start(space, self._last)
        solution = self.inner.solve(self.rows, self.sample, space, start)
        assert isinstance(solution, BlockInnerSolution)
        beta = space.coefficients(solution.weights)
        self._last = beta, solution.intercepts
        asked = _GradientPass(solution.score_gradient.of_rows, space, beta)
        gradient = self.rows.total(asked, "gradient")
        self.n_passes += solution.n_passes + 1
        prepared = self.kernel.prepare(Z)
        for own in solution.score_gradient.own:
            pullback = prepared.linearize(own.X)[1]
            gradient = gradient + pullback(np.outer(own.slopes, beta[:, own.output]))
        gradient = gradient + gram_pullback((beta * solution.norm_gradient) @ beta.T)
        return Evaluation.of(space, solution, gradient)

    def candidates(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Rows of the sample that might become vectors."""
        return candidate_rows(self.sample.block.X, n_rows, rng)

    def slope_at(self, at: Evaluation, candidates: FloatArray) -> FloatArray:
        """sum_i dF/df_i k(x_i, c) for each candidate c and each output."""
        slopes = at.score_gradient
        assert isinstance(slopes, Slopes)
        asked = _CandidatePass(slopes.of_rows, slopes.space, candidates)
        slope = np.array(self.rows.total(asked, "candidates"))
        for own in slopes.own:
            slope[:, own.output] += self.kernel(own.X, candidates).T @ own.slopes
        return slope
