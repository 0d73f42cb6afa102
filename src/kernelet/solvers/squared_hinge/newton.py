r"""Newton's method for the squared hinge over the rows given, with an exact line search.

.. math:: F(w, b) = \tfrac12 w^\top w + \sum_i C_i \max(0, r_i - y_i (\phi_i^\top w + b))^2

The margins r_i to reach are 1 for a classifier; ends of intervals make it a regression. F is
quadratic as long as the set of active rows, those short of their margin, stays the same. So a
Newton step is a weighted ridge regression of y_i r_i on the active rows, the minimum along it is
found exactly, and the method ends after finitely many steps.
"""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray
from kernelet.solvers.rounding import EPSILON, NOISE
from kernelet.solvers.rows import Rows
from kernelet.solvers.solution import Status
from kernelet.solvers.squared_hinge.certificate import ProvenPoint, prove
from kernelet.solvers.squared_hinge.system import ActiveSystem

# Steps without progress, in careful mode, after which double precision is said to be exhausted.
_PATIENCE = 3
# Steps at the same costs after which more care is taken in any case: with sound directions the
# method would have ended by then.
_MANY_STEPS = 30
# Pieces that a line search looks at. It ends on the right one after a few, or some sixty halvings
# of its bracket; only rounding errors can keep it from that.
_MOST_PIECES = 200
# Steps after which a start is not believed to be near the solution.
_WARM_STEPS = 20
# Costs times the mean square of the rows at the first stage of a cold start, the factor from one
# stage to the next, and how well all but the last are solved. Gentler stages are more of them, with
# fewer steps each; any path leads to the same solution.
_GENTLE = 100.0
_STAGE_FACTOR = 30.0
_STAGE_TOL = 0.1


def minimize(
    rows: Rows,
    y: FloatArray,
    costs: FloatArray,
    start: tuple[FloatArray, float] | None = None,
    *,
    tol: float,
    max_iter: int,
    margins: FloatArray | float = 1.0,
) -> tuple[ProvenPoint, int, Status]:
    """Newton steps until the distance between the two problems is tol times F.

    From a start that is near the solution a few steps are enough. Without one, or when they were
    not, the costs grow to their size in stages: at large costs of separable rows, where only a few
    rows stay active, steps from afar are short.

    Returns the point of least distance, the number of Newton systems, and how it ended.
    """
    search = _NewtonIteration(rows, y, costs, margins)
    if start is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            search.move_to(*start)
        if np.isfinite(search.here.distance):  # or else it is beyond the range of numbers
            status = search.run(tol, min(_WARM_STEPS, max_iter))
            if status is Status.OPTIMAL or search.n_iter == max_iter:
                return search.best, search.n_iter, status
    search.move_to(np.zeros(rows.shape[1]), 0.0)
    scale = search.gentle_scale()
    while scale < 1.0:
        search.rescale(scale)
        search.run(_STAGE_TOL, max_iter)
        scale *= _STAGE_FACTOR
    search.rescale(1.0)
    status = search.run(tol, max_iter)
    return search.best, search.n_iter, status


def regress(
    rows: Rows, y: FloatArray, costs: FloatArray, active: BoolArray
) -> tuple[FloatArray, float]:
    """The machine (w, b) that is optimal if exactly these rows have a margin below one."""
    system = ActiveSystem(rows, 2.0 * costs)
    pull = np.where(active, 2.0 * costs * y, 0.0)
    return system.step(active, -rows.weighted_sum(pull), -float(pull.sum()))


