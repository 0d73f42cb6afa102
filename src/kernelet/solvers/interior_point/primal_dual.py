"""A primal-dual interior point for hinge loss plus a regulariser, over an array of rows.

With v = (w, b) and rows A_i = y_i (phi_i, 1) the problem is

    min  R(w) - linear'v + sum_i u_i max(0, 1 - A_i v),

or a margin r_i of its own in place of 1 for each row. Splitting the hinge, A v + xi - s = 1, gives
the complementary pairs a s = 0 and t xi = 0 with multipliers a + t = u. Every Newton system reduces
to one of m + 1 unknowns,

    (H + A' Theta A) dv = rhs,     Theta = 1 / (s/a + xi/t),

where H is all that depends on R. Directions are Mehrotra's predictor and corrector with
Gondzio's centrality correctors. The products are never aimed below what the tolerance asks for:
smaller ones only make the system harder to solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.interior_point.complementarity import Pair, centred
from kernelet.solvers.interior_point.newton import PIVOT_FLOOR, NewtonSystem
from kernelet.solvers.interior_point.regularizers import Regularizer
from kernelet.solvers.parallel import one_thread_if_small
from kernelet.solvers.rounding import NOISE

# A step ends short of the boundary by this share, or variables would reach zero and stay there.
# Such methods take 0.99 to 0.9995; within that range it hardly matters.
BACK_OFF = 0.995
# Centrality correctors (Gondzio 1996): at most two, as each costs a back-substitution, and only
# while the step is shorter than LONG_STEP. They aim at a step longer by AHEAD, and are kept if they
# lengthen it by a tenth of that.
CORRECTORS = 2
LONG_STEP = 0.95
AHEAD = 0.3
LONGER = 0.03
# Iterations without progress after which double precision is taken to be exhausted, once the gap is
# below NEAR.
PATIENCE = 10
NEAR = 1e-4
# The same where the gap is still wide: of 99 random problems with costs up to 1e12, those that were
# solved waited for up to 18 iterations; the others went on to the limit of iterations in vain.
LONG_PATIENCE = 50
# Mehrotra's directions can, rarely, go round in a circle. After this many iterations without
# progress every third step only recentres, which leads out of it.
CIRCLING = 5
RECENTRING = 3
# Share of the tolerance that complementary products of the size aimed at may use up: the rest is
# for the residuals, and smaller products would only make the system harder to solve.
AIM = 0.1


@dataclass(frozen=True)
class Limits:
    """When to stop: at a gap of ``tol``, or after ``max_iter`` Newton systems.

    The gap is relative to the value with ``constant`` added, or to ``unit`` if that is larger.
    """

    tol: float
    max_iter: int
    constant: float = 0.0
    unit: float = 1.0

    def scale(self, value: float) -> float:
        """What the gap is relative to."""
        return max(self.unit, abs(value + self.constant))


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Where the interior point ended."""

    variables: FloatArray
    multipliers: FloatArray
    n_iter: int
    gap: float


def interior_point(
    A: FloatArray,
    linear: FloatArray,
    u: FloatArray,
    regularizer: Regularizer,
    limits: Limits,
    *,
    start: tuple[FloatArray, float] | None = None,
    margin: FloatArray | None = None,
) -> InteriorPoint:
    """Solve within the limits, or return the best point met.

    ``start`` is a point v near the solution, and the complementary products to start there with.
    ``margin`` is 1 for every row unless it is given.
    """
    n, k = A.shape
    with one_thread_if_small(n * k * k):
        return _iterate(_Iterate(A, linear, u, regularizer, start, margin), limits)


def _iterate(iterate: _Iterate, limits: Limits) -> InteriorPoint:
    best = InteriorPoint(iterate.v, iterate.rows.x[0], 0, np.inf)
    n_iter = 0
    while True:
        primal, distance = iterate.evaluate()
        scale = limits.scale(primal)
        gap = distance / scale
        if gap < best.gap:
            best = InteriorPoint(iterate.v, iterate.rows.x[0], n_iter, gap)
        waited = n_iter - best.n_iter
        is_stalled = waited > (PATIENCE if best.gap < NEAR else LONG_PATIENCE)
        is_over = gap <= limits.tol or n_iter >= limits.max_iter or is_stalled
        if is_over or not np.isfinite(gap) or not iterate.factor():
            return replace(best, n_iter=n_iter)
        n_iter += 1
        waited += 1
        recentre = waited > CIRCLING and waited % RECENTRING == 0
        iterate.advance(AIM * limits.tol * scale, recentre)


