r"""The marginal objective W(Z) of a kernel method restricted to m expansion vectors.

Section 2 of Wu, Schölkopf and Bakır (2006): keep Z fixed, solve the convex problem in the span of
k(., z_j), and call its optimal value W(Z). Every such problem sees the vectors through two things
only, the scores f_i = sum_u beta_u k(x_i, z_u) and the norm beta' K^z beta:

.. math:: W(Z) = \min_{\beta, b} F\bigl(f, \tfrac12 \beta' K^z \beta\bigr).

By the envelope theorem (19) beta and b are held fixed in the derivative, so

.. math:: \nabla_{z_u} W = \sum_i \frac{\partial F}{\partial f_i} \beta_u \nabla_{z_u} k(x_i, z_u)
          + \frac{\partial F}{\partial q} \nabla_{z_u} \tfrac12 \beta' K^z \beta .

An `InnerProblem` solves the problem over given features and reports dF/df and dF/dq; an `Objective`
does the rest, for any kernel with gradients and any number of outputs that share the vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import Bounds

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows, dense
from kernelet.learners.direct.search.inner_problem import (
    BlockInnerSolution,
    InnerSolution,
    Slopes,
    Start,
)
from kernelet.machine import KernelMachine
from kernelet.subspace import WhitenedMap


@dataclass(frozen=True, eq=False)
class Evaluation:
    """W at Z, with its gradient and the machine there.

    ``score_gradient`` is that of the inner solution: an array, or `Slopes` of out-of-core rows.
    """

    vectors: FloatArray
    value: float
    gradient: FloatArray
    coefficients: FloatArray
    intercepts: FloatArray
    rank: int
    natural_rank: int
    gap: float
    kernel: Kernel
    score_gradient: FloatArray | Slopes
    norm_gradient: FloatArray

    @classmethod
    def of(
        cls,
        space: WhitenedMap,
        solution: InnerSolution | BlockInnerSolution,
        gradient: FloatArray,
    ) -> Evaluation:
        """From the solution over the features of a subspace, and the gradient in its vectors."""
        return cls(
            vectors=space.vectors,
            value=solution.value,
            gradient=gradient,
            coefficients=space.coefficients(solution.weights),
            intercepts=solution.intercepts,
            rank=space.rank,
            natural_rank=space.natural_rank,
            gap=solution.gap,
            kernel=space.kernel,
            score_gradient=solution.score_gradient,
            norm_gradient=solution.norm_gradient,
        )

    @property
    def row_slopes(self) -> FloatArray:
        """dF/df of each row and output, where the rows are in memory."""
        assert isinstance(self.score_gradient, np.ndarray)
        return self.score_gradient

    @property
    def machine(self) -> KernelMachine:
        """The kernel machine that attains the value."""
        return KernelMachine(self.kernel, self.vectors, self.coefficients, self.intercepts)


@dataclass(frozen=True, eq=False)
class Place:
    """Parameters of the input stage, and coordinates of the vectors behind it."""

    parameters: FloatArray
    v: FloatArray


@dataclass(frozen=True, eq=False)
class JointEvaluation(Evaluation):
    """W at a place, with its gradient there; ``value`` includes the regulariser.

    Attributes
    ----------
    place : Place
    slopes : ndarray
        In the parameters, then in the coordinates of the vectors.
    regulariser : float
    unit : float
        W at the start of the search, in which the regulariser is measured.
    row_losses : ndarray or None
        Of the rows of the sample, where not all rows are in use.
    """

    place: Place
    slopes: FloatArray
    regulariser: float
    unit: float
    row_losses: FloatArray | None


def subspace_of(kernel: Kernel, Z: FloatArray, gram: FloatArray, rank: int | None) -> WhitenedMap:
    """The span of the vectors, of a given dimension where it has as many."""
    try:
        return WhitenedMap.from_gram(kernel, Z, gram, rank)
    except np.linalg.LinAlgError:
        # fewer directions than were held fixed: a line search has moved vectors together
        return WhitenedMap.from_gram(kernel, Z, gram)


def nearby_start(space: WhitenedMap, last: Start | None) -> Start | None:
    """Weights and intercepts from the last coefficients and intercepts, for as many vectors."""
    if last is None or last[0].shape[0] != space.vectors.shape[0]:
        return None
    # the basis of the subspace turns with Z; coefficients are what carries over
    return space.weights(last[0]), last[1]


def candidate_rows(X: Rows, n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Rows that might become vectors: ``n_rows`` at random, or all."""
    n = int(X.shape[0])
    index = np.arange(n) if n <= n_rows else np.sort(rng.choice(n, n_rows, replace=False))
    return np.asarray(dense(X[index]), dtype=np.float64)


