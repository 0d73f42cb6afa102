"""The relevance vector machine as a regressor (Tipping 2001; Tipping and Faul 2003)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import require, saved
from kernelet.learners.base.regressor import KernelRegressor
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.base.validation import validate_data
from kernelet.learners.relevance.estimator import RelevanceEstimator
from kernelet.learners.relevance.learn import KernelBasis
from kernelet.learners.relevance.likelihoods import GaussianLikelihood
from kernelet.learners.relevance.precisions import State
from kernelet.machine import KernelMachine
from kernelet.persistence import ModelFileError

# Variances of the noise, in units of the targets' own. Where the search begins is not critical: the
# noise is estimated again at every step.
_FIRST_NOISE = 0.1
# The least keeps the curvature, which is its inverse, within the digits of double precision.
_LEAST_NOISE = 1e-10


@lazy_methods
@saved(
    objective_=float,
    noise_variance_=float,
    covariance_=np.ndarray,
    evidence_path_=list,
    n_iter_=int,
)
class RelevanceVectorRegressor(RelevanceEstimator, KernelRegressor):
    r"""The relevance vector machine: sparse Bayesian regression with error bars.

    .. math:: y = \sum_j w_j k(x, x_j) + b + \varepsilon, \qquad
        w_j \sim N(0, \alpha_j^{-1}), \quad \varepsilon \sim N(0, \sigma^2),

    with the precisions and the noise that make the data most probable. Most precisions are infinite
    at the maximum, and their rows are not needed. Only the kernel's parameters have to be chosen.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object; it need not be positive definite.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        The search ends when no vector is expected to raise the log evidence by more.
    max_iter : int, default=1000
        Additions and exchanges.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The relevance vectors, rows of the training data.
    n_vectors_ : int
        Number of expansion vectors.
    noise_variance_ : float
        The variance of the noise.
    covariance_ : ndarray of shape (n_vectors + 1, n_vectors + 1)
        Posterior covariance of the intercept and the coefficients.
    objective_ : float
        Log marginal likelihood, which is maximised. The bias has a prior precision of 1e-12, in
        units of the targets' standard deviation.
    evidence_path_ : list of ndarray of shape (n_steps, 2)
        One array: number of vectors and log evidence after each step.
    n_iter_ : int
        Steps taken.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    M. E. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 1 (2001);
    M. E. Tipping, A. C. Faul, "Fast marginal likelihood maximisation for sparse Bayesian models",
    AISTATS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(-10.0, 10.0, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    >>> model = RelevanceVectorRegressor(gamma=0.1).fit(X, y)
    >>> bool(model.n_vectors_ < 12)
    True
    >>> bool(0.08 < model.noise_variance_ ** 0.5 < 0.12)
    True
    """

    noise_variance_: float
    covariance_: FloatArray

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _learn(self, data: TrainingData) -> KernelMachine:
        basis = KernelBasis.of(data.X, data.kernel, data.weights)
        standard = (data.targets - data.centre) / data.size
        likelihood = GaussianLikelihood(standard, data.weights, _FIRST_NOISE, _LEAST_NOISE)
        machine = partial(basis.machine, centre=data.centre, size=data.size)
        rows = {"X": data.X, "y": data.targets}
        (state,) = self._search(basis.columns, [likelihood], machine, **rows)
        self._store(state, basis, data)
        self.objective_ = state.evidence - float(data.weights.sum() * np.log(data.size))
        return machine([state])

    def _store(self, state: State, basis: KernelBasis, data: TrainingData) -> None:
        assert isinstance(state.likelihood, GaussianLikelihood)
        self.noise_variance_ = data.size**2 * state.likelihood.noise
        # the machine has its vectors in the order of the rows
        order = np.concatenate([[0], 1 + np.argsort(state.index[1:])])
        units = np.append(1.0, basis.scale[state.index[1:] - 1])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            covariance = data.size**2 * state.posterior.covariance() / np.outer(units, units)
        if not np.isfinite(covariance).all():
            raise ValueError(
                f"{basis.kernel!r} has values of next to nothing on the rows, so that variances "
                "of coefficients overflow; scale the data, or change gamma, coef0 or degree."
            )
        self.covariance_ = covariance[np.ix_(order, order)]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted targets of the rows, and their standard deviations on request.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the prediction too, noise included.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them
        """
        means = self._scores(X)
        if not return_std:
            return means
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        columns = np.column_stack(
            [np.ones(X.shape[0]), self.machine_.kernel(X, np.asarray(self.machine_.vectors))]
        )
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.einsum("ij,jk,ik->i", columns, self.covariance_, columns)
            deviations = np.sqrt(self.noise_variance_ + np.maximum(spread, 0.0))
        if not np.isfinite(deviations).all():
            raise ValueError(
                "the standard deviations are not finite: sums over the covariance overflow; scale "
                "X as the training rows were, or fit again on scaled rows."
            )
        return means, deviations

    def _check_loaded(self) -> None:
        super()._check_loaded()
        require(self, "covariance_", "noise_variance_")
        covariance, size = self.covariance_, self.machine_.n_vectors + 1
        if covariance.shape != (size, size) or covariance.dtype != np.float64:
            raise ModelFileError("the covariance is for another number of vectors")
        largest = max(1.0, self.machine_.kernel.largest_value)
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.abs(covariance).sum() + self.noise_variance_
            total = total if largest == np.inf else total * largest**2
        if not (np.isfinite(total) and self.noise_variance_ >= 0.0):
            raise ModelFileError("the variances are not finite, or so large that sums overflow")
