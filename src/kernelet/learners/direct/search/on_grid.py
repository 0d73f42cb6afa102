"""A search that ends on a grid: vectors are rounded in turn, and the others make up for it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.search.inner_problem import InnerSolution, SmoothProblem, Start
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine import VectorGrid
from kernelet.machine.rounding import moved_to
from kernelet.solvers.parallel import one_thread_if_small

# Shares of the vectors that are on the grid after each round, and steps of L-BFGS for the others in
# between. On training rows of four sets this leaves a quarter to a half of what rounding adds to W;
# twice the rounds or twice the steps leave about as much.
_ROUNDS = (0.25, 0.5, 0.75, 0.9)
_STEPS = 5
# Rows by which vectors are moved. What is between a point of the grid and the next is coarser than
# what a larger sample could tell.
_MOST_ROWS = 20_000
# With more bits, rounding adds less than a percent to W.
MOST_SEARCHED_BITS = 6


def search_on_grid(
    rows: RowsInMemory, grid: VectorGrid, points: FloatArray, coefficients: FloatArray
) -> VectorGrid:
    """The grid with vectors on it that have a lower W than the nearest ones.

    Vectors with large coefficients are rounded first: those that are left can make up for most of
    what rounding them does, and have little to make up for themselves at the end. (In random order
    W rises by half as much again, and in the opposite order twice as much.)

    Parameters
    ----------
    rows : RowsInMemory
        With the problem to solve; where that is not smooth, a smooth one that ends nearby is
        searched instead.
    grid : VectorGrid
    points : ndarray of shape (m, r)
        The vectors before rounding, as the kernel sees them.
    coefficients : ndarray of shape (m, k)

    Returns
    -------
    VectorGrid
    """
    if rows.inner.smooth is None:
        return moved_to(grid, points)
    n = rows.shape[0]
    index = np.arange(0, n, -(-n // _MOST_ROWS))
    inner = rows.inner.smooth.subset(index, n / index.size)
    objective = MarginalObjective(grid.seen(rows.X[index]), grid.kernel, _Approximately(inner))
    order = np.argsort(-np.abs(coefficients).max(axis=1), kind="stable")
    moved = points.copy()
    with one_thread_if_small(index.size * moved.size):
        for share in _ROUNDS:
            n_rounded = round(share * len(points))
            rounded, free = order[:n_rounded], order[n_rounded:]
            moved[rounded] = moved_to(grid, moved).points[rounded]
            if free.size:
                moved[free] = _after_steps(objective, moved, free)
    return moved_to(grid, moved)


class _Approximately:
    """An inner problem that is solved as exactly as a search over vectors needs."""

    def __init__(self, inner: SmoothProblem) -> None:
        self._inner = inner
        self._slopes: FloatArray | None = None  # of the last solution, which is near the next

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        solution = self._inner.approximate(Phi, start, None if start is None else self._slopes)
        self._slopes = solution.score_gradient
        return solution


def _after_steps(
    objective: MarginalObjective,
    points: FloatArray,
    free: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> FloatArray:
    """The free vectors after some steps, the others held."""
    # the first step of L-BFGS is of the order of one, in whatever unit it works
    unit, scale = objective(points).value or 1.0, objective.typical_distance(points)

    def moved(x: FloatArray) -> FloatArray:
        there = points.copy()
        there[free] += scale * x.reshape(free.size, -1)
        return there

    def value(x: FloatArray) -> tuple[float, FloatArray]:
        at = objective(moved(x))
        return at.value / unit, scale * at.gradient[free].ravel() / unit

    # SciPy divides by what a step changed in the gradient, which may be nothing
    with np.errstate(divide="ignore"):
        end = minimize(
            value,
            np.zeros(points[free].size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _STEPS},
        )
    return moved(end.x)[free]
