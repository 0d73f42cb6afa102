r"""One linear program for all classes, after Weston and Watkins.

.. math:: \min_{W, b} \sum_{jk} c_j |W_{jk}| + \sum_i C_i \sum_{k \ne y_i}
    \max\bigl(0, 1 - \tfrac12 (f_{y_i}(x_i) - f_k(x_i))\bigr), \qquad f_k(x) = \phi(x)'W_k + b_k

Of its n (K - 1) hinges and m K weights few matter: the program is solved over some pairs of a row
and a class, and some weights, and those that spoil the proof over all of them join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.solvers.checks import checked_costs, checked_tolerance
from kernelet.solvers.chosen_rows import worst
from kernelet.solvers.linear_program.crossover import (
    ROUNDING,
    LinearProgram,
    SimplexBasis,
    highs_of,
    run_simplex,
    set_basis,
)
from kernelet.solvers.rounding import TINY
from kernelet.solvers.rows import Rows, as_rows
from kernelet.solvers.solution import Status, relative_gap

# Rounds before the best solution is returned as it is. Every round adds what the proof misses, so
# that the rounds end by themselves: only what does not converge gets there.
_MAX_ROUNDS = 200
# Pairs within this distance of the margin of the start are in the first round, but no more than
# _FIRST. Others join if they matter.
_BAND = 0.05
_FIRST = 5000
# At least this many pairs and weights may join in a round; the worst come first.
_MOST_ADDED = 500


@dataclass(frozen=True, eq=False)
class MulticlassSolution:
    """Weights of all classes, and the proof of how good they are.

    Attributes
    ----------
    weights : ndarray of shape (m, n_classes)
    intercepts : ndarray of shape (n_classes,)
        They add up to zero.
    multipliers : ndarray of shape (n, n_classes)
        Of the pairs of a row and another class than its own.
    primal_value, dual_value : float
        The optimum lies between them.
    n_iter : int
        Pivots.
    n_rounds : int
    status : Status
    """

    weights: FloatArray
    intercepts: FloatArray
    multipliers: FloatArray
    primal_value: float
    dual_value: float
    n_iter: int = 0
    n_rounds: int = 0
    status: Status = Status.OPTIMAL

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return relative_gap(self.primal_value, self.dual_value, TINY)

    @property
    def is_optimal(self) -> bool:
        """Whether the tolerance asked for was met."""
        return self.status is Status.OPTIMAL


def multiclass_hinge_lasso(
    Phi: ArrayLike | Rows,
    codes: ArrayLike,
    n_classes: int,
    C: ArrayLike = 1.0,
    *,
    penalty: float = 0.5,
    start: FloatArray | None = None,
    tol: float = 1e-6,
) -> MulticlassSolution:
    """Solve the linear programming SVM of several classes at once.

    With the penalty 1/2 and two classes it is `hinge_lasso`, whose w is half the difference of the
    two columns.

    Parameters
    ----------
    Phi : array of shape (n, m) or Rows
        Features.
    codes : array of shape (n,)
        Classes, from 0 to n_classes - 1.
    n_classes : int
    C : float or array of shape (n,), default=1.0
        Cost of each row.
    penalty : float, default=0.5
        c, the same for all weights.
    start : ndarray of shape (m + 1, n_classes), default=None
        Weights and, in the last row, intercepts of a nearby solution: they choose the first round.
    tol : float, default=1e-6
        Relative duality gap to reach.

    Returns
    -------
    MulticlassSolution

    Examples
    --------
    >>> solution = multiclass_hinge_lasso([[-3.0], [-2.0], [0.0], [2.0], [3.0]],
    ...                                   [0, 0, 1, 2, 2], 3, C=10.0)
    >>> solution.gap < 1e-6, solution.multipliers.shape
    (True, (5, 3))
    """
    rows = as_rows(Phi)
    n, m = rows.shape
    checked_tolerance(tol, 1)
    owner = np.asarray(codes, dtype=np.intp)
    if owner.shape != (n,) or owner.min() < 0 or owner.max() >= n_classes:
        raise ValueError(f"codes must hold a class from 0 to {n_classes - 1} for each of {n} rows.")
    if not penalty > 0.0:
        raise ValueError(f"penalty must be positive, got {penalty}.")
    state = _State(rows, owner, n_classes, checked_costs(C, n), penalty)
    state.begin(np.zeros((m + 1, n_classes)) if start is None else np.asarray(start))
    best: MulticlassSolution | None = None
    for _ in range(_MAX_ROUNDS):
        solution, is_complete = state.round()
        if best is None or solution.gap < best.gap:
            best = solution
        if solution.gap <= tol or is_complete:
            break
    assert best is not None
    status = Status.OPTIMAL if best.gap <= tol else Status.NUMERICAL_LIMIT
    return replace(best, n_iter=state.n_iter, n_rounds=state.n_rounds, status=status)


class _State:
    """Which pairs and weights are in the program, and its last basis."""

    def __init__(
        self, rows: Rows, owner: IndexArray, n_classes: int, C: FloatArray, penalty: float
    ) -> None:
        self.rows, self.owner, self.C, self.penalty = rows, owner, C, penalty
        self.n_classes = n_classes
        n, m = rows.shape
        self.other = (owner[:, None] != np.arange(n_classes)) & (C > 0.0)[:, None]
        self.pairs = np.zeros((n, n_classes), dtype=bool)
        self.kept = np.zeros((m, n_classes), dtype=bool)
        # of every pair and weight at the last vertex, so that its basis survives the additions
        self.pair_is_basic = np.zeros((n, n_classes), dtype=bool)
        self.pair_at_bound = np.zeros((n, n_classes), dtype=bool)
        self.kept_is_basic = np.ones((m + 1, n_classes), dtype=bool)
        self.kept_at_upper = np.zeros((m + 1, n_classes), dtype=bool)
        self.n_iter = self.n_rounds = 0

    def begin(self, start: FloatArray) -> None:
        """Pairs near the margin of a nearby solution, and its weights."""
        margins = self._margins(self.rows.scores(start[:-1]) + start[-1])
        self.pairs = self.other & (margins < 1.0 + _BAND)
        if np.count_nonzero(self.pairs) > _FIRST:
            near = np.abs(np.where(self.pairs, margins - 1.0, np.inf))
            self.pairs &= near <= np.partition(near, _FIRST, axis=None)[_FIRST]
        self.kept = start[:-1] != 0.0

    def _margins(self, scores: FloatArray) -> FloatArray:
        own = scores[np.arange(self.owner.size), self.owner]
        margins: FloatArray = 0.5 * (own[:, None] - scores)
        return margins

    def _program(self) -> tuple[LinearProgram, IndexArray, IndexArray]:
        """The dual over the pairs: max sum a, |Phi'V| <= c for the weights, = 0 for the biases."""
        row, k = np.nonzero(self.pairs)
        j, output = np.nonzero(self.kept)
        used, where = np.unique(row, return_inverse=True)
        Phi = self.rows.take(used)[where]
        sign = _signs(self.owner[row], k, output)
        K = np.empty((j.size + self.n_classes - 1, row.size))
        K[: j.size] = Phi.T[j] * sign
        # the biases are free but for a constant that all share: the last is left out
        K[j.size :] = _signs(self.owner[row], k, np.arange(self.n_classes - 1))
        radius = np.append(np.full(j.size, self.penalty), np.zeros(self.n_classes - 1))
        return LinearProgram(-np.ones(row.size), K, -radius, radius, self.C[row]), row, j

    def round(self) -> tuple[MulticlassSolution, bool]:
        """Solve, prove, add; returns the solution and whether nothing was left to add."""
        program, row, j = self._program()
        k, output = np.nonzero(self.pairs)[1], np.nonzero(self.kept)[1]
        last = np.arange(self.n_classes - 1)
        m = self.kept.shape[0]
        at_row, at_output = np.append(j, np.full(last.size, m)), np.append(output, last)
        unit = float(self.C.max())
        highs = highs_of(program, unit)
        if self.n_rounds:
            set_basis(
                highs,
                SimplexBasis(
                    self.pair_is_basic[row, k],
                    self.kept_is_basic[at_row, at_output],
                    self.pair_at_bound[row, k],
                    self.kept_at_upper[at_row, at_output],
                ),
            )
        vertex, basis = run_simplex(highs, program, unit)
        self.n_iter += int(highs.getInfo().simplex_iteration_count)
        self.n_rounds += 1
        self.pair_is_basic[row, k] = basis.columns
        self.pair_at_bound[row, k] = basis.columns_at_bound
        self.kept_is_basic[at_row, at_output] = basis.rows
        self.kept_at_upper[at_row, at_output] = basis.rows_at_upper
        variables = np.zeros((m + 1, self.n_classes))
        variables[at_row, at_output] = 0.0 - vertex.multipliers
        variables[m] -= variables[m].mean()
        a = np.zeros(self.pairs.shape)
        a[row, k] = np.clip(vertex.x, 0.0, self.C[row])
        return self._judge(variables[:m], variables[m], a)

    def _judge(
        self, W: FloatArray, b: FloatArray, a: FloatArray
    ) -> tuple[MulticlassSolution, bool]:
        margins = self._margins(self.rows.scores(W) + b)
        losses = np.where(self.other, self.C[:, None] * np.maximum(0.0, 1.0 - margins), 0.0)
        value = self.penalty * float(np.abs(W).sum()) + float(losses.sum())
        V = -0.5 * a
        V[np.arange(self.owner.size), self.owner] = 0.5 * a.sum(axis=1)
        pull = np.abs(self.rows.weighted_sum(V))
        shrink = 1.0 / max(1.0, float(pull.max(initial=0.0)) / self.penalty)
        # what multipliers that miss the equations of the biases by rounding gain at b
        slip = float(np.abs(V.sum(axis=0)) @ np.abs(b))
        solution = MulticlassSolution(W, b, shrink * a, value, shrink * (float(a.sum()) - slip))
        missed = np.where(self.pairs, 0.0, losses)
        beyond = np.where(self.kept, 0.0, pull - (1.0 + ROUNDING) * self.penalty)
        self.pairs |= worst(missed, max(_MOST_ADDED, int(self.pairs.sum()) // 2))
        self.kept |= worst(beyond, max(_MOST_ADDED, int(self.kept.sum()) // 2))
        return solution, not ((missed > 0.0).any() or (beyond > 0.0).any())


def _signs(owner: IndexArray, k: IndexArray, output: IndexArray) -> FloatArray:
    """What each pair's margin has of each output: half of its own, less half of the other."""
    own = output[:, None] == owner
    signs: FloatArray = 0.5 * own - 0.5 * (output[:, None] == k)
    return signs
