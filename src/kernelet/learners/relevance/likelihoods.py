"""Likelihoods of the relevance vector machine, with the mode of the posterior for given precisions.

Both are quadratic around the mode, log p = const - 1/2 (f - t)'B(f - t): exactly for Gaussian
noise, by Laplace's approximation for labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from kernelet.kernels.numerics.arrays import FloatArray

# Guards: Newton's method from weights nearby takes a few steps, and a step that twelve halvings,
# to 1/4096 of its length, do not make good is lost in rounding error.
_MAX_NEWTON = 25
_MAX_HALVINGS = 12
# Armijo's rule: the share of the promised rise that a step must bring, as in the textbooks.
_ENOUGH = 1e-4
# A step whose Newton decrement is below this share of the objective ends the search for the mode:
# states are compared by their evidence up to the same share.
_MODE_TOL = 1e-10
# Where no step can be seen to raise the objective, a decrement below this share is the mode too.
_MODE_IN_SIGHT = 1e-6
# Lower bound of the curvatures: rows classified with certainty add no information.
_LEAST_CURVATURE = 1e-12
# The change of the log noise that counts: far below that of precisions at rest, 1e-2.
_NOISE_TOL = 1e-4
# The share of the rows that are degrees of freedom of the noise, at least: it must not vanish
# where the columns explain all of them.
_LEAST_FREE = 1e-3
# Lifts of the diagonal that are tried, in shares of the trace: from rounding error upwards.
_LIFTS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of the weights of some columns, for given precisions.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Its mode.
    factor : ndarray of shape (m, m)
        Lower Cholesky factor of the Hessian H = Phi'B Phi + A.
    curvature : ndarray of shape (n,)
        The diagonal of B.
    residual : ndarray of shape (n,)
        B (t - Phi w), the slope of log p in f.
    evidence : float
        log marginal likelihood: log p(t | w) - 1/2 w'Aw + 1/2 log |A| - 1/2 log |H|.
    """

    weights: FloatArray
    factor: FloatArray
    curvature: FloatArray
    residual: FloatArray
    evidence: float

    def covariance(self) -> FloatArray:
        """The inverse of the Hessian."""
        # the factor has zeros above its diagonal, and so has this
        half, _ = dpotri(self.factor, lower=1)
        inverse: FloatArray = half + half.T
        inverse.ravel()[:: half.shape[0] + 1] = half.diagonal()
        return inverse


def hessian_factor(Phi: FloatArray, curvature: FloatArray, alpha: FloatArray) -> FloatArray:
    """Lower factor of Phi'B Phi + A, lifted by rounding error where that is all that is missing.

    LAPACK is called without SciPy's checks, which take longer than a small matrix.
    """
    # a product of an array with itself takes half as long; columns are contiguous in the search
    scaled = Phi.T * np.sqrt(curvature)
    H = scaled @ scaled.T
    diagonal = H.ravel()[:: alpha.size + 1]
    diagonal += alpha
    for lift in _LIFTS:
        if lift:
            diagonal += lift * float(diagonal.sum())
        factor: FloatArray
        # H is symmetric, and its transpose in the order of LAPACK
        factor, fault = dpotrf(H.T, lower=1, clean=1)
        # some LAPACKs see no fault in NaN, which ends up in the last pivot wherever it was
        if not fault and factor[-1, -1] > 0.0:
            return factor
    raise LinAlgError("the Hessian of the posterior is not positive definite")


def solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """H^-1 right."""
    solution: FloatArray
    solution, _ = dpotrs(factor, right, lower=1)
    return solution


class Likelihood(ABC):
    """p(t | f) of all rows, each counted as often as its weight says."""

    t: FloatArray

    @abstractmethod
    def posterior(self, Phi: FloatArray, alpha: FloatArray, start: FloatArray) -> Posterior:
        """Mode and curvature for the precisions alpha, from weights nearby."""

    def refined(self, Phi: FloatArray, alpha: FloatArray, posterior: Posterior) -> Likelihood:
        """The likelihood with what it has of its own estimated again."""
        return self


