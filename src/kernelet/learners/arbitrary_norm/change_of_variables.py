"""The change of variables that makes a re-weighted problem an ordinary ridge problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.arbitrary_norm.kept_candidates import KeptColumns, KeptGram
from kernelet.subspace.eigenpairs import eigenpairs
from kernelet.subspace.whitening import relative_rank_tolerance


class RidgeSpace(Protocol):
    """Features Phi = K T with T'(R + Lambda)T = I, so that a = T w has a ridge in w."""

    @property
    def rank(self) -> int:
        """How many features there are."""
        ...

    def features(self, K: FloatArray) -> FloatArray:
        """K T."""
        ...

    def coefficients(self, weights: FloatArray) -> FloatArray:
        """T w."""
        ...

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """The w of given coefficients."""
        ...


@dataclass(frozen=True, eq=False)
class DiagonalSpace:
    """R = I: the inversion-free variant of section 3.4.3, T = diag(d / sqrt(d^2 + e))."""

    root: FloatArray

    @property
    def rank(self) -> int:
        return self.root.size

    def features(self, K: FloatArray) -> FloatArray:
        return K * self.root

    def coefficients(self, weights: FloatArray) -> FloatArray:
        return self.root * weights

    def weights(self, coefficients: FloatArray) -> FloatArray:
        return coefficients / self.root


@dataclass(frozen=True, eq=False)
class CholeskySpace:
    """T = D L^-T with L L' = D R D + diag(e), the pruned matrix of step 3.

    LAPACK is called without SciPy's checks, which take longer than a small matrix.
    """

    d: FloatArray
    L: FloatArray

    @property
    def rank(self) -> int:
        return self.d.size

    def features(self, K: FloatArray) -> FloatArray:
        solved, _ = dtrtrs(self.L, (K * self.d).T, lower=1, overwrite_b=1)
        features: FloatArray = solved.T
        return features

    def coefficients(self, weights: FloatArray) -> FloatArray:
        solved, _ = dtrtrs(self.L, weights, lower=1, trans=1)
        coefficients: FloatArray = self.d * solved
        return coefficients

    def weights(self, coefficients: FloatArray) -> FloatArray:
        weights: FloatArray = self.L.T @ (coefficients / self.d)
        return weights


@dataclass(frozen=True, eq=False)
class SpectralSpace:
    """The same from eigenvalues, without the directions that have none above rounding error."""

    d: FloatArray
    basis: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, S: FloatArray, d: FloatArray) -> SpectralSpace:
        """Factor S = D R D + diag(e)."""
        eigenvalues, vectors = eigenpairs(S, check_finite=False)
        largest = max(float(eigenvalues[-1]), 0.0)
        kept = eigenvalues > relative_rank_tolerance(d.size) * largest
        return cls(d, vectors[:, kept], np.sqrt(eigenvalues[kept]))

    @property
    def rank(self) -> int:
        return self.root.size

    def features(self, K: FloatArray) -> FloatArray:
        features: FloatArray = ((K * self.d) @ self.basis) / self.root
        return features

    def coefficients(self, weights: FloatArray) -> FloatArray:
        coefficients: FloatArray = self.d * (self.basis @ (weights / self.root))
        return coefficients

    def weights(self, coefficients: FloatArray) -> FloatArray:
        weights: FloatArray = self.root * (self.basis.T @ (coefficients / self.d))
        return weights


class CoefficientRegularizer(Protocol):
    """The matrix R of 1/2 a'R a."""

    def norm(self, gram: KeptGram, coefficients: FloatArray) -> float:
        """1/2 a'R a."""
        ...

    def space(self, gram: KeptGram, d: FloatArray, e: FloatArray) -> RidgeSpace:
        """The space for R + Lambda, e = d^2 Lambda."""
        ...


class KernelRegularizer:
    """R is the Gram matrix, whatever its rank."""

    def norm(self, gram: KeptGram, coefficients: FloatArray) -> float:
        return 0.5 * gram.squared_norm(coefficients)

    def space(self, gram: KeptGram, d: FloatArray, e: FloatArray) -> RidgeSpace:
        S = _regularized(gram, d, e)
        # The factor of a matrix that is singular to working precision is noise in its last rows.
        floor = relative_rank_tolerance(d.size) * float(S.diagonal().sum())
        if float(e.min(initial=np.inf)) > floor:
            # S is symmetric, and its transpose in the order of LAPACK
            L, fault = dpotrf(S.T if S.flags.c_contiguous else S, lower=1, clean=1, overwrite_a=1)
            if not fault:
                return CholeskySpace(d, L)
            S = _regularized(gram, d, e)  # LAPACK has written over it
        # also for a kernel that is not positive definite: its negative directions are left out
        return SpectralSpace.of(S, d)


def _regularized(gram: KeptGram, d: FloatArray, e: FloatArray) -> FloatArray:
    """D G D + diag(e)."""
    S = gram.scaled(d)
    S.flat[:: d.size + 1] += e
    return S


class RidgeRegularizer:
    """R is the identity; the Gram matrix does not matter."""

    def norm(self, gram: KeptGram, coefficients: FloatArray) -> float:
        return 0.5 * float(coefficients @ coefficients)

    def space(self, gram: KeptGram, d: FloatArray, e: FloatArray) -> RidgeSpace:
        return DiagonalSpace(d / np.sqrt(d * d + e))


REGULARIZERS: dict[str, CoefficientRegularizer] = {
    "kernel": KernelRegularizer(),
    "ridge": RidgeRegularizer(),
}


class RidgeFeatures:
    """The rows of K T, computed when they are asked for: n x m x m products for all of them."""

    def __init__(self, K: KeptColumns, space: RidgeSpace) -> None:
        self.K = K
        self.space = space

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.K.shape[0], self.space.rank

    def scores(self, weights: FloatArray) -> FloatArray:
        """K T w, by way of the coefficients."""
        return self.K.times(self.space.coefficients(weights))

    def take(self, index: NDArray[np.intp]) -> FloatArray:
        """Some rows."""
        return self.space.features(self.K.rows(index))

    def take_all(self) -> FloatArray:
        """All rows."""
        return self.space.features(self.K.all_rows())

    def weighted_sum(self, multipliers: FloatArray) -> FloatArray:
        """The sum of all rows, each times its multiplier."""
        total: FloatArray = self.space.features(self.K.weighted_sum(multipliers)[None])[0]
        return total

    def products(self, index: NDArray[np.intp]) -> FloatArray:
        """The products of some rows with each other."""
        Phi = self.take(index)
        products: FloatArray = Phi @ Phi.T
        return products


class SharedFeatures(RidgeFeatures):
    """The same for several losses: the products of all rows are computed once."""

    @cached_property
    def _all_products(self) -> FloatArray:
        Phi = self.take_all()
        products: FloatArray = Phi @ Phi.T
        return products

    def products(self, index: NDArray[np.intp]) -> FloatArray:
        return self._all_products[index].take(index, axis=1)
