r"""Coordinates in the span of k(., z_1), ..., k(., z_m): the whitened empirical kernel map.

With :math:`\psi_z(x) = (k(z_1, x), \ldots, k(z_m, x))`, equation (31), and
:math:`\phi_z(x) = T \psi_z(x)`, equation (41), a linear machine :math:`w^\top \phi_z(x) + b` is the
kernel machine with the coefficients :math:`\beta = T^\top w`. Where :math:`T^\top T` inverts
:math:`K^z`, equation (43), :math:`\|w\|^2 = \beta^\top K^z \beta` is the norm in the feature space
of the kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray

# Entries of a Gram matrix with a diagonal of one are at most 1 if it is positive semi-definite.
# Kernel values in single precision are exact to 1e-7; what is larger by more is no rounding.
_ABOVE_ONE = 1.0 + 1e-6


def relative_rank_tolerance(m: int) -> float:
    """Eigenvalues of an m x m Gram matrix at or below this times the largest one count as zero.

    ``10 * m * eps``. The eigenvalues are exact to about ``m * eps`` times the largest; the factor
    ten keeps the identity ||w||^2 = beta' K^z beta to about 1e-4 in the weakest direction kept.
    """
    return 10.0 * m * float(np.finfo(np.float64).eps)


class SubspaceMap(ABC):
    """Features x -> T psi_z(x) of the span of k(., z_j), and the way back to its coefficients."""

    kernel: Kernel
    vectors: FloatArray

    @property
    @abstractmethod
    def rank(self) -> int:
        """How many features there are."""

    @abstractmethod
    def features_from_values(self, values: ArrayLike) -> FloatArray:
        """The features of n rows from their kernel values, the n x m matrix k(x_i, z_j)."""

    @abstractmethod
    def coefficients(self, weights: ArrayLike) -> FloatArray:
        """The coefficients beta = T'w of the machine with these weights, (rank,) or (rank, k)."""

    @abstractmethod
    def weights(self, coefficients: ArrayLike) -> FloatArray:
        """The weights w of the machine with these coefficients, (m,) or (m, k)."""

    def features(self, X: Any) -> FloatArray:
        """The features of the rows of X, of shape (n, rank)."""
        return self.features_from_values(self.kernel(X, self.vectors))


class TransformedMap(SubspaceMap):
    """A map whose matrix T is stored."""

    transform: FloatArray

    @property
    def rank(self) -> int:
        return int(self.transform.shape[0])

    def features_from_values(self, values: ArrayLike) -> FloatArray:
        features: FloatArray = np.asarray(values, dtype=np.float64) @ self.transform.T
        return features

    def coefficients(self, weights: ArrayLike) -> FloatArray:
        beta: FloatArray = self.transform.T @ np.asarray(weights, dtype=np.float64)
        return beta


