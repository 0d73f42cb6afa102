"""Functions over rows of the data, and orthonormal directions of the feature space among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from kernelet.kernels import Kernel
from kernelet.machine import KernelMachine
from kernelet.rows import Block
from kernelet.solvers.core_set import IndexArray
from kernelet.solvers.solution import FloatArray

# A function whose squared norm is below this share of that of its coefficients is rounding.
_NOTHING = 1e-14


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

    def values(self, kernel: Kernel, X: FloatArray) -> FloatArray:
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
        linear = Expansion(function.index, function.vectors, function.coefficients, np.zeros(1))
        values = linear.values(self.kernel, self.expansion.vectors)[:, 0]
        products: FloatArray = values @ self.expansion.coefficients
        return products


def direction(
    kernel: Kernel, function: Expansion, diagonal: float, earlier: Directions | None
) -> Expansion | None:
    """A function as a direction of length 1, orthogonal to earlier ones in all digits.

    Parameters
    ----------
    kernel : Kernel
    function : Expansion
        One function, orthogonal but for rounding.
    diagonal : float
        The largest k(x, x).
    earlier : Directions or None

    Returns
    -------
    Expansion or None
        With the intercept, so that it is the signed distance from the hyperplane; None if nothing
        is left but rounding.
    """
    if earlier is not None:
        for _ in range(2):
            function = earlier.removed_from(function, earlier.products(function))
    beta = function.coefficients[:, 0]
    linear = Expansion(function.index, function.vectors, function.coefficients, np.zeros(1))
    squared = float(beta @ linear.values(kernel, function.vectors)[:, 0])
    if squared <= _NOTHING * diagonal * float(beta @ beta):
        return None
    return function.combined(np.array([squared**-0.5]))