@final
class BernoulliLikelihood(Likelihood):
    """p(t = 1 | f) = 1 / (1 + exp(-f)), for labels t of 0 and 1."""

    def __init__(self, t: FloatArray, weights: FloatArray) -> None:
        self.t = t
        self.weights = weights
        self._half, self._centred, self._side = 0.5 * weights, weights * (t - 0.5), 1.0 - 2.0 * t

    def posterior(self, Phi: FloatArray, alpha: FloatArray, start: FloatArray) -> Posterior:
        mode, found = self._newton(Phi, alpha, start)
        if not found and start.any():
            # far out all rows are classified with certainty, and the curvature vanishes
            other, _ = self._newton(Phi, alpha, np.zeros(alpha.size))
            return other if other.evidence > mode.evidence else mode
        return mode

    def _newton(
        self, Phi: FloatArray, alpha: FloatArray, start: FloatArray
    ) -> tuple[Posterior, bool]:
        """The mode by damped Newton steps, and whether it was reached."""
        w, found = start, False
        f = Phi @ w
        value = self._log_likelihood(f) - 0.5 * float(alpha @ (w * w))
        for _ in range(_MAX_NEWTON):
            # p(t = 1) = (1 + h) / 2, with the slope (1 - h^2) / 4
            h = np.tanh(0.5 * f)
            pull = self._half * h
            residual = self._centred - pull
            curvature = np.maximum(0.5 * (self._half - pull * h), _LEAST_CURVATURE)
            factor = hessian_factor(Phi, curvature, alpha)
            gradient = residual @ Phi - alpha * w
            step = solved(factor, gradient)
            decrement = float(gradient @ step)
            found = decrement <= _MODE_TOL * (1.0 + abs(value))
            if found:
                break
            df, enough = Phi @ step, _ENOUGH * decrement
            for _ in range(_MAX_HALVINGS):
                w_new, f_new = w + step, f + df
                moved = self._log_likelihood(f_new) - 0.5 * float(alpha @ (w_new * w_new))
                if moved >= value + enough:
                    break
                step, df, enough = 0.5 * step, 0.5 * df, 0.5 * enough
            else:
                # a step that is too small to be seen in the value: here is the mode
                found = decrement <= _MODE_IN_SIGHT * (1.0 + abs(value))
                break
            w, f, value = w_new, f_new, moved
        # 1/2 log |A| - 1/2 log |H|
        evidence = value + 0.5 * float(np.log(alpha / factor.diagonal() ** 2).sum())
        return Posterior(w, factor, curvature, residual, evidence), found

    def _log_likelihood(self, f: FloatArray) -> float:
        # log(1 + exp(f)) - t f without overflow; the second term is log(1 + exp(-|f|))
        loss = np.maximum(self._side * f, 0.0) + np.log1p(np.exp(np.copysign(f, -1.0)))
        return -float(self.weights @ loss)


@final
class GaussianLikelihood(Likelihood):
    """p(t | f) = N(t; f, noise), with the noise variance learned."""

    def __init__(self, t: FloatArray, weights: FloatArray, noise: float, least: float) -> None:
        self.t = t
        self.weights = weights
        self.noise = noise
        self.least = least
        self.total = float(weights.sum())

    def posterior(self, Phi: FloatArray, alpha: FloatArray, start: FloatArray) -> Posterior:
        curvature = self.weights / self.noise
        factor = hessian_factor(Phi, curvature, alpha)
        w = solved(factor, (curvature * self.t) @ Phi)
        rest = self.t - Phi @ w
        fit = -0.5 * float(curvature @ (rest * rest))
        fit -= 0.5 * self.total * float(np.log(2.0 * np.pi * self.noise))
        log_det = 2.0 * float(np.log(factor.diagonal()).sum())
        evidence = fit - 0.5 * float(alpha @ (w * w))
        evidence += 0.5 * float(np.log(alpha).sum()) - 0.5 * log_det
        return Posterior(w, factor, curvature, curvature * rest, evidence)

    def refined(self, Phi: FloatArray, alpha: FloatArray, posterior: Posterior) -> Likelihood:
        """Noise by MacKay's fixed point, rest'rest / (N - sum_j (1 - alpha_j Sigma_jj))."""
        rest = self.t - Phi @ posterior.weights
        used = float((1.0 - alpha * np.diagonal(posterior.covariance())).sum())
        free = max(self.total - used, _LEAST_FREE * self.total)
        noise = max(float(self.weights @ (rest * rest)) / free, self.least)
        if abs(np.log(noise / self.noise)) <= _NOISE_TOL:
            return self
        return GaussianLikelihood(self.t, self.weights, noise, self.least)
