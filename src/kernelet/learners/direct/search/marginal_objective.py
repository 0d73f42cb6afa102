"""The marginal objective W(Z) over rows in memory, or a sample; see `objective` for what it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property

import numpy as np
from scipy.optimize import Bounds

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, is_sparse
from kernelet.kernels.numerics.deviations import mean_squared_deviations
from kernelet.learners.direct.search.inner_problem import InnerProblem, Start
from kernelet.learners.direct.search.objective import (
    Evaluation,
    candidate_rows,
    nearby_start,
    subspace_of,
)
from kernelet.learners.direct.search.samples import (
    GrowingSample,
    first_size,
    next_size,
    proven,
    stacked,
)
from kernelet.solvers.parallel import one_thread_if_small
from kernelet.subspace import WhitenedMap

# Above this share of rows with a gradient, copying them costs more than pulling zeros back. Near it
# both cost the same, so that its size hardly matters.
_MOST_ROWS = 0.7
# Rows that say how far points are apart, where the vectors do not: enough for a digit.
_SPREAD_ROWS = 1000


def _spread(points: Rows) -> float:
    """A typical distance between points in a column, 0 if they are all the same."""
    n = points.shape[0]
    if is_sparse(points):
        mean = np.asarray(points.mean(axis=0)).ravel()
        variances = mean_squared_deviations(points, mean, np.full(n, 1.0 / n))
    else:
        variances = np.var(points, axis=0)
    return float(np.sqrt(np.mean(variances)))


class VectorChart:
    """Z = Z_0 + scale x, the scale a typical distance between the vectors, or the rows."""

    bounds: Bounds | None = None

    def __init__(
        self,
        evaluate: Callable[[FloatArray, int | None], Evaluation],
        Z: FloatArray,
        scale: float,
    ) -> None:
        self._evaluate, self._start, self._scale = evaluate, Z, scale
        self.size = Z.size

    def at(self, x: FloatArray, rank: int | None) -> Evaluation:
        return self._evaluate(self._start + self._scale * x.reshape(self._start.shape), rank)

    def slopes(self, at: Evaluation) -> FloatArray:
        return self._scale * at.gradient.ravel()


class VectorObjective(ABC):
    """What objectives of the vectors alone, over all rows, have in common; see `Objective`."""

    holds_rank = True

    @abstractmethod
    def __call__(
        self, Z: FloatArray, rank: int | None = None, like: Evaluation | None = None
    ) -> Evaluation: ...

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    def is_sample(self) -> bool:
        return False

    @property
    def n_used(self) -> int:
        return self.n_rows

    def threads(self, n_products: int) -> AbstractContextManager[None]:
        # a sample of the rows may be in use, or be all that is worked on here
        return one_thread_if_small(min(self.n_rows, self.n_used) * n_products)

    @property
    @abstractmethod
    def rows_at_hand(self) -> Rows:
        """Rows in memory: all, or a sample."""

    @cached_property
    def _spread_of_rows(self) -> float:
        X = self.rows_at_hand
        return _spread(X[:: max(1, X.shape[0] // _SPREAD_ROWS)])

    def typical_distance(self, Z: FloatArray) -> float:
        """Between vectors; of one vector, or equal ones, the rows say what a step of one is."""
        return _spread(Z) or self._spread_of_rows or 1.0

    def around(self, at: Evaluation) -> VectorChart:
        return VectorChart(self, at.vectors, self.typical_distance(at.vectors))

    def is_noise(self, before: Evaluation, after: Evaluation) -> bool:
        return False

    def on_more_rows(self, at: Evaluation, all_rows: bool = False) -> Evaluation | None:
        return None

    def proven(self, at: Evaluation) -> Evaluation:
        return at


class MarginalObjective(VectorObjective):
    """W(Z) for rows X, a kernel and an inner problem.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kernel : Kernel
        With gradients in its vectors.
    inner : InnerProblem
    """

    rows_read: int | None = None  # rows in memory are not counted

    def __init__(self, X: Rows, kernel: Kernel, inner: InnerProblem) -> None:
        self.X = check_rows(X)
        self.kernel = kernel
        self.inner = inner
        self.n_evaluations = 0
        self._last: Start | None = None

    def __call__(
        self, Z: FloatArray, rank: int | None = None, like: Evaluation | None = None
    ) -> Evaluation:
        """Value, gradient and machine at Z; ``rank`` holds the subspace's dimension fixed.

        A kernel that is learned is that of the evaluation ``like``.
        """
        self.n_evaluations += 1
        prepared = self.kernel.prepare(Z)
        gram, gram_pullback = prepared.linearize(Z)
        subspace = subspace_of(self.kernel, Z, gram, rank)
        K, pullback = prepared.linearize(self.X)
        start = nearby_start(subspace, self._last)
        solution = self.inner.solve(subspace.features_from_values(K), start)
        beta = subspace.coefficients(solution.weights)
        self._last = beta, solution.intercepts
        slope = solution.score_gradient
        active = np.flatnonzero(slope.any(axis=1))
        if active.size < _MOST_ROWS * slope.shape[0]:
            gradient = pullback(slope[active] @ beta.T, active)
        else:
            gradient = pullback(slope @ beta.T)
        gradient += gram_pullback((beta * solution.norm_gradient) @ beta.T)
        return Evaluation.of(subspace, solution, gradient)

    @property
    def rows_at_hand(self) -> Rows:
        return self.X

    @property
    def n_rows(self) -> int:
        """Rows that are worked on at once."""
        return int(self.X.shape[0])

    def candidates(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Rows that might become vectors: ``n_rows`` at random, or all."""
        return candidate_rows(self.X, n_rows, rng)

    def slope_at(self, at: Evaluation, candidates: FloatArray) -> FloatArray:
        """sum_i dF/df_i k(x_i, c) for each candidate c and each output."""
        slopes = at.row_slopes
        active = np.flatnonzero(slopes.any(axis=1))
        return self.kernel(self.X[active], candidates).T @ slopes[active]

    def without_gradient(self, Z: FloatArray) -> Evaluation:
        """Value and machine at Z for kernels that have no gradient in their vectors."""
        subspace = WhitenedMap.from_vectors(self.kernel, Z)
        solution = self.inner.solve(subspace.features(self.X), None)
        return Evaluation.of(subspace, solution, np.full_like(Z, np.nan))


