r"""The L2-SVM with a penalised bias, exactly, over kernel values: Newton's method on working sets.

.. math:: \min_{w, b} \tfrac12 \|w\|^2 + \tfrac12 b^2
    + \tfrac12 \sum_i C_i \max(0, 1 - y_i (w'\varphi(x_i) + b))^2, \qquad u_q'w = 0

The loss is piecewise quadratic. For given rows with a loss the minimum is one linear system, and a
step towards it, as long as the value falls, changes these rows; a few dozen steps end exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, RowMatrix, dense
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion
from kernelet.solvers.enclosing_ball.margin_newton import (
    NEAR,
    ROUNDING,
    lower_bound,
    newton_multipliers,
)
from kernelet.solvers.parallel import one_thread_if_small
from kernelet.solvers.solution import Status
from kernelet.solvers.thinning import evenly_spaced

# Rows of the first working set, and how many may join at once, or half as many as there are if that
# is more. A working set of a thousand rows takes a fraction of a second, and sets that grow by half
# again are solved a few times only; up to twice _FIRST rows one set of all costs least.
_FIRST = 1000
_MOST_ADDED = 500


@dataclass(frozen=True, eq=False)
class ExactMargin:
    """The machine.

    Attributes
    ----------
    function : Expansion
        f, orthogonal to the directions.
    own : Expansion
        The same before its part in these was removed.
    n_vectors : int
        Rows with a multiplier: kernel values that f needs besides those of the directions.
    primal_value, dual_value : float
    n_iter : int
        Linear systems solved.
    status : Status
    """

    function: Expansion
    own: Expansion
    n_vectors: int
    primal_value: float
    dual_value: float
    n_iter: int
    status: Status


def exact_margin(
    X: RowMatrix,
    y: FloatArray,
    C: FloatArray,
    kernel: Kernel,
    directions: Directions | None = None,
    *,
    max_iter: int = 500,
) -> ExactMargin:
    """Solve the problem over rows in memory.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    y : ndarray of shape (n,)
        -1 or +1.
    C : ndarray of shape (n,)
        Costs, all positive.
    kernel : Kernel
    directions : Directions or None, default=None
        With their values at all rows.
    max_iter : int, default=500
        Linear systems allowed for each working set.

    Returns
    -------
    ExactMargin

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> exact_margin(X, y, np.ones(2), Linear()).function.coefficients.ravel().round(6)
    array([-0.333333,  0.333333])
    """
    g = np.empty((y.size, 0)) if directions is None else directions.known
    if g is None:
        raise ValueError("directions must hold their values at all rows.")
    members = _Members(X, y, C, kernel, g)
    new = _first_rows(y)
    n_iter, converged = 0, True
    while new.size and converged:
        members.add(new)
        spent, converged = members.settle(max_iter)
        n_iter += spent
        own, products = members.function()
        margins = y * (own.values(kernel, X)[:, 0] - g @ products)
        slack = np.maximum(0.0, 1.0 - margins)
        new = members.missed(margins)
    primal, dual = members.values(slack, converged)
    status = Status.OPTIMAL
    # a dual value above the primal one is no proof either: the digits are lost
    if not (converged and abs(primal - dual) <= NEAR * primal):
        status = Status.short_of_tolerance(spent >= max_iter)
    function = own if directions is None else directions.removed_from(own, products)
    return ExactMargin(function, own, own.index.size, primal, dual, n_iter, status)


class _Members:
    """The working set: its rows in the order in which they joined, and their multipliers."""

    def __init__(
        self, X: RowMatrix, y: FloatArray, C: FloatArray, kernel: Kernel, g: FloatArray
    ) -> None:
        self._X, self._y, self._C, self._kernel, self._g = X, y, C, kernel, g
        self._index = np.empty(0, dtype=np.intp)
        self._vectors = np.empty((0, X.shape[1]))
        self._K, self._a = np.empty((0, 0)), np.empty(0)

    def add(self, new: IndexArray) -> None:
        """Take rows in, with multipliers of zero; the Gram matrix gains their part."""
        y, g, n = self._y, self._g, self._a.size
        rows = np.asarray(dense(self._X[new]), dtype=np.float64)
        self._index = index = np.append(self._index, new)
        self._vectors = np.concatenate([self._vectors, rows])
        # the 1 is the bias, which is penalised like a weight
        values = self._kernel(self._vectors, rows) + 1.0 - g[index] @ g[new].T
        added = y[index][:, None] * values * y[new]
        larger = np.empty((index.size, index.size))
        larger[:n, :n] = self._K
        larger[:, n:], larger[n:] = added, added.T
        self._K, self._a = larger, np.append(self._a, np.zeros(new.size))

    def settle(self, max_iter: int) -> tuple[int, bool]:
        """Solve the problem over these rows; the steps it took, and whether it converged."""
        n = self._index.size
        # a Cholesky factor takes n^3 / 6 multiplications
        with one_thread_if_small(n**3 // 6):
            self._a, spent, converged = newton_multipliers(
                self._K, self._C[self._index], self._a, max_iter
            )
        return spent, converged

    def function(self) -> tuple[Expansion, FloatArray]:
        """f before its part in the directions is removed, and its products with these."""
        free = np.flatnonzero(self._a)
        index = self._index[free]
        weights = self._a[free] * self._y[index]
        bias = np.array([float(weights.sum())])
        own = Expansion(index, self._vectors[free], weights[:, None], bias)
        return own, weights @ self._g[index]

    def missed(self, margins: FloatArray) -> IndexArray:
        """Rows that have a loss and are not in here; the worst, if there are many."""
        margins[self._index] = np.inf
        missed = np.flatnonzero(margins < 1.0 - ROUNDING)
        room = max(_MOST_ADDED, self._index.size // 2)
        return missed[np.argsort(margins[missed], kind="stable")[:room]]

    def values(self, slack: FloatArray, converged: bool) -> tuple[float, float]:
        """Primal and dual value over all rows, given what each lacks to its margin."""
        a, K, costs = self._a, self._K, self._C[self._index]
        squared = float(a @ (K @ a))
        primal = 0.5 * squared + 0.5 * float(self._C @ slack**2)
        if converged:
            return primal, float(a.sum()) - 0.5 * squared - 0.5 * float(a**2 @ (1.0 / costs))
        # at the minimum the multipliers are C_i xi_i
        guesses = (a, costs * slack[self._index])
        return primal, max(lower_bound(guess, K, costs) for guess in guesses)


def _first_rows(y: FloatArray) -> IndexArray:
    """Rows evenly spaced among those of each class, at least one of each."""
    if y.size <= 2 * _FIRST:
        return np.arange(y.size)
    sides = [np.flatnonzero(y == sign) for sign in (-1.0, 1.0)]
    sizes = [min(side.size, 1 + _FIRST * side.size // y.size) for side in sides]
    spaced = [side[evenly_spaced(side.size, size)] for side, size in zip(sides, sizes, strict=True)]
    return np.concatenate(spaced)
