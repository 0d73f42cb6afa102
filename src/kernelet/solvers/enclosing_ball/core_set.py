"""A core set: few points of a feature space, and the smallest ball around them.

With a constant k(x, x) the smallest ball is a quadratic program over the simplex, (5) and (16) of
Tsang, Kocsor and Kwok (2006): min alpha'K alpha. Its multiple a = alpha / (alpha'K alpha) minimises
1/2 a'Ka - sum a over a >= 0, which has no equality: an active set with the Cholesky factor of the
free points, which gains a row when a point joins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.solvers.enclosing_ball.free_points import FIRST_ROOM, FreePoints

# A point whose margin is below that of the others by less than this share is on the ball: sums over
# a core set are exact to about 1e-13.
_TOLERANCE = 1e-10
# Share of the diagonal that is added to it, where nothing else keeps the Gram matrix from being
# singular: above rounding errors, and too little to be seen in a ball.
ROUNDING_RIDGE = 1e-12


def settle(
    K: FloatArray, points: FreePoints, a: FloatArray, tol: float
) -> tuple[FreePoints, FloatArray]:
    """Minimise 1/2 a'Ka - sum a over a >= 0, from the minimum over the free points.

    Points whose margin (Ka)_i is below 1 by more than tol join.

    Examples
    --------
    >>> K = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [2.0, 2.0, 9.0]])
    >>> points = FreePoints.none().joined_by(0, K)
    >>> points, a = settle(K, points, np.array([1.0, 0.0, 0.0]), 1e-9)
    >>> points.index
    array([0, 1])
    >>> a
    array([1., 1., 0.])
    """
    a, can_join = a.copy(), np.ones(a.size, dtype=bool)
    # each round takes a point in, few more than once: the limit is for circles made of rounding
    for _ in range(10 * a.size + 100):
        # most points are free
        others = ((a <= 0.0) & can_join).nonzero()[0]
        if not others.size:
            break
        margins = K[others] @ a
        least = margins.argmin()
        if margins[least] >= 1.0 - tol:
            break
        joins = int(others[least])
        joined = points.joined_by(joins, K) or _exchanged(points, joins, K, a)
        if joined is None:
            can_join[joins] = False
            continue
        points = joined
        stuck = False
        while points.index.size:
            z = points.solved()
            if z.min() > 0.0:
                a[points.index] = z
                break
            now = a[points.index]
            falling = np.flatnonzero(z <= 0.0)
            # the one that has just joined is still at 0, and no step lets it fall
            old = now[falling]
            shares = np.divide(old, old - z[falling], out=np.zeros_like(old), where=old > 0.0)
            at = int(falling[shares.argmin()])
            leaves = int(points.index[at])
            a[points.index] = now + shares.min() * (z - now)
            a[leaves] = 0.0
            stuck = stuck or leaves == joins
            points = points.without(at)
        if stuck:  # its margin was below 1 by rounding only
            break
    return points, a


def _exchanged(points: FreePoints, joins: int, K: FloatArray, a: FloatArray) -> FreePoints | None:
    """With a point, a combination of the free ones up to rounding, in place of one of them.

    While it takes their shares over, the value falls on a straight line, until one of them has
    nothing left. ``a`` is changed in place. None if none has, or where rounding leaves no digits.
    """
    shares = points.combination(joins, K)
    falling = np.flatnonzero(shares > 0.0)
    if not falling.size:
        return None
    now = a[points.index]
    lengths = now[falling] / shares[falling]
    length, at = float(lengths.min()), int(falling[lengths.argmin()])
    found = points.without(at).joined_by(joins, K)
    if found is None or not np.isfinite(length * shares).all():
        return None
    a[points.index] = np.maximum(now - length * shares, 0.0)
    a[points.index[at]], a[joins] = 0.0, length
    return found


class CoreSet:
    """Points in the order in which they joined, and the smallest ball around them.

    The Gram matrix is that of (10) with orthogonality built in,

        K_ij = y_i y_j (k(x_i, x_j) + bias - g_i'g_j) + ridge_i [i = j]

    where g holds the coordinates of a point in the directions that the centre is orthogonal to.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    n_directions : int, default=0
        Length of g.
    bias : float, default=1.0
        1 for a machine with a (penalised) bias, 0 for none.

    Attributes
    ----------
    vectors : ndarray of shape (size, d)
    signs, ridges, multipliers : ndarray of shape (size,)
        y, 1 / C_i, and a.
    projections : ndarray of shape (size, n_directions)
        g.
    index : ndarray of shape (size,)
        Which rows they are.
    """

    def __init__(self, n_features: int, n_directions: int = 0, bias: float = 1.0) -> None:
        self.bias = bias
        self._vectors = np.empty((0, n_features))
        self._projections = np.empty((0, n_directions))
        self._signs, self._ridges = np.empty(0), np.empty(0)
        self._index, self._gram = np.empty(0, dtype=np.intp), np.empty((0, 0))
        # what says how many points there are is one attribute: Ctrl-C leaves the old or the new
        self._minimum = FreePoints.none(), np.empty(0)

    def _grow(self) -> None:
        """Twice the room."""
        room = max(FIRST_ROOM, 2 * self._index.size)
        self._vectors = _enlarged(self._vectors, (room, self._vectors.shape[1]))
        self._projections = _enlarged(self._projections, (room, self._projections.shape[1]))
        self._signs, self._ridges = (_enlarged(x, (room,)) for x in (self._signs, self._ridges))
        self._index = _enlarged(self._index, (room,))
        self._gram = _enlarged(self._gram, (room, room))

    @property
    def size(self) -> int:
        """Number of points."""
        return self._minimum[1].size

    @property
    def vectors(self) -> FloatArray:
        return self._vectors[: self.size]

    @property
    def projections(self) -> FloatArray:
        return self._projections[: self.size]

    @property
    def signs(self) -> FloatArray:
        return self._signs[: self.size]

    @property
    def ridges(self) -> FloatArray:
        return self._ridges[: self.size]

    @property
    def index(self) -> IndexArray:
        return self._index[: self.size]

    @property
    def multipliers(self) -> FloatArray:
        return self._minimum[1]

    @property
    def free(self) -> IndexArray:
        """The points with a positive multiplier, in the order in which they joined."""
        return np.flatnonzero(self.multipliers > 0.0)

    @property
    def total(self) -> float:
        """The sum of a, which is 1 / |c|^2 for the centre c."""
        return float(self.multipliers.sum())

    @property
    def weights(self) -> FloatArray:
        """a_i y_i: coefficients of the kernel functions, up to the part that is projected out."""
        product: FloatArray = self.multipliers * self.signs
        return product

    @property
    def correction(self) -> FloatArray:
        """sum_i a_i y_i g_i: what the centre would have of each direction, -gamma of (11)."""
        sums: FloatArray = self.weights @ self.projections
        return sums

    def add(
        self,
        vector: FloatArray,
        kernel_values: FloatArray,
        diagonal: float,
        *,
        sign: float = 1.0,
        ridge: float = 0.0,
        projection: FloatArray | None = None,
        index: int = -1,
    ) -> None:
        """Take a point in, and find the new ball.

        Parameters
        ----------
        vector : ndarray of shape (d,)
        kernel_values : ndarray of shape (size,)
            k(x, x_j) for the points so far.
        diagonal : float
            k(x, x).
        sign, ridge : float, default=1.0 and 0.0
            y and 1 / C.
        projection : ndarray of shape (n_directions,), default=None
            g.
        index : int, default=-1
            Which row it is.
        """
        n = self.size
        if n == self._index.size:
            self._grow()
        g = np.zeros(self._projections.shape[1]) if projection is None else projection
        values = kernel_values + self.bias - self.projections @ g
        self._gram[n, :n] = self._gram[:n, n] = sign * self.signs * values
        ridge = max(ridge, ROUNDING_RIDGE * diagonal)
        self._gram[n, n] = diagonal + self.bias - float(g @ g) + ridge
        self._vectors[n], self._projections[n] = vector, g
        self._signs[n], self._ridges[n], self._index[n] = sign, ridge, index
        points, a = self._minimum
        K = self._gram[: n + 1, : n + 1]
        self._minimum = settle(K, points, np.append(a, 0.0), _TOLERANCE)

    def squared_weight(self) -> float:
        """|w|^2 of w = sum a_i y_i phi(x_i) - its part in the directions, and without the bias."""
        a, n = self.multipliers, self.size
        whole = float(a @ (self._gram[:n, :n] @ a)) - float(a**2 @ self.ridges)
        return max(0.0, whole - self.bias * float(self.weights.sum()) ** 2)


def _enlarged(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(0, n) for n in array.shape)] = array
    return larger
