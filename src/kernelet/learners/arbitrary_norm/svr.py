"""Support vector regression with any norm of its coefficients."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from kernelet.kernels import Kernel
from kernelet.learners.arbitrary_norm.estimator import NormEstimator, saved_norm
from kernelet.learners.arbitrary_norm.losses import EpsilonLoss
from kernelet.learners.base.parameters import factor
from kernelet.learners.base.regressor import KernelRegressor
from kernelet.learners.base.training_data import TrainingData
from kernelet.machine import KernelMachine


@saved_norm
class NormSVR(NormEstimator, KernelRegressor):
    r"""Support vector regression with a penalty on the p-norm of its coefficients.

    .. math:: &\min_{\alpha, b} \tfrac12 \alpha' R \alpha
        + \frac{C_{norm}}{p} \sum_j |\alpha_j|^p
        + \sum_i C_i \max\bigl(0, |y_i - f(x_i)| - \epsilon\bigr),
        \\ &f(x) = \sum_j \alpha_j k(x, x_j) + b,

    the method of `NormSVC` with another loss.

    Parameters
    ----------
    p : float or "inf", default=0
        The norm, from 0 to 2, or "inf" for the largest coefficient. From 0 to 1 the machine is
        sparse.
    C : float, default=1.0
        Cost of a deviation beyond epsilon.
    epsilon : float, default=0.1
        Deviations up to this size cost nothing.
    C_norm : float, default=0.1
        Weight of the norm; towards 0 the machine is scikit-learn's SVR.
    n_vectors : int or None, default=None
        The largest number of vectors. If given, ``C_norm`` is only the start of a search for the
        value that leaves at most this many.
    regularizer : {"kernel", "ridge"}, default="kernel"
        R: the Gram matrix, or the identity, which is less sparse.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    tol : float, default=1e-4
        Coefficients below this share of the largest are dropped, and the fit ends when none
        changes by more.
    max_iter : int, default=100
        Steps.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors, rows of the training data.
    n_vectors_ : int
        Number of expansion vectors.
    C_norm_ : float
        The weight of the norm that was used.
    objective_ : float
        Value of the problem; for p = 0 the logarithms are those of the coefficients that are left.
    sparsity_path_ : list of ndarray of shape (n_steps, 2)
        One array: number of vectors and objective after each step.
    gap_ : float
        Relative duality gap of the last step's problem.
    n_iter_ : int
        Steps taken.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    K. Huang, D. Zheng, I. King, M. R. Lyu, "Arbitrary norm support vector machines", Neural
    Computation 21 (2009), propositions 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-10.0, 10.0, 201)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi)
    >>> model = NormSVR(C=10.0, epsilon=0.01, C_norm=1e-3, gamma=0.1).fit(X, y)
    >>> bool(model.n_vectors_ < 20), bool(model.score(X, y) > 0.99)
    (True, True)
    """

    def __init__(
        self,
        p: float | str = 0,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        C_norm: float = 0.1,
        n_vectors: int | None = None,
        regularizer: str = "kernel",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.C = C
        self.epsilon = epsilon
        self.C_norm = C_norm
        self.n_vectors = n_vectors
        self.regularizer = regularizer
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _learn(self, data: TrainingData) -> KernelMachine:
        costs = factor("C", self.C) * data.weights
        epsilon = self.epsilon
        if not isinstance(epsilon, Real) or not 0.0 <= float(epsilon) < float("inf"):
            raise ValueError(f"epsilon must be a finite number, not below zero; got {epsilon!r}.")
        loss = EpsilonLoss(data.targets, costs, float(epsilon), data.size)
        return self._learn_norm(data, data.targets, [loss], data.size)