@dataclass(frozen=True, eq=False)
class EmpiricalMap(SubspaceMap):
    """The kernel values themselves as features, T = I, as the reduced SVM (RSVM) takes them.

    The norm of the weights is then that of beta, not that of the function.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (m, d)
    """

    kernel: Kernel
    vectors: FloatArray

    @classmethod
    def from_vectors(cls, kernel: Kernel, vectors: ArrayLike) -> EmpiricalMap:
        """The map of these vectors, checked."""
        return cls(kernel, _checked_vectors(vectors))

    @property
    def rank(self) -> int:
        return int(self.vectors.shape[0])

    def features_from_values(self, values: ArrayLike) -> FloatArray:
        return np.asarray(values, dtype=np.float64)

    def coefficients(self, weights: ArrayLike) -> FloatArray:
        return np.asarray(weights, dtype=np.float64)

    def weights(self, coefficients: ArrayLike) -> FloatArray:
        return np.asarray(coefficients, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class WhitenedMap(TransformedMap):
    r"""The projection onto the span of the k(., z_j), in an orthonormal basis.

    .. math:: \phi_z(x) = T \psi_z(x), \qquad
        \langle \phi_z(x), \phi_z(x') \rangle = \psi_z(x)^\top (K^z)^+ \psi_z(x')

    Equation (42) takes :math:`T = \Lambda^{-1/2} V^\top` from the eigenvalues of :math:`K^z`. Here
    they are those of :math:`S K^z S` with a diagonal S that makes its diagonal one, and
    :math:`T = \Lambda^{-1/2} V^\top S`: the same for a kernel with k(z, z) = 1, and no vector is
    lost to rounding because another is longer. Directions of eigenvalues at or below
    `relative_rank_tolerance` are left out, and with them the negative ones that a kernel which is
    not positive definite can have.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (m, d)
        In double precision, so that the kernel values are too.
    transform : ndarray of shape (rank, m)
        The matrix T.
    inverse_transform : ndarray of shape (rank, m)
        The matrix T K^z, which takes coefficients to weights.
    natural_rank : int
        The numerical rank of K^z, whatever rank was asked for.

    References
    ----------
    Wu, Schölkopf, Bakır (2006), equations (31), (40)-(43).

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> space = WhitenedMap.from_vectors(Gaussian(0.5), [[0.0], [1.0], [1.0]])
    >>> space.rank  # a vector is there twice
    2
    >>> space.coefficients(space.weights([1.0, 2.0, 2.0]))
    array([1., 2., 2.])
    """

    kernel: Kernel
    vectors: FloatArray
    transform: FloatArray
    inverse_transform: FloatArray
    natural_rank: int

    @classmethod
    def from_vectors(
        cls, kernel: Kernel, vectors: ArrayLike, rank: int | None = None
    ) -> WhitenedMap:
        """Factor the Gram matrix of the vectors.

        Parameters
        ----------
        kernel : Kernel
        vectors : array-like of shape (m, d)
        rank : int, optional
            How many leading directions to keep, so that a line search over the vectors sees one
            continuous function. Without it the numerical rank is taken.

        Raises
        ------
        ValueError
            If the kernel is not positive definite and has no positive direction on these vectors.
        numpy.linalg.LinAlgError
            If `rank` directions are asked for and fewer have an eigenvalue above rounding error.
        """
        Z = _checked_vectors(vectors)
        return cls.from_gram(kernel, Z, kernel(Z, Z), rank)

    @classmethod
    def from_gram(
        cls,
        kernel: Kernel,
        vectors: FloatArray,
        gram: FloatArray,
        rank: int | None = None,
        least: float = 0.0,
    ) -> WhitenedMap:
        """`from_vectors` for finite vectors whose Gram matrix is known.

        Eigenvalues at or below ``least`` times the largest count as zero, too: features of kernel
        values in single precision have no digits there.
        """
        m = gram.shape[0]
        scale, scaled = _balanced(symmetric(kernel, gram))
        eigenvalues, eigenvectors = np.linalg.eigh(scaled)
        eigenvalues, eigenvectors = eigenvalues[::-1], eigenvectors[:, ::-1]
        largest = max(float(eigenvalues[0]), 0.0)
        if largest == 0.0 and eigenvalues[-1] < 0.0:
            raise ValueError(
                f"{kernel!r} has no positive direction on these {m} vectors, so no machine with a "
                "margin exists in their span; take a positive definite kernel."
            )
        tolerance = max(least, relative_rank_tolerance(m))
        natural_rank = int(np.sum(eigenvalues > tolerance * largest))
        if rank is None:
            rank = natural_rank
        elif not 0 <= rank <= m:
            raise ValueError(f"rank must be between 0 and the {m} vectors, got {rank}.")
        elif rank and not eigenvalues[rank - 1] > np.finfo(np.float64).eps * largest:
            above = int(np.sum(eigenvalues > np.finfo(np.float64).eps * largest))
            raise np.linalg.LinAlgError(
                f"the Gram matrix of {m} vectors has {above} eigenvalues above rounding error, "
                f"rank={rank} was asked for; merge vectors that coincide, or lower rank."
            )
        root = np.sqrt(eigenvalues[:rank])
        basis = eigenvectors[:, :rank]
        # S^{-1} for coefficients; a vector with k(z, z) = 0 has no part in the span, so 0 serves.
        unscale = np.divide(1.0, scale, out=np.zeros(m), where=scale > 0)
        transform = np.ascontiguousarray((scale[:, None] * basis / root).T)
        inverse_transform = np.ascontiguousarray((unscale[:, None] * basis * root).T)
        return cls(kernel, vectors, transform, inverse_transform, natural_rank)

    def weights(self, coefficients: ArrayLike) -> FloatArray:
        """The weights T K^z beta of the machine with these coefficients, (m,) or (m, k).

        Their norm is the function's: ||w||^2 = beta' K^z beta.
        """
        w: FloatArray = self.inverse_transform @ np.asarray(coefficients, dtype=np.float64)
        return w


def _checked_vectors(vectors: ArrayLike) -> FloatArray:
    Z = np.ascontiguousarray(vectors, dtype=np.float64)
    if Z.ndim != 2 or Z.shape[0] == 0:
        raise ValueError(f"vectors must be an array of shape (m, d), m >= 1, got shape {Z.shape}.")
    if not np.isfinite(Z).all():
        raise ValueError("vectors contain NaN or infinity.")
    return Z


def symmetric(kernel: Kernel, gram: FloatArray) -> FloatArray:
    """A Gram matrix, averaged with its transpose: eigh would read one triangle only."""
    if not np.isfinite(gram).all():
        raise ValueError(
            f"{kernel!r} has values that are not finite on the vectors; scale the data, or "
            "lower gamma or degree."
        )
    average: FloatArray = 0.5 * (gram + gram.T)
    return average


def _balanced(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A diagonal S and S gram S with the diagonal one, where gram can be positive semi-definite.

    A vector with k(z, z) = 0 is the zero function and gets 0 in S, and so does one whose k(z, z)
    has lost its digits to underflow. A matrix that breaks |k(z, z')|^2 <= k(z, z) k(z', z') is not
    positive semi-definite, its diagonal says nothing about lengths, and S is the identity.
    """
    diagonal, largest = np.diagonal(gram), np.abs(gram).max()
    least = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
    usable = diagonal > least
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(diagonal.size), where=usable)
    scaled = gram * scale[:, None] * scale
    # the bound on |k(z, z')| for a k(z, z) that underflows, with a factor of two for rounding
    lost = np.abs(gram[~usable]).max(initial=0.0) > 2.0 * np.sqrt(least * largest)
    if lost or np.abs(scaled).max() > _ABOVE_ONE:
        return np.ones(diagonal.size), gram
    return scale, scaled
