r"""W as a function of the vectors and of the kernel's scales together.

.. math:: W(Z, \theta) = \min_{\beta, b} F\bigl(f, \tfrac12 \beta' K^z \beta\bigr)
    + \rho\, W_0\, r(\theta)

By the envelope theorem the derivatives in both come from the same weights dF/df beta', so that the
scales cost two products more. r keeps the scales of features together: at another kernel W measures
another norm, and would fit noise with many scales. Most steps need few rows: the search begins on
a random sample, whose costs stand for all rows, and doubles it. Where the rows are, in memory or
not, only `GrowingSample` knows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, dense
from kernelet.kernels.numerics.blocks import one_blas_thread
from kernelet.kernels.radial import RadialKernel
from kernelet.learners.direct.kernel_learning.choice import LearnedPart
from kernelet.learners.direct.kernel_learning.input_stage import (
    Active,
    StandardRows,
    are_distances_precise,
)
from kernelet.learners.direct.search.inner_problem import Start
from kernelet.learners.direct.search.objective import (
    Evaluation,
    JointEvaluation,
    Place,
    PlaceChart,
    nearby_start,
)
from kernelet.learners.direct.search.samples import GrowingSample, first_size, next_size, proven
from kernelet.subspace import WhitenedMap

# Above this share of rows with a gradient, copying them costs more than products with zeros. Near
# it both cost the same, so that its size hardly matters.
_MOST_ROWS = 0.6
# Kernel values above which single precision pays, by validation on training rows: from 10 000 on it
# is not faster at the same error, and 100 000 was the limit before.
_SINGLE_ABOVE = 30_000
# Eigenvalues of K^z below this share of the largest are left out in single precision: features are
# kernel values over their roots, so that rounding of 6e-8 would become 6e-4 of the largest feature.
_SINGLE_RANK = 1e-8
# Rows that the search begins on, at least and for each vector, unless that is nearly all of them.
# Samples below 10 000 rows are not faster at the same error (by validation); each vector has to be
# placed by some rows, of which a hundred give a mean to a tenth of its spread.
_FEWEST_ROWS = 10_000
_ROWS_PER_VECTOR = 100
# Rows by which candidates for vectors are judged, and what was gained by another kernel: a mean
# over as many random rows has an error of 0.7 % of their spread.
_JUDGING_ROWS = 20_000
# Standard errors that a step has to gain: the usual two, as 95 % of a normal distribution.
_ERRORS = 2.0


class JointObjective:
    """W(Z, theta) of a smooth inner problem and a radial kernel.

    Parameters
    ----------
    source : GrowingSample
        The rows, and the inner problem over them.
    kernel : RadialKernel
        Where the search starts.
    learn : LearnedPart or its value
        What is learned of the kernel.
    n_vectors : int
    n_first : int, default=None
        Rows of the sample that the search begins on; without it, as many as are worth it.
    single : bool, default=None
        Whether products are in single precision; without it, where that pays.
    learned : Kernel, default=None
        The kernel of an earlier search, to start from.
    rank : int, default=None
        Of a projection.
    unit : float, default=None
        What the regulariser is measured in; without it, W where the search starts.
    start : tuple of ndarray, default=None
        Coefficients and intercepts near the solution of the first inner problem.
    """

    # a direction that is lost or won has an eigenvalue next to nothing, and W hardly changes
    holds_rank = False
    rows_read: int | None = None

    def __init__(
        self,
        source: GrowingSample,
        kernel: RadialKernel,
        learn: LearnedPart | str,
        n_vectors: int,
        n_first: int | None = None,
        single: bool | None = None,
        learned: Kernel | None = None,
        rank: int | None = None,
        unit: float | None = None,
        start: Start | None = None,
    ) -> None:
        self.source, self.kernel = source, kernel
        self.n_evaluations = 0
        if single is None:
            single = (
                not source.is_sparse
                and kernel.is_smooth
                and source.n_rows * n_vectors > _SINGLE_ABOVE
                and are_distances_precise(source.extent, kernel, np.float32)
            )
        if n_first is None:
            n_first = max(_FEWEST_ROWS, _ROWS_PER_VECTOR * n_vectors)
        n_first = first_size(source, n_first)
        self._rows = StandardRows(source, n_first, np.float32 if single else np.float64)
        self._inner = source.problem(self.n_used)
        self.stage = LearnedPart(learn).stage(self._rows, kernel, rank)
        if learned is not None:
            self.stage.recall(learned)
        self._unit = unit
        self._last = start
        self._slopes: FloatArray | None = None

    @property
    def is_sum(self) -> bool:
        """Whether the inner problem is a sum over rows."""
        return self._inner.is_sum

    @property
    def n_used(self) -> int:
        """Rows of the sample in use."""
        return self._rows.size

    def threads(self, n_products: int) -> AbstractContextManager[None]:
        """One: on mnist a second one, awake between products, makes evaluations slower."""
        return one_blas_thread()

    @property
    def is_sample(self) -> bool:
        """Whether some of the rows stand for all."""
        return self.n_used < self.n_rows

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self.source.n_rows

    def __call__(
        self, Z: FloatArray, rank: int | None = None, like: Evaluation | None = None
    ) -> JointEvaluation:
        """W at these vectors, with the kernel given or that of another evaluation."""
        parameters = self.stage.parameters
        if like is not None:
            assert isinstance(like, JointEvaluation)
            parameters = like.place.parameters
        return self.at(Place(parameters, self.stage.coordinates(parameters, Z)))

    def at(self, place: Place) -> JointEvaluation:
        """W and its gradient at a place, on the rows in use."""
        self.n_evaluations += 1
        stage, parameters, v = self.stage, place.parameters, place.v
        K, slope = self._values(stage.distances(parameters, v))
        gram, gram_slope = self._values(stage.between(v))
        least = _SINGLE_RANK if K.dtype == np.float32 else 0.0
        space = WhitenedMap.from_gram(self.kernel, v, gram, least=least)
        start = nearby_start(space, self._last)
        Phi = K @ space.transform.T.astype(K.dtype)
        solution = self._inner.approximate(Phi, start, self._slopes)
        beta = space.coefficients(solution.weights)
        self._last = beta, solution.intercepts
        self._slopes = G = solution.score_gradient
        costly = np.flatnonzero(G.any(axis=1))
        active: Active = costly if costly.size <= _MOST_ROWS * G.shape[0] else slice(None)
        V = G[active].astype(K.dtype, copy=False) @ beta.T.astype(K.dtype)
        V *= slope[active]
        in_parameters, in_v = stage.pull(parameters, v, V, active)
        U = (beta * solution.norm_gradient) @ beta.T * gram_slope
        in_v += 2.0 * stage.sign * (U.sum(axis=1)[:, None] * v - U @ v)
        if self._unit is None:
            self._unit = abs(solution.value)
        spread, its_slopes = stage.penalty(parameters)
        weight = stage.regularisation * self._unit
        regulariser = weight * spread
        return JointEvaluation(
            vectors=stage.vectors(parameters, v),
            value=solution.value + regulariser,
            gradient=in_v,
            coefficients=beta,
            intercepts=solution.intercepts,
            rank=space.rank,
            natural_rank=space.rank,
            gap=solution.gap,
            kernel=stage.kernel(parameters),
            score_gradient=G,
            norm_gradient=solution.norm_gradient,
            place=place,
            slopes=np.concatenate([in_parameters + weight * its_slopes, in_v.ravel()]),
            regulariser=regulariser,
            unit=self._unit,
            row_losses=self._inner.row_losses(solution) if self.is_sample else None,
        )

    def _values(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Kernel values, in place, and the slopes of the profile."""
        slope = t if self.kernel.slope_is_value else np.empty_like(t)
        self.kernel.profile_and_slope(t, slope)
        return t, slope

    def around(self, at: Evaluation) -> PlaceChart:
        """Coordinates around a place."""
        assert isinstance(at, JointEvaluation)
        return PlaceChart(self.at, at.place, *self.stage.bounds(at.place.parameters))

    def is_noise(self, before: Evaluation, after: Evaluation) -> bool:
        """Whether W fell by less than twice the standard error of the sample's losses."""
        assert isinstance(before, JointEvaluation) and isinstance(after, JointEvaluation)
        if before.row_losses is None or after.row_losses is None:
            return False
        gains = before.row_losses - after.row_losses
        share = 1.0 - self.n_used / self.n_rows
        error = float(gains.std()) * float(np.sqrt(gains.size * share))
        return before.value - after.value < _ERRORS * error

    def on_more_rows(self, at: Evaluation, all_rows: bool = False) -> JointEvaluation | None:
        """W at the same place on twice as many rows; None where there are no more in memory."""
        assert isinstance(at, JointEvaluation)
        before = self.n_used
        if next_size(self.source, before, all_rows) > before:
            self._rows.grow(next_size(self.source, before, all_rows))
        if self.n_used == before:
            return None
        self._inner, self._slopes = self.source.problem(self.n_used), None
        return self.at(at.place)

    def proven(self, at: Evaluation) -> Evaluation:
        """W at the same vectors on all rows, in double precision, with a certificate."""
        return proven(self.source, at)

    def kernel_gain(self, at: Evaluation) -> float:
        """The share by which W lies below that of the kernel given, over the same vectors."""
        n = min(self.n_used, _JUDGING_ROWS)
        rows, problem = self._rows.original(np.arange(n)), self.source.problem(n)

        def value(kernel: Kernel) -> float:
            space = WhitenedMap.from_vectors(kernel, at.vectors)
            return problem.approximate(space.features(rows), None).value

        before = value(self.kernel)
        after = at.value if n == self.n_rows else value(at.kernel)  # both on the same rows
        return max(0.0, (before - after) / (abs(before) or 1.0))

    def candidates(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Rows in use that might become vectors: ``n_rows`` at random, or all."""
        index = np.sort(rng.choice(self.n_used, min(n_rows, self.n_used), replace=False))
        return np.asarray(dense(self._rows.original(index)), dtype=np.float64)

    def slope_at(self, at: Evaluation, candidates: FloatArray) -> FloatArray:
        """sum_i dF/df_i k(x_i, c) for each candidate c and each output."""
        # rows come in random order: the first ones stand for all
        n = min(self.n_used, _JUDGING_ROWS)
        G = at.row_slopes[:n].astype(np.float64) * (self.n_used / n)
        active = np.flatnonzero(G.any(axis=1))
        return at.kernel(self._rows.original(active), candidates).T @ G[active]