class SampledObjective(MarginalObjective):
    """W(Z) of a smooth problem on a sample, which doubles when a search on it has ended.

    For kernels that are not radial, or too narrow for the rounding of their distances, and for the
    paper's search over Fisher directions, whose steps are those of the vectors alone; for others
    there is `JointObjective`.

    Parameters
    ----------
    source : GrowingSample
        The rows, and the inner problem over them.
    kernel : Kernel
        With gradients in its vectors.
    n_first : int, default=0
        Rows of the sample that the search begins on, at least.
    """

    def __init__(self, source: GrowingSample, kernel: Kernel, n_first: int = 0) -> None:
        self.source = source
        X = source.take(first_size(source, n_first))
        super().__init__(X, kernel, source.problem(X.shape[0]))

    @property
    def is_sample(self) -> bool:
        """Whether some of the rows stand for all."""
        return self.n_used < self.source.n_rows

    @property
    def n_used(self) -> int:
        """Rows of the sample."""
        return int(self.X.shape[0])

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self.source.n_rows

    def on_more_rows(self, at: Evaluation, all_rows: bool = False) -> Evaluation | None:
        """W at the same vectors on twice as many rows; None where there are no more in memory."""
        size = next_size(self.source, self.n_used, all_rows)
        more = self.source.take(size) if size > self.n_used else self.X[:0]
        if not more.shape[0]:
            return None
        self.X = stacked(self.X, more)
        self.inner = self.source.problem(self.n_used)
        return self(at.vectors)

    def proven(self, at: Evaluation) -> Evaluation:
        """W at the same vectors on all rows."""
        return proven(self.source, at)
