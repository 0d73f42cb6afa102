"""The direct method on the one-class SVM."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.lazy_prediction import lazy_methods
from kernelet.learners.base.model_file import SavableMixin, require_outputs, saved
from kernelet.learners.base.parameters import positive
from kernelet.learners.base.prediction_rows import inliers_of_scores, prediction_rows
from kernelet.learners.base.progress import CallbackSupportMixin
from kernelet.learners.base.training_data import unlabelled_data
from kernelet.learners.base.vectors import HasVectors
from kernelet.learners.direct.estimator import FITTED, DirectEstimator
from kernelet.learners.direct.kernel_learning.guards import HeldOutVolume, shuffled_features
from kernelet.learners.direct.problems.interval import OneClassProblem
from kernelet.learners.direct.search.learn import INNER_SHARE
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading

# Scores this near to the boundary, as a share of those before the offset, are on it.
_ON_THE_BOUNDARY = 1e-3
# An exact solution leaves at most nu outside; a few rows near the boundary may be on either side.
_MANY = 0.05


@lazy_methods
@saved(kernel_gain_=float, **FITTED)
class SparseOneClassSVM(
    HasVectors, DirectEstimator, SavableMixin, CallbackSupportMixin, OutlierMixin, BaseEstimator
):
    r"""A one-class SVM whose number of vectors is fixed in advance.

    The direct method learns the expansion vectors Z together with the machine, by gradient descent
    on the marginal objective

    .. math:: W(Z) = &\min_{w, \rho} \tfrac12 \|w\|^2
        + \sum_i C_i \max\bigl(0, \rho - \langle w, \phi(x_i)\rangle\bigr)
        - \nu \rho \sum_i C_i
        \\ &\text{s.t.}\quad w \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where C_i is the weight of a row and the inner problem is solved exactly at every step. With
    all rows as vectors it is scikit-learn's OneClassSVM, in the same units.

    Parameters
    ----------
    n_vectors : int, default=20
        The budget: kernel evaluations per prediction.
    nu : float, default=0.5
        Share of the training rows that may lie outside, above 0 and at most 1.
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "poly", "matern52", ...) or a kernel object with input gradients.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    learn_kernel : bool, default=False
        Learn the width of a radial kernel, starting from ``gamma``: the one that best separates a
        held-out quarter of the rows from rows whose features are shuffled. One width for all
        features.
    vector_bits : int or None, default=None
        Round the vectors to this many bits an entry (2 to 16), on a grid that is even in the units
        of the kernel, and solve the convex problem again over the rounded vectors; coefficients
        then have 4 to 8 bits, or 16. 4 or 5 bits cost next to no accuracy. ``machine_`` holds
        exactly what exports store, for instance ``export.c(model, path, dtype="q7")``.
    init : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        Where the vectors start; an array has shape (n_vectors, n_features).
    n_init : int, default=1
        Number of starts; the result with the lowest W is kept.
    max_iter : int, default=300
        Steps of L-BFGS for each start.
    tol : float, default=3e-3
        The search ends after three steps in a row that each lower W by a share of less than
        ``0.1 * tol`` (with more than ten vectors, ``tol / sqrt(10 * n_vectors)``).
    warm_start : bool, default=False
        Start from the vectors of the last fit. If ``n_vectors`` has changed, vectors are added
        where they help most, or the least useful ones dropped.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial vectors.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors.
    n_vectors_ : int
        Number of expansion vectors.
    offset_ : ndarray of shape (1,)
        Offset rho: ``decision_function = score_samples - offset_``.
    objective_ : float
        W at the end.
    kernel_gain_ : float
        Relative decrease, by ``learn_kernel``, of one minus the area under the ROC curve of
        held-out rows against shuffled ones; 0 if the kernel is not learned.
    history_ : list of ndarray
        One array: W after each step.
    n_iter_ : int
        Steps taken.
    n_evaluations_ : int
        Number of evaluations of W and its gradient.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best vectors found until then are kept.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    M. Wu, B. Schölkopf, G. Bakır, "A direct method for building sparse kernel learning
    algorithms", JMLR 7 (2006), section 2.

    I. Steinwart, D. Hush, C. Scovel, "A classification framework for anomaly detection", JMLR 6
    (2005), for the choice of the width.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = SparseOneClassSVM(n_vectors=5, nu=0.1, random_state=0).fit(X)
    >>> model.n_vectors_, model.predict([[0.0, 0.0], [5.0, 5.0]])
    (5, array([ 1, -1]))
    """

    machine_: KernelMachine
    _reading = Reading.OUTLIERS
    _learns_features = False
    # whether kernel values are divided by their size before they are squared; if not,
    # `training_kernel` refuses those with squares beyond double precision
    _rescales_kernel_values = False

    # a row that differs from all others in a column that was constant is an outlier
    _drops_constant = False

    def __init__(
        self,
        n_vectors: int = 20,
        *,
        nu: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        learn_kernel: bool = False,
        vector_bits: int | None = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 3e-3,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.learn_kernel = learn_kernel
        self.vector_bits = vector_bits
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight of w is the same as w repetitions.

        Returns
        -------
        self : object
            The fitted detector.
        """
        data = unlabelled_data(self, X, sample_weight)
        if not isinstance(self.nu, Real) or not 0.0 < float(self.nu) <= 1.0:
            raise ValueError(f"nu must be above 0 and at most 1; got {self.nu!r}.")
        tol = INNER_SHARE * positive("tol", self.tol)
        problem = OneClassProblem(data.weights, float(self.nu), tol)
        rows = RowsInMemory(data.X, data.weights, problem)
        learned = self._search_vectors([rows], data.kernel, data.rng)
        self.machine_ = self._store(learned, data.kernel)
        warn_if_constant(self, data.X)
        if self.vector_bits is None:  # rounding moves rows across the boundary
            self._warn_if_many_outside(data.X, data.weights)
        return self

    def _warn_if_many_outside(self, X: Rows, weights: FloatArray) -> None:
        """Warn if more rows lie outside than a solution leaves there."""
        scores = self.machine_.decision_function(X)
        size = float(np.abs(scores + self.offset_).max())
        outside = float(weights @ (scores < -_ON_THE_BOUNDARY * size)) / float(weights.sum())
        if outside > self.nu + _MANY:
            warn_caller(
                f"SparseOneClassSVM: {outside:.0%} of the training rows lie outside, by weight, "
                f"with nu={self.nu:g}; an exact solution leaves no more than nu. Probably the "
                "scores are rounding errors, because seen from the origin of the feature space of "
                f"{self.machine_.kernel!r} the rows lie on all sides, or a few are much longer "
                "than the others. Take kernel='rbf', or scale the columns of X."
            )

    @property
    def offset_(self) -> FloatArray:
        """The offset of the scores, as in scikit-learn's OneClassSVM."""
        offset: FloatArray = -np.asarray(self.machine_.intercepts)
        return offset

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance to the boundary; positive for inliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = prediction_rows(self, X)
        scores: FloatArray = self.machine_.decision_function(X)
        return scores

    def score_samples(self, X: Any) -> FloatArray:
        """Scores before the offset is subtracted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + float(self.offset_[0])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """+1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return inliers_of_scores(self.decision_function(X))

    @staticmethod
    def _guard(
        X: Any, problem: OneClassProblem, held: NDArray[np.intp], seed: int
    ) -> HeldOutVolume:
        return HeldOutVolume(X[held], problem.C[held], shuffled_features(X, problem.C, seed))

    def _check_loaded(self) -> None:
        require_outputs(self, 1)
        self._recall_vectors()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
