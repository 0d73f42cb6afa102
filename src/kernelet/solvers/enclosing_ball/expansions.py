"""Functions over rows of the data, and orthonormal directions of the feature space among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, RowMatrix
from kernelet.machine import KernelMachine
from kernelet.rows import Block

# A function whose values are below this share of the sum of its terms is rounding: four units in
# the last place. Terms that cancel in full leave a fifth of a unit, where the classes of breast
# cancer in raw units, which differ, leave 50 units (cubes, C=1) or more.
_NOTHING = 1e-15
# Rows of which less than this share is outside of earlier directions are in their span: squared
# lengths, so that what is left is shorter by 1e-5, and its directions mostly rounding.
NOWHERE = 1e-10
# Share of the squared norm that its terms would have if they were orthogonal. Below, they cancel so
# that half of the digits are lost.
_CANCELS = 1e-8
# Times that a part in earlier directions is removed: once leaves rounding errors of the part that
# was there, and twice is enough for those (Kahan's rule).
_REMOVALS = 2


@dataclass(frozen=True, eq=False)
class Expansion:
    """Functions sum_j beta_j k(x_j, x) + b over rows of the data.

    Attributes
    ----------
    index : ndarray of shape (m,)
        Which rows the vectors are.
    vectors : ndarray of shape (m, d)
    coefficients : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    """

    index: IndexArray
    vectors: FloatArray
    coefficients: FloatArray
    intercepts: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[Expansion]) -> Expansion:
        """All functions, one after the other, over the rows that any of them needs."""
        index = np.concatenate([part.index for part in parts])
        rows, first, place = np.unique(index, return_index=True, return_inverse=True)
        beta = np.zeros((rows.size, sum(part.coefficients.shape[1] for part in parts)))
        row = column = 0
        for part in parts:
            m, k = part.coefficients.shape
            beta[place[row : row + m], column : column + k] = part.coefficients
            row, column = row + m, column + k
        vectors = np.concatenate([part.vectors for part in parts])[first]
        return cls(rows, vectors, beta, np.concatenate([part.intercepts for part in parts]))

    def combined(self, weights: FloatArray) -> Expansion:
        """One function: the sum of these with weights."""
        return Expansion(
            self.index,
            self.vectors,
            (self.coefficients @ weights)[:, None],
            np.array([float(self.intercepts @ weights)]),
        )

    def machine(self, kernel: Kernel, dtype: DTypeLike = np.float64) -> KernelMachine:
        """As something to evaluate."""
        vectors = self.vectors.astype(dtype, copy=False)
        return KernelMachine(kernel, vectors, self.coefficients, self.intercepts)

    def without_intercept(self) -> Expansion:
        """<w, phi(x)> of one function."""
        return Expansion(self.index, self.vectors, self.coefficients, np.zeros(1))

    def squared_norm(self, kernel: Kernel) -> float:
        """|w|^2 of one function."""
        values = self.without_intercept().values(kernel, self.vectors)
        return float(self.coefficients[:, 0] @ values[:, 0])

    def shortened(self, kernel: Kernel) -> Expansion:
        """The same functions over no more rows than these have dimensions, by pivoted Cholesky.

        Rows that depend on one another can have large coefficients that cancel in w.

        Examples
        --------
        >>> from kernelet.kernels import Linear
        >>> rows = np.array([[100.0], [200.0]])
        >>> long = Expansion(np.arange(2), rows, np.array([[20000.0], [-9999.0]]), np.zeros(1))
        >>> short = long.shortened(Linear())
        >>> short.vectors, short.coefficients
        (array([[200.]]), array([[1.]]))
        """
        factor, pivots, rank, _ = dpstrf(kernel(self.vectors, self.vectors), lower=1)
        if not rank:  # the kernel is zero; SciPy before 1.14 solves no empty system
            beta = np.empty((0, self.coefficients.shape[1]))
            return Expansion(self.index[:0], self.vectors[:0], beta, self.intercepts)
        order, L = pivots - 1, np.tril(factor)[:, :rank]
        coordinates = L.T @ self.coefficients[order]
        beta = solve_triangular(L[:rank], coordinates, lower=True, trans="T")
        kept = order[:rank]
        return Expansion(self.index[kept], self.vectors[kept], beta, self.intercepts)

    def values(self, kernel: Kernel, X: RowMatrix) -> FloatArray:
        """An array of shape (n, k)."""
        n, k = X.shape[0], self.coefficients.shape[1]
        values: FloatArray = self.machine(kernel).decision_function(X).reshape(n, k)
        return values


@dataclass(frozen=True, eq=False)
class Directions:
    """Orthonormal directions u_q of the feature space, which a centre is to be orthogonal to, (14).

    Attributes
    ----------
    kernel : Kernel
    expansion : Expansion
        Their functions <u_q, phi(x)>, without intercepts.
    known : ndarray of shape (n, s) or None
        Their values at all rows, where these are in memory.
    """

    kernel: Kernel
    expansion: Expansion
    known: FloatArray | None = None

    @property
    def n_directions(self) -> int:
        """s."""
        return int(self.expansion.coefficients.shape[1])

    def values(self, block: Block) -> FloatArray:
        """<u_q, phi(x)> of some rows."""
        if self.known is not None:
            return self.known[block.index]
        return self.expansion.values(self.kernel, block.X)

    def removed_from(self, function: Expansion, products: FloatArray) -> Expansion:
        """A function without its part in these directions, given its products with them."""
        both = Expansion.joined([function, self.expansion])
        return both.combined(np.append(1.0, -products))

    def products(self, function: Expansion) -> FloatArray:
        """<u_q, w>, from the values of w at the vectors of the directions."""
        values = function.without_intercept().values(self.kernel, self.expansion.vectors)[:, 0]
        products: FloatArray = values @ self.expansion.coefficients
        return products


def direction(
    kernel: Kernel, function: Expansion, diagonal: float, earlier: Directions | None
) -> Expansion | None:
    """A function as a direction of length 1, orthogonal to earlier ones but for rounding.

    Parameters
    ----------
    kernel : Kernel
    function : Expansion
        One function, from which its part in the earlier directions is to be removed.
    diagonal : float
        The largest k(x, x).
    earlier : Directions or None

    Returns
    -------
    Expansion or None
        With the intercept, so that it is the signed distance from the hyperplane; None if nothing
        is left but rounding.
    """
    own = np.asarray(kernel.diagonal(function.vectors), dtype=np.float64)
    # the largest value that the sum of its terms could have at one of its rows
    size = float(np.abs(function.coefficients[:, 0]) @ np.sqrt(own))
    size *= float(np.sqrt(own.max(initial=0.0)))
    if earlier is not None:
        inside = np.square(earlier.expansion.values(kernel, function.vectors)).sum(axis=1)
        if share_left(own, inside) <= NOWHERE:
            return None
    function = _tidy(kernel, function, diagonal)
    if earlier is not None:
        for _ in range(_REMOVALS):
            function = earlier.removed_from(function, earlier.products(function))
            function = _tidy(kernel, function, diagonal)
    values = function.without_intercept().values(kernel, function.vectors)[:, 0]
    squared = float(function.coefficients[:, 0] @ values)
    if np.abs(values).max(initial=0.0) <= _NOTHING * size or squared <= 0.0:
        return None
    return function.combined(np.array([squared**-0.5]))


def share_left(diagonal: FloatArray, inside: FloatArray) -> float:
    """The largest share of a k(x, x) that is not inside of directions; rows of length 0 have none.

    Examples
    --------
    >>> share_left(np.array([4.0, 100.0, 0.0]), np.array([3.0, 99.0, 0.0]))
    0.25
    """
    shares = np.divide(inside, diagonal, out=np.ones_like(diagonal), where=diagonal > 0.0)
    return float((1.0 - shares).max(initial=0.0))


def _tidy(kernel: Kernel, function: Expansion, diagonal: float) -> Expansion:
    """A function without coefficients that cancel."""
    size = diagonal * float(np.square(function.coefficients).sum())
    cancels = function.squared_norm(kernel) <= _CANCELS * size
    return function.shortened(kernel) if cancels else function