class _Iterate:
    """A point strictly inside, and the way from there to the next."""

    def __init__(
        self,
        A: FloatArray,
        linear: FloatArray,
        u: FloatArray,
        regularizer: Regularizer,
        start: tuple[FloatArray, float] | None,
        margin: FloatArray | None,
    ) -> None:
        n, k = A.shape
        self.margin: FloatArray | float = 1.0 if margin is None else margin
        self.A, self.linear, self.u, self.regularizer = A, linear, u, regularizer
        self.row_size = float(np.vdot(A, A)) / n
        if start is None:
            # the middle of the box 0 <= a <= u, and slacks of the margin's size, 1
            self.v, mu = np.zeros(k), 0.5 * float(np.mean(u))
            a, s, t, xi = u / 2, np.ones(n), u / 2, np.ones(n)
        else:
            self.v, mu = start
            a, s, t, xi = centred(A @ self.v - self.margin, u, mu)
        # of each row the multiplier of the margin and its surplus, and below them the multiplier of
        # the slack and the slack
        self.rows = Pair(np.stack([a, t]), np.stack([s, xi]))
        self.pairs = [self.rows, *regularizer.start(self.v[:-1], mu)]
        self.n_products = sum(pair.x.size for pair in self.pairs)

    def evaluate(self) -> tuple[float, float]:
        """Primal value, and its distance from the dual value."""
        A, v, a, (s, xi) = self.A, self.v, self.rows.x[0], self.rows.z
        w, b = v[:-1], v[-1]
        margins = A @ v
        self.q = a @ A + self.linear
        short = self.margin - margins
        self.residual = short - xi + s
        hinge = float(self.u @ np.maximum(0.0, short))
        primal = self.regularizer.primal(w) - float(self.linear @ v) + hinge
        q = self.q[:-1]
        total = float(a.sum())
        gained = total if isinstance(self.margin, float) else float(a @ self.margin)
        dual = self.regularizer.shrink(q, NOISE * total) * gained + self.regularizer.dual(q)
        # q_b is how far a is from the equality that the dual value takes for granted; going there
        # costs a margin for each unit of it, and moves q by a row for each
        slip = float(abs(self.q[-1]) * (1.0 + abs(b)))
        if not self.regularizer.is_linear:
            slip += 0.5 * self.row_size * float(self.q[-1]) ** 2
        return primal, max(primal - dual, 0.0) + slip

    def factor(self) -> bool:
        """Prepare the Newton system; whether it can be solved."""
        _, k = self.A.shape
        self.ratios = self.rows.z / self.rows.x
        theta = 1.0 / (self.ratios[0] + self.ratios[1])
        H = np.zeros((k, k))
        self.regularizer.add_hessian(H)
        # small pivots are in the nature of a vertex of a linear program
        floor = 0.0 if self.regularizer.is_linear else PIVOT_FLOOR
        self.system = NewtonSystem(self.A, theta, H, floor)
        return self.system.is_regular

    def advance(self, least: float, recentre: bool) -> None:
        """Go to the next point, with products that add up to no less than ``least``.

        To ``recentre`` is to make the products equal without making them smaller.
        """
        mu = sum(float(np.vdot(pair.x, pair.z)) for pair in self.pairs) / self.n_products
        for pair in self.pairs:
            pair.aim_affine()
        dv, *steps = self._direction()
        affine = sum(pair.product_after(*steps) for pair in self.pairs) / self.n_products
        # Mehrotra's rule: the better the affine step does, the lower the next products
        target, weight = max(mu * (affine / mu) ** 3, least / self.n_products), 1.0
        if recentre:
            target, weight = mu, 0.0
        for pair in self.pairs:
            pair.aim_centre(target, weight)
        dv, *steps = self._direction()
        for _ in range(CORRECTORS):
            if min(steps) > LONG_STEP:
                break
            kept = [(pair.dx, pair.dz) for pair in self.pairs]
            ahead = [min(1.0, step + AHEAD) for step in steps]
            for pair in self.pairs:
                pair.aim_nearer(target, *ahead)
            longer_dv, *longer = self._direction()
            if sum(longer) < sum(steps) + 2.0 * LONGER:
                for pair, old in zip(self.pairs, kept, strict=True):
                    pair.dx, pair.dz = old
                break
            dv, steps = longer_dv, longer
        primal_step, dual_step = (min(1.0, BACK_OFF * step) for step in steps)
        self.v = self.v + primal_step * dv
        for pair in self.pairs:
            pair.advance(primal_step, dual_step)

    def _direction(self) -> tuple[FloatArray, float, float]:
        """dv for the current aims of the pairs, and the longest primal and dual steps."""
        rows, regularizer = self.rows, self.regularizer
        r = self.q.copy()
        r[:-1] = regularizer.right_side(self.v[:-1], self.q[:-1])
        aims = rows.c / rows.x
        dv, da = self.system.solve(r, self.residual - aims[1] + aims[0])
        rows.dx = np.empty_like(rows.x)
        rows.dx[0] = da
        np.negative(da, out=rows.dx[1])
        rows.dz = aims - self.ratios * rows.dx
        regularizer.recover(dv[:-1])
        reaches = [pair.reaches() for pair in self.pairs]
        primal, dual = (1.0 / max(1.0, *(reach[i] for reach in reaches)) for i in (0, 1))
        # a quadratic R couples the two residuals: one common step keeps both falling
        return (dv, primal, dual) if regularizer.is_linear else (dv, *(min(primal, dual),) * 2)
