"""The linear program of one round: a few rows and columns in an array."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray
from kernelet.solvers.interior_point.primal_dual import Limits, interior_point
from kernelet.solvers.linear_program.crossover import (
    ROUNDING,
    SimplexBasis,
    nearest_vertex,
    vertex_from,
)
from kernelet.solvers.linear_program.norms import Capacity, variables_of
from kernelet.solvers.parallel import one_thread_if_small
from kernelet.solvers.rounding import NOISE, TINY

# Complementary products at a warm start, in shares of what its gap gives each of them: products
# that are too small keep a start that is not quite right at the boundary. After _WARM_ITERATIONS,
# more than a start that is near needs, it was not so near after all.
_WARM_PRODUCTS = 10.0
_WARM_ITERATIONS = 30
# The same at a cold start, in shares of the mean cost: at v = 0 every row lacks a margin of 1, so
# that a product of the size of its cost is neither near the boundary nor far from it.
_COLD_PRODUCTS = 2.0
# Numbers of a problem up to which pivots cost less than interior points: 1.5 ms beside 4 ms at 100
# rows and 20 columns, but 300 ms beside 150 at 400 rows and 700 columns.
_FEW_NUMBERS = 20_000
# A column that varies by less than this share of its mean is a second bias: of its sixteen digits
# three are left.
_CONSTANT = 1e-13


@dataclass(frozen=True, eq=False)
class Answer:
    """Weights and bias, multipliers of the rows, and how many Newton systems they took."""

    weights: FloatArray
    intercept: float
    multipliers: FloatArray
    n_iter: int = 0
    is_converged: bool = True


class SmallProblem:
    """min c(w) + sum_i u_i max(0, 1 - y_i (phi_i'w + b)) over some columns of rows Phi and means.

    Columns are centred and scaled, so that data far from the origin keep their digits
    and no column waits for another.
    """

    def __init__(
        self,
        Phi: FloatArray,
        means: FloatArray,
        y: FloatArray,
        u: FloatArray,
        capacity: Capacity,
        columns: BoolArray,
    ) -> None:
        n, k = u.size, int(np.count_nonzero(columns))
        self.u = u
        self.A = np.empty((n, k + 1))
        features = self.A[:, :k]
        features[: Phi.shape[0]] = Phi[:, columns] if k < columns.size else Phi
        features[Phi.shape[0] :] = means[:, columns]
        self.centre = features.mean(axis=0)
        features -= self.centre
        size = np.sqrt(np.einsum("ij,ij->j", features, features) / n)
        # of Phi'Ya, for multipliers a of sum 1
        self.noise = NOISE * np.hypot(size, self.centre)
        self.is_constant = size <= _CONSTANT * np.abs(self.centre)
        size = capacity.units(np.where(self.is_constant, 0.0, size))
        self.d = 1.0 / np.where(size > 0.0, size, 1.0)
        features *= np.where(self.is_constant, 0.0, self.d)
        self.A[:, k] = 1.0
        self.A *= y[:, None]
        self.capacity = capacity.scaled(columns, self.d)

    def interior(
        self, start: tuple[FloatArray, float] | None, expected: float, tol: float, max_iter: int
    ) -> Answer:
        """To a relative gap of tol; from a start with a value near the expected one, if any."""
        A, u = self.A, self.u
        n_products = 2 * (A.shape[0] + A.shape[1] - 1)
        cold = (np.zeros(A.shape[1]), _COLD_PRODUCTS * float(np.mean(u)))
        starts = [(cold, max_iter)]
        if start is not None:
            v = self._inner(*start)
            value = self.capacity.value(v[:-1]) + float(u @ np.maximum(0.0, 1.0 - A @ v))
            mu = _WARM_PRODUCTS * max(value - expected, tol * value) / n_products
            if mu < cold[1]:
                starts.insert(0, ((v, mu), min(max_iter, _WARM_ITERATIONS)))
        n_iter = 0
        for point, limit in starts:
            # a start that was not near can make it overflow; it returns the best point it met
            with (
                one_thread_if_small(A.size * A.shape[1]),
                np.errstate(over="ignore", divide="ignore", invalid="ignore"),
            ):
                end = interior_point(
                    A,
                    np.zeros(A.shape[1]),
                    u,
                    self.capacity.regularizer(),
                    Limits(tol, limit, unit=TINY),
                    start=point,
                )
            n_iter += end.n_iter
            if end.gap <= tol:
                break
        answer = self._outer(end.variables, end.multipliers)
        return replace(answer, n_iter=n_iter, is_converged=end.gap <= tol)

    def vertex(self, nearby: Answer, *, pivots: bool) -> Answer | None:
        """An optimal vertex, from a point near it; None where none is found."""
        v, a = self._inner(nearby.weights, nearby.intercept), nearby.multipliers
        extra, multipliers = self.capacity.point(v, a @ self.A)
        with one_thread_if_small(v.size**3):
            vertex = nearest_vertex(
                self.capacity.program(self.A, self.u),
                np.append(a, extra),
                multipliers,
                pivots=pivots,
            )
        if vertex is None:
            return None
        return self._outer(variables_of(vertex, v.size - 1), vertex.x[: a.size])

    def next_vertex(self, w: FloatArray, b: float) -> Answer | None:
        """The optimal vertex, by pivots from that of other costs or of fewer rows or columns.

        Which rows are on the margin there, and which weights are zero, is its basis. None if (w, b)
        is no vertex, or the next one is too far.
        """
        v = self._inner(w, b)
        margins = self.A @ v
        basis = SimplexBasis(
            columns=np.abs(margins - 1.0) <= ROUNDING,
            rows=np.append(v[:-1] == 0.0, False),
            columns_at_bound=margins < 1.0,
            rows_at_upper=v > 0.0,
        )
        if np.count_nonzero(basis.columns) != np.count_nonzero(~basis.rows):
            return None
        with one_thread_if_small(v.size**3):
            program = self.capacity.program(self.A, self.u)
            vertex = vertex_from(program, basis, pivots=self.A.size <= _FEW_NUMBERS)
        if vertex is None:
            return None
        return self._outer(variables_of(vertex, v.size - 1), vertex.x[: self.u.size])

    def _inner(self, w: FloatArray, b: float) -> FloatArray:
        return np.append(w / self.d, b + float(self.centre @ w))

    def _outer(self, v: FloatArray, a: FloatArray) -> Answer:
        w = np.where(self.is_constant, 0.0, self.d * v[:-1])
        return Answer(w, float(v[-1]) - float(self.centre @ w), np.clip(a, 0.0, self.u))
