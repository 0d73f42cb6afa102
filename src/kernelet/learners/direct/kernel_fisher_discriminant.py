"""Fisher features of many classes (Wu, Schölkopf, Bakır 2006, appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import count, factor
from kernelet.learners.base.training_data import labelled_data
from kernelet.learners.base.transformer import KernelFeatures
from kernelet.learners.direct.fisher_search import FisherSearch
from kernelet.learners.direct.problems.fisher import DiscriminantProblem
from kernelet.learners.direct.search.rows import RowsInMemory


@saved(objective_=float, n_iter_=int, interrupted_=bool)
class KernelFisherDiscriminant(FisherSearch, KernelFeatures):
    r"""Fisher features of many classes in a kernel's feature space.

    The leading directions of

    .. math:: S_b w = \lambda (S_w + \mu I) w,

    with the variance :math:`S_b` of the class means and the mean variance :math:`S_w` within the
    classes. There is at most one fewer than there are classes. They are expanded over all rows, or
    over a few vectors that are learned to maximise the sum of the eigenvalues.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features; None means one fewer than the number of classes, which is the maximum.
    n_vectors : int or None, default=None
        The budget of expansion vectors; None uses all rows.
    mu : float, default=1e-3
        Regularisation, in units of the variance in the feature space.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    init : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        Where the vectors start.
    max_iter : int, default=200
        Steps of L-BFGS.
    tol : float, default=1e-3
        The search ends after three steps in a row that each lower W by a share of less than
        ``0.1 * tol``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial vectors.

    Attributes
    ----------
    machine_ : KernelMachine
        Computes the features.
    n_components_ : int
        The number of features.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    objective_ : float
        Sum of the eigenvalues.
    n_iter_ : int
        Steps taken.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best vectors found until then are kept.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    M. Wu, B. Schölkopf, G. Bakır, JMLR 7 (2006), equations (49)-(63), for two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelFisherDiscriminant(n_vectors=10, random_state=0).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_vectors: int | None = None,
        mu: float = 1e-3,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        init: str | ArrayLike = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-3,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_vectors = n_vectors
        self.mu = mu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
        """
        data, self.classes_ = labelled_data(self, X, y, sample_weight)
        most = np.unique(data.codes).size - 1
        k = most if self.n_components is None else count("n_components", self.n_components)
        if k > most:
            raise ValueError(
                f"n_components={k} is more than {most}, one fewer than the number of classes."
            )
        if self.n_vectors is not None and k > count("n_vectors", self.n_vectors):
            raise ValueError(
                f"{k} features need at least as many vectors, n_vectors={self.n_vectors}; raise "
                "n_vectors or give a smaller n_components."
            )
        problem = DiscriminantProblem(data.codes, data.weights, factor("mu", self.mu), k)
        rows = RowsInMemory(data.X, data.weights, problem, self.classes_[data.codes])
        self.machine_ = self._directions(rows, data.kernel, data.rng).machine
        warn_if_constant(self, data.X)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
