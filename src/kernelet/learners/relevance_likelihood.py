"""Likelihoods of the relevance vector machine, with the mode of the posterior for given precisions.

Both are quadratic around the mode, log p = const - 1/2 (f - t)'B(f - t): exactly for Gaussian
noise, by Laplace's approximation for labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from kernelet._accelerate import accelerated, interruption

FloatArray = NDArray[np.float64]

_MAX_NEWTON = 25
_MAX_HALVINGS = 12
# A step whose Newton decrement is below this share of the objective ends the search for the mode.
_MODE_TOL = 1e-10
# Curvatures are no smaller: rows that are told apart with certainty say nothing more.
_LEAST_CURVATURE = 1e-12
_NOISE_TOL = 1e-4
# Lifts of the diagonal that are tried, in shares of the trace.
_LIFTS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6)
# Multiplications in a Hessian, beyond which BLAS beats compiled loops.
_LARGE = 5_000_000
_LIMITS = (float(_MAX_NEWTON), float(_MAX_HALVINGS), _MODE_TOL, _LEAST_CURVATURE)
_NOT_DEFINITE = "the Hessian of the posterior is not positive definite"


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
    # a product of an array with itself takes half as long
    scaled = np.sqrt(curvature)[:, None] * Phi
    H = scaled.T @ scaled
    diagonal = H.ravel()[:: alpha.size + 1]
    diagonal += alpha
    size = float(diagonal.sum())
    for lift in _LIFTS:
        diagonal += lift * size
        factor: FloatArray
        factor, fault = dpotrf(H, lower=1, clean=1)
        if not fault:
            return factor
    raise LinAlgError(_NOT_DEFINITE)


def solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    """H^-1 right."""
    solution: FloatArray
    solution, _ = dpotrs(factor, right, lower=1)
    return solution


@dataclass(frozen=True, eq=False)
class Loops:
    """The compiled twins of `BernoulliLikelihood.posterior` and `settled`."""

    jitted: ModuleType
    t: FloatArray
    weights: FloatArray

    def posterior(self, Phi: FloatArray, alpha: FloatArray, start: FloatArray) -> Posterior:
        """Mode and curvature for the precisions alpha."""
        return self.settled(Phi, alpha, start, (0.0, 0.0, 0.0), (0.0, 0.0))[2]

    def settled(
        self,
        Phi: FloatArray,
        alpha: FloatArray,
        start: FloatArray,
        sweeps: tuple[float, float, float],
        bounds: tuple[float, float],
    ) -> tuple[NDArray[np.intp], FloatArray, Posterior]:
        """Which columns are left at rest, their precisions, and their posterior."""
        columns = np.ascontiguousarray(Phi.T)
        try:
            inside, precisions, *posterior, has_factor = self.jitted.settled(
                columns, self.t, self.weights, alpha, start, sweeps, bounds, _LIMITS, _LIFTS
            )
        except SystemError as error:
            raise interruption(error) from None
        if not has_factor:
            raise LinAlgError(_NOT_DEFINITE)
        return inside, precisions, Posterior(*posterior)


class Likelihood(ABC):
    """p(t | f) of all rows, each counted as often as its weight says."""

    t: FloatArray

    def loops(self, n_columns: int) -> Loops | None:
        """The same as compiled loops, where there are any and they are faster."""
        return None

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

    def loops(self, n_columns: int) -> Loops | None:
        is_small = self.t.size * n_columns**2 < _LARGE
        jitted = accelerated("relevance") if is_small else None
        return None if jitted is None else Loops(jitted, self.t, self.weights)

    def posterior(self, Phi: FloatArray, alpha: FloatArray, start: FloatArray) -> Posterior:
        loops = self.loops(alpha.size)
        if loops is not None:
            return loops.posterior(Phi, alpha, start)
        mode, found = self._newton(Phi, alpha, start)
        if not found and start.any():
            # far out all rows are told apart with certainty, and the curvature says nothing
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
            sigma = 0.5 + 0.5 * np.tanh(0.5 * f)
            residual = self.weights * (self.t - sigma)
            curvature = np.maximum(self.weights * sigma * (1.0 - sigma), _LEAST_CURVATURE)
            factor = hessian_factor(Phi, curvature, alpha)
            gradient = residual @ Phi - alpha * w
            step = solved(factor, gradient)
            decrement = float(gradient @ step)
            found = decrement <= _MODE_TOL * (1.0 + abs(value))
            if found:
                break
            df, share = Phi @ step, 1.0
            for _ in range(_MAX_HALVINGS):
                w_new, f_new = w + share * step, f + share * df
                moved = self._log_likelihood(f_new) - 0.5 * float(alpha @ (w_new * w_new))
                if moved >= value + 1e-4 * share * decrement:
                    break
                share *= 0.5
            else:
                # a step that is too small to be seen in the value: here is the mode
                found = decrement <= 1e-6 * (1.0 + abs(value))
                break
            w, f, value = w_new, f_new, moved
        log_det = 2.0 * float(np.log(factor.diagonal()).sum())
        evidence = value + 0.5 * float(np.log(alpha).sum()) - 0.5 * log_det
        return Posterior(w, factor, curvature, residual, evidence), found

    def _log_likelihood(self, f: FloatArray) -> float:
        # log(1 + exp(f)) - t f without overflow
        loss = np.maximum(f, 0.0) + np.log1p(np.exp(-np.abs(f))) - self.t * f
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
        free = max(self.total - used, 1e-3 * self.total)
        noise = max(float(self.weights @ (rest * rest)) / free, self.least)
        if abs(np.log(noise / self.noise)) <= _NOISE_TOL:
            return self
        return GaussianLikelihood(self.t, self.weights, noise, self.least)