class _NewtonIteration:
    """The Newton iteration: where it is, and the best point it has proven at the present costs.

    The residuals r_i - y_i f(x_i) are carried along from step to step. On active rows they are
    small, and carried along they keep digits that a product followed by a subtraction from the
    margin would lose: at C = 1e9 the multipliers, 2 C_i times the residuals, need them.
    """

    residuals: FloatArray
    here: ProvenPoint
    gradient: FloatArray
    gradient_intercept: float
    best: ProvenPoint

    def __init__(
        self, rows: Rows, y: FloatArray, costs: FloatArray, margins: FloatArray | float
    ) -> None:
        self.rows, self.y, self.full_costs, self.costs = rows, y, costs, costs
        self.margins = margins
        self.is_positive = y > 0
        self.system = ActiveSystem(rows, 2.0 * costs)
        self.n_iter = 0

    def move_to(self, weights: FloatArray, intercept: float) -> None:
        """Go on from there."""
        self.residuals = self.margins - self.y * (self.rows.scores(weights) + intercept)
        self._look(weights, intercept)
        self.best = self.here

    def gentle_scale(self) -> float:
        """A factor of the costs at which the loss does not yet outweigh the ridge by much."""
        strength = float(self.costs.max()) * self.system.mean_square(self.costs > 0)
        return min(1.0, _GENTLE / strength) if strength > 0 else 1.0

    def rescale(self, scale: float) -> None:
        """Go on from the same point with all costs multiplied by this."""
        self.system.scale = scale
        self.costs = scale * self.full_costs
        self.move_to(self.here.weights, self.here.intercept)

    def run(self, tol: float, max_iter: int) -> Status:
        """Newton steps at the present costs."""
        n_idle = 0
        least_value = least_distance = np.inf
        first = self.n_iter
        while True:
            value, distance = self.here.primal_value, self.here.distance
            is_near = distance <= tol * value
            if is_near and self._is_proven(tol):
                return Status.OPTIMAL
            if not is_near and (
                distance < 0.5 * least_distance or least_value - value > NOISE * value
            ):
                n_idle = 0
            else:
                # what is left are rounding errors: take more care, from a fresh product
                n_idle += self.system.is_careful
                self.system.is_careful = True
                best = self.best
                self.move_to(self.here.weights, self.here.intercept)
                self.best = min(best, self.here, key=lambda point: point.distance)
            least_value, least_distance = min(least_value, value), min(least_distance, distance)
            if n_idle == _PATIENCE or self.n_iter >= max_iter:
                if self._is_proven(tol):
                    return Status.OPTIMAL
                return Status.NUMERICAL_LIMIT if n_idle == _PATIENCE else Status.ITERATION_LIMIT
            if self.n_iter - first == _MANY_STEPS:
                self.system.is_careful = True  # directions spoilt by rounding make short steps
            self._step()

    def _is_proven(self, tol: float) -> bool:
        """Whether the tolerance holds for the product itself; notes the best point."""
        here = self.here
        scores = self.rows.scores(here.weights) + here.intercept
        proven = prove(here, self.costs, self.margins - self.y * scores)
        self.best = min(self.best, proven, key=lambda point: point.distance)
        return proven.distance <= tol * proven.primal_value

    def _look(self, weights: FloatArray, intercept: float) -> None:
        """Gradient, feasible multipliers and values at the point that the residuals belong to."""
        a = 2.0 * self.costs * np.maximum(0.0, self.residuals)
        by_class = np.stack(
            [np.where(self.is_positive, a, 0.0), np.where(self.is_positive, 0.0, a)], axis=1
        )
        sums, totals = self.rows.weighted_sum(by_class), by_class.sum(axis=0)
        self.gradient = weights - sums[:, 0] + sums[:, 1]
        self.gradient_intercept = float(totals[1] - totals[0])
        # y'a = 0: the class with the larger sum is scaled down, which needs no further product
        share = np.divide(totals.min(), totals, out=np.zeros(2), where=totals > 0)
        self.here = prove(
            ProvenPoint(
                weights,
                intercept,
                multipliers=by_class @ share,
                dual_weights=sums[:, 0] * share[0] - sums[:, 1] * share[1],
                primal_value=np.inf,
                distance=np.inf,
            ),
            self.costs,
            self.residuals,
        )

    def _step(self) -> None:
        active = (self.residuals > 0.0) & (self.costs > 0.0)
        dw, db = self.system.step(active, self.gradient, self.gradient_intercept)
        here = self.here
        speed = self.y * (self.rows.scores(dw) + db)
        t = _exact_step(self.residuals, speed, self.costs, float(here.weights @ dw), float(dw @ dw))
        self.residuals = self.residuals - t * speed
        self.n_iter += 1
        self._look(here.weights + t * dw, here.intercept + t * db)


def _exact_step(
    residuals: FloatArray, speed: FloatArray, costs: FloatArray, linear: float, square: float
) -> float:
    r"""The minimiser of a convex function of quadratic pieces.

    .. math:: t \mapsto l t + \tfrac12 s t^2 + \sum_i C_i \max(0, r_i - t v_i)^2

    Newton's method for its derivative from t = 1, within a bracket: it ends on the piece that holds
    the minimum, and often begins there.
    """
    pull = 2.0 * costs * speed
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(_MOST_PIECES):
        piece = residuals > t * speed
        pulls = pull[piece]
        curvature = square + float(pulls @ speed[piece])
        constant = linear - float(pulls @ residuals[piece])
        if curvature <= 0.0:
            break  # nothing changes along the step any more
        minimum = -constant / curvature  # of the quadratic that continues this piece
        if abs(minimum - t) <= 4.0 * EPSILON * t:
            break
        if minimum > t:
            low = t
        else:
            high = t
        if low < minimum < high:
            t = minimum
        else:
            t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return t
