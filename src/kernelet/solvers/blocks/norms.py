"""Hinge loss plus a 1-norm or an infinity norm, over out-of-core rows."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.bias import hinge_bias
from kernelet.solvers.blocks.margins import Point
from kernelet.solvers.hinge.working_set import Subproblem, Subsolution
from kernelet.solvers.interior_point.primal_dual import Limits, interior_point
from kernelet.solvers.linear_program.hinge_lasso import Norm, hinge_lasso
from kernelet.solvers.linear_program.norms import Capacity, LargestNorm, OneNorm
from kernelet.solvers.solution import Solution

# Newton systems of a small problem, as by default in `hinge_lasso`.
_MAX_ITER = 200
# Cost of going farther than a step may go, in shares of the most that can draw a weight there. Any
# factor above 1 keeps it inside; a large one only makes the problem harder to solve.
_FENCE = 2.0


class LinearNormPenalty:
    """sum_j |w_j| or max_j |w_j|, for `block_hinge`: one linear program for each output.

    Parameters
    ----------
    norm : {1, "inf"}, default=1
    """

    # All of the sample: nothing but hinges curves the problem, and with more of them there are
    # fewer passes, by up to a third.
    sample_band = np.inf
    # Of a weight, in units in which its feature has a variance of 1. It only has to be of the right
    # order: it is doubled after a good step and divided by four after a bad one.
    radius = 0.125

    def __init__(self, norm: Norm = 1) -> None:
        self.norm = norm

    def _capacity(self, m: int) -> Capacity:
        return OneNorm(np.ones(m)) if self.norm == 1 else LargestNorm(1.0, np.ones(m))

    def value(self, w: FloatArray) -> float:
        return self._capacity(w.size).value(w)

    def solve(
        self, Phi: FloatArray, y: FloatArray, C: FloatArray, tol: float, start: Point | None
    ) -> Solution:
        guess = None if start is None else start.guess()
        return hinge_lasso(Phi, y, C, norm=self.norm, tol=tol, warm_start=guess)

    def solve_tilted(
        self, problem: Subproblem, tol: float, at: Point, radius: float
    ) -> Subsolution:
        n, m = problem.Phi.shape
        # centred and scaled, so that no column waits for another
        A = np.zeros((n + 2 * m, m + 1))
        features = A[:n, :m]
        centre = problem.Phi.mean(axis=0)
        np.subtract(problem.Phi, centre, out=features)
        size = np.sqrt(np.einsum("ij,ij->j", features, features) / n)
        d = 1.0 / np.where(size > 0.0, size, 1.0)
        features *= d
        A[:n, m] = 1.0
        A[:n] *= problem.y[:, None]
        linear = problem.linear.copy()
        linear[:m] = d * (linear[:m] - linear[m] * centre)
        capacity = self._capacity(m).scaled(np.ones(m, dtype=bool), d)
        # two more hinges for each weight keep it near where it was
        A[n : n + m, :m], A[n + m :, :m] = np.eye(m), -np.eye(m)
        here = at.weights[:, 0] / d
        margin = np.concatenate([np.ones(n), here - radius, -here - radius])
        fence = _FENCE * (d + np.abs(linear[:m]) + problem.u @ np.abs(features))
        limits = Limits(tol, _MAX_ITER, problem.constant, problem.unit)
        end = interior_point(
            A,
            linear,
            np.concatenate([problem.u, fence, fence]),
            capacity.regularizer(),
            limits,
            margin=margin,
        )
        v = end.variables[:m]
        margins = features @ v
        b = hinge_bias(problem.y * margins, problem.y, problem.u, float(linear[m]))
        hinge = np.maximum(0.0, 1.0 - margins - problem.y * b)
        value = capacity.value(v) - float(linear[:m] @ v + linear[m] * b)
        value += float(problem.u @ hinge)
        return Subsolution(
            weights=d * v,
            intercept=b - float(centre @ (d * v)),
            multipliers=end.multipliers[:n],
            primal_value=value,
            dual_value=value - end.gap * limits.scale(value),
            n_iter=end.n_iter,
            at_limit=end.n_iter >= _MAX_ITER,
        )