class Chart(Protocol):
    """Coordinates around a point, all of them zero there, in which a search takes its steps."""

    size: int
    bounds: Bounds | None

    def at(self, x: FloatArray, rank: int | None) -> Evaluation:
        """W at these coordinates; ``rank`` holds the subspace's dimension fixed."""
        ...

    def slopes(self, at: Evaluation) -> FloatArray:
        """The gradient of W in these coordinates."""
        ...


class PlaceChart:
    """Changes of the parameters, then of the coordinates of the vectors."""

    def __init__(
        self,
        evaluate: Callable[[Place], JointEvaluation],
        place: Place,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self._evaluate, self._start = evaluate, place
        self.size = place.parameters.size + place.v.size
        self.bounds: Bounds | None = None
        if np.isfinite(lower).any():  # without any, L-BFGS need not look at bounds
            free = np.full(place.v.size, np.inf)
            self.bounds = Bounds(np.append(lower, -free), np.append(upper, free))

    def at(self, x: FloatArray, rank: int | None) -> JointEvaluation:
        split = self._start.parameters.size
        v = self._start.v + x[split:].reshape(self._start.v.shape)
        return self._evaluate(Place(self._start.parameters + x[:split], v))

    def slopes(self, at: Evaluation) -> FloatArray:
        assert isinstance(at, JointEvaluation)
        return at.slopes


class Objective(Protocol):
    """W(Z), wherever the rows are.

    Attributes
    ----------
    kernel : Kernel
        The one given, where the kernel is learned.
    n_evaluations : int
    holds_rank : bool
        Whether W is smooth only as long as the dimension of the subspace is held fixed.
    is_sample : bool
        Whether some of the rows stand for all.
    """

    n_evaluations: int
    holds_rank: bool

    @property
    def is_sample(self) -> bool: ...

    @property
    def kernel(self) -> Kernel: ...

    def threads(self, n_products: int) -> AbstractContextManager[None]:
        """The threads for a search, by the multiplications that it needs for each row."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows that are worked on at once."""
        ...

    @property
    def n_used(self) -> int:
        """Rows that W is a sum over."""
        ...

    def __call__(
        self, Z: FloatArray, rank: int | None = None, like: Evaluation | None = None
    ) -> Evaluation:
        """Value, gradient and machine at Z; ``rank`` holds the subspace's dimension fixed.

        A kernel that is learned is that of the evaluation ``like``.
        """
        ...

    def around(self, at: Evaluation) -> Chart:
        """Coordinates around a point, in units in which steps are of the order of one."""
        ...

    def is_noise(self, before: Evaluation, after: Evaluation) -> bool:
        """Whether W fell by less than the sampling error of the rows."""
        ...

    def on_more_rows(self, at: Evaluation, all_rows: bool = False) -> Evaluation | None:
        """W at the same point on a larger sample; None where there is none."""
        ...

    def proven(self, at: Evaluation) -> Evaluation:
        """W at the same point on all rows, with a certificate."""
        ...

    @property
    def rows_read(self) -> int | None:
        """Rows gone through so far, each as often as it was; None where they are in memory."""
        ...

    def candidates(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Rows that might become vectors."""
        ...

    def slope_at(self, at: Evaluation, candidates: FloatArray) -> FloatArray:
        """sum_i dF/df_i k(x_i, c) for each candidate c and each output."""
        ...
