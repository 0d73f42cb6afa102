"""The direct method on kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import count
from kernelet.learners.base.training_data import unlabelled_data
from kernelet.learners.base.transformer import KernelFeatures
from kernelet.learners.base.vectors import HasVectors
from kernelet.learners.direct.estimator import FITTED, DirectEstimator
from kernelet.learners.direct.inverse_transform import WAY_BACK, WayBack
from kernelet.learners.direct.pre_images import learn_pre_images
from kernelet.learners.direct.problems.pca import PrincipalProblem
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine import KernelMachine

# Components with less than this share of the first one's variance are rounding errors.
_NO_VARIANCE = 1e-12


@saved(explained_variance_=np.ndarray, **WAY_BACK, **FITTED)
class SparseKernelPCA(
    HasVectors,
    WayBack,
    DirectEstimator,
    KernelFeatures,
):
    r"""Kernel PCA whose number of vectors is fixed in advance.

    The direct method learns expansion vectors Z whose span holds orthonormal directions that keep
    most of the variance, by gradient descent on the marginal objective

    .. math:: W(Z) = &\min_{w_1, \dots, w_k} -\sum_j \mathrm{var}\, \langle w_j, \phi(x)\rangle
        \\ &\text{s.t.}\quad \langle w_i, w_j \rangle = \delta_{ij}, \quad
        w_j \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where the inner problem is solved by eigenvalues at every step. With all rows as vectors it is
    scikit-learn's KernelPCA, up to signs.

    Parameters
    ----------
    n_vectors : int, default=20
        The budget: kernel evaluations per row, for all components together.
    n_components : int or None, default=None
        Number of components; None means one for each vector.
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "poly", "matern52", ...) or a kernel object with input gradients.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does. It is not learned: variances in two
        feature spaces cannot be compared, and the error of `inverse_transform` on new rows shows
        which kernels are too narrow, but not which are too wide.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    fit_inverse_transform : bool, default=False
        Whether to learn `inverse_transform` as well: a kernel ridge machine from the components to
        the rows, with the same number of vectors.
    init : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        Where the vectors start; an array has shape (n_vectors, n_features).
    n_init : int, default=1
        Number of starts; the result with the lowest W is kept.
    max_iter : int, default=300
        Steps of L-BFGS for each start.
    tol : float, default=1e-3
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
        Computes the components.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors.
    n_vectors_ : int
        Number of expansion vectors.
    n_components_ : int
        Number of components.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component over the training rows: scikit-learn's ``eigenvalues_`` divided
        by the number of rows.
    inverse_machine_ : KernelMachine or None
        Maps components to rows, if ``fit_inverse_transform``.
    objective_ : float
        W at the end: the negative of the variance that is kept.
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

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> pca = SparseKernelPCA(n_vectors=20, n_components=5, random_state=0).fit(X)
    >>> pca.transform(X).shape, pca.n_vectors_
    ((1797, 5), 20)
    """

    def __init__(
        self,
        n_vectors: int = 20,
        *,
        n_components: int | None = None,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_inverse_transform: bool = False,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-3,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_inverse_transform = fit_inverse_transform
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the components.

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
        """
        data = unlabelled_data(self, X, sample_weight)
        (budget,) = self._budgets(1)
        wanted = budget if self.n_components is None else count("n_components", self.n_components)
        if wanted > budget:
            raise ValueError(
                f"{wanted} components need at least as many vectors, n_vectors={budget}; raise "
                "n_vectors or give a smaller n_components."
            )
        problem = PrincipalProblem(data.weights, wanted)
        rows = RowsInMemory(data.X, data.weights, problem)
        learned = self._search_vectors([rows], data.kernel, data.rng)
        machine = self._store(learned, data.kernel)
        variance = 0.5 * learned.searches[0].best.norm_gradient
        kept = np.arange(variance.size) == 0
        kept |= variance > _NO_VARIANCE * variance[0]
        self.explained_variance_ = np.maximum(variance[kept], 0.0)
        self.machine_ = KernelMachine(
            machine.kernel,
            machine.vectors,
            machine.coefficients[:, kept],
            machine.intercepts[kept],
        )
        warn_if_constant(self, data.X)
        back = None
        if self.fit_inverse_transform:
            seed = int(data.rng.randint(np.iinfo(np.int32).max))
            # after Ctrl-C nobody waits for more than a step
            max_iter = 1 if learned.interrupted else self.max_iter
            search = learn_pre_images(self.machine_, data.X, data.weights, max_iter, self.tol, seed)
            back = search.best.machine
            if search.interrupted:
                self.interrupted_ = True
                search.warn_unless_converged(f"inverse_transform of {type(self).__name__}")
        self._keep_way_back(back)
        return self

    def _check_loaded(self) -> None:
        self._recall_vectors()
        self._check_way_back()
