"""The relevance vector machine as a classifier (Tipping 2001; Tipping and Faul 2003)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.relevance.estimator import RelevanceEstimator
from kernelet.learners.relevance.learn import KernelBasis
from kernelet.learners.relevance.likelihoods import BernoulliLikelihood
from kernelet.machine import KernelMachine, SigmoidCalibration


@lazy_methods
@saved(objective_=float, evidence_path_=list, n_iter_=int)
class RelevanceVectorClassifier(RelevanceEstimator, KernelClassifier):
    r"""The relevance vector machine: a sparse Bayesian classifier with probabilities.

    .. math:: p(y = 1 \mid x) = \frac1{1 + e^{-f(x)}}, \qquad
        f(x) = \sum_j w_j k(x, x_j) + b, \qquad w_j \sim N(0, \alpha_j^{-1}),

    with the precisions that make the data most probable,

    .. math:: \max_\alpha \log \int p(y \mid w) \, p(w \mid \alpha) \, dw,

    where the integral is computed by Laplace's approximation around the mode of the posterior. Most
    precisions are infinite at the maximum, and their rows are not needed. There is no cost
    parameter to choose. The search is the fast sequential one, with exchanges of one vector for
    another at its end; only steps that raise the evidence are taken. Many classes are one-vs-rest
    and share the vectors. Memory grows with the square of the number of distinct rows.

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
        Additions and exchanges, for each binary machine.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the likelihood.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The relevance vectors, rows of the training data.
    n_vectors_ : int
        Number of expansion vectors.
    objective_ : float
        Log marginal likelihood, summed over the binary machines, which is maximised. The bias has
        a prior precision of 1e-12.
    evidence_path_ : list of ndarray of shape (n_steps, 2)
        Number of vectors and log evidence after each step, for each binary machine.
    n_iter_ : int
        Steps, over all binary machines.
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
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = RelevanceVectorClassifier(gamma=2.0).fit(X, y)
    >>> model.n_vectors_
    3
    >>> model.predict_proba([[-0.3, 0.3]]).round(2)
    array([[0.62, 0.38]])
    """

    _rescales_kernel_values = True

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.verbose = verbose

    def _learn(self, data: TrainingData) -> KernelMachine:
        basis = KernelBasis.of(data.X, data.kernel, data.weights)
        likelihoods = [
            BernoulliLikelihood(0.5 * (column + 1.0), data.weights) for column in data.targets.T
        ]
        rows = {"X": data.X, "y": self.classes_[data.codes]}
        states = self._search(basis.columns, likelihoods, basis.machine, **rows)
        self.objective_ = float(sum(state.evidence for state in states))
        return basis.machine(states)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes.

        For several classes, the probabilities of the binary machines are divided by their sum.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        k = self.machine_.n_outputs
        return SigmoidCalibration(np.full(k, -1.0), np.zeros(k)).probabilities(scores)
