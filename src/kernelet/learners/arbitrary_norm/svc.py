"""The support vector machine with any norm of its coefficients (Huang, Zheng, King, Lyu 2009)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kernelet.kernels import Kernel
from kernelet.learners.arbitrary_norm.estimator import NormEstimator, saved_norm
from kernelet.learners.arbitrary_norm.losses import HingeLoss
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.parameters import factor
from kernelet.learners.base.training_data import TrainingData
from kernelet.machine import KernelMachine


@saved_norm
class NormSVC(NormEstimator, KernelClassifier):
    r"""A support vector machine with a penalty on the p-norm of its coefficients.

    .. math:: &\min_{\alpha, b} \tfrac12 \alpha' R \alpha
        + \frac{C_{norm}}{p} \sum_j |\alpha_j|^p
        + \sum_i C_i \max\bigl(0, 1 - y_i f(x_i)\bigr),
        \\ &f(x) = \sum_j \alpha_j k(x, x_j) + b,

    with :math:`R = K`, the margin, or :math:`R = I`. For p = 0 the penalty is
    :math:`C_{norm} \sum_j \log |\alpha_j|`, which leaves extremely few vectors: rows of the
    training data, not near the boundary but typical of their class. Each step solves the SVM for a
    quadratic penalty that touches the true one at the current coefficients, and drops those that
    have become negligible. Many classes are one-vs-rest and share the vectors.

    All distinct rows are candidates at first, so memory grows with the square and time with the
    cube of their number: some thousands are no problem.

    Parameters
    ----------
    p : float or "inf", default=0
        The norm, from 0 to 2, or "inf" for the largest coefficient. From 0 to 1 the machine is
        sparse; for p < 1 the solution is a local minimum.
    C : float, default=1.0
        Cost of a margin violation.
    C_norm : float, default=0.1
        Weight of the norm; towards 0 the machine is scikit-learn's SVC. The paper's C_alpha, in
        the scaling of its (3.7).
    n_vectors : int or None, default=None
        The largest number of vectors. If given, ``C_norm`` is only the start of a search for the
        value that leaves at most this many.
    regularizer : {"kernel", "ridge"}, default="kernel"
        R; "ridge" is the paper's variant without a matrix inversion, which is less sparse.
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
        Steps for each binary machine.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors, rows of the training data.
    n_vectors_ : int
        Number of expansion vectors.
    C_norm_ : float
        The weight of the norm that was used.
    objective_ : float
        Value of the problem, summed over the classes; for p = 0 the logarithms are those of the
        coefficients that are left.
    sparsity_path_ : list of ndarray of shape (n_steps, 2)
        Number of vectors and objective after each step, for each binary machine.
    gap_ : float
        Largest relative duality gap of the last step's problems.
    n_iter_ : int
        Steps, over all binary machines.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    K. Huang, D. Zheng, I. King, M. R. Lyu, "Arbitrary norm support vector machines", Neural
    Computation 21 (2009), equations (3.5)-(3.12).

    Examples
    --------
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = NormSVC(p=0, C=1.0, C_norm=0.2, gamma=2.0).fit(X, y)
    >>> model.n_vectors_
    4
    >>> X_test, y_test = make_ripley(5000, random_state=1)
    >>> bool(model.score(X_test, y_test) > 0.89)
    True
    """

    def __init__(
        self,
        p: float | str = 0,
        *,
        C: float = 1.0,
        C_norm: float = 0.1,
        n_vectors: int | None = None,
        regularizer: str = "kernel",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.C = C
        self.C_norm = C_norm
        self.n_vectors = n_vectors
        self.regularizer = regularizer
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.verbose = verbose

    def _learn(self, data: TrainingData) -> KernelMachine:
        costs = factor("C", self.C) * data.weights
        losses = [HingeLoss(column, costs) for column in data.targets.T]
        return self._learn_norm(data, self.classes_[data.codes], losses)
