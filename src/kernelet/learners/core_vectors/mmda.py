"""Maximum margin discriminant analysis, also of massive data (Tsang, Kocsor, Kwok 2006)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.base.model_file import require, require_outputs, saved
from kernelet.learners.base.parameters import choice, count
from kernelet.learners.base.transformer import KernelFeatures
from kernelet.learners.core_vectors.estimator import CoreSetEstimator
from kernelet.learners.core_vectors.margin_directions import (
    SOLVERS,
    Solver,
    learn_margin_features,
    spread,
)
from kernelet.learners.core_vectors.result import CoreSetSettings
from kernelet.learners.core_vectors.rows import CoreSetData
from kernelet.machine import KernelMachine


@saved(
    feature_classes_=np.ndarray,
    n_core_vectors_=np.ndarray,
    radii_=np.ndarray,
    reach_=float,
    gap_=float,
    objective_=float,
    n_iter_=int,
    interrupted_=bool,
)
class MaxMarginDiscriminantAnalysis(CoreSetEstimator, KernelFeatures):
    r"""Features that are distances from hyperplanes, each orthogonal to those before.

    The first feature of a class is the normal w of the hyperplane that separates it from the rest
    with the largest margin. Each further one has the largest margin among the normals orthogonal to
    all before:

    .. math:: \min_{w, b} \tfrac12 \|w\|^2 + \tfrac12 b^2
        + \tfrac12 \sum_i C_i \max\bigl(0, 1 - y_i (w'\varphi(x_i) + b)\bigr)^2
        \quad\text{s.t.}\quad w_q'w = 0,

    equations (2) and (6). A feature is the signed distance :math:`(w'\varphi(x) + b) / \|w\|`.

    The rows may be a `numpy.memmap`, `kernelet.rows.Chunks` of files or Dask collections, or come
    in batches (`fit_batches`): they are then never in memory all at once. An array of 100 000 rows
    or more is also read in blocks, and its equal rows are not merged, unless a sample shows many of
    them. Merge equal rows of a file beforehand: each of them needs a core vector.

    Parameters
    ----------
    n_components : int or None, default=None
        Total number of features, spread evenly over the classes; None means one for each class, or
        one for two classes, whose hyperplanes are the same.
    C : float, default=1.0
        Cost of a squared margin violation, divided by 2 as in the paper: scikit-learn's LinearSVC
        has half this value for its C.
    eps : float, default=1e-3
        Accuracy of the core sets: all rows lie within 1 + eps times the radius of the ball that
        gives a machine.
    tol : float or None, default=None
        Relative duality gap to reach as well. None means the paper's rule, which makes features of
        few kernel values, if k(x, x) is constant, and 0.1 otherwise: the radius is then that of the
        longest row, and eps alone says little about w. The same holds for a large C or a tiny
        weight: give ``tol`` then.
    solver : {"core_set", "exact"}, default="core_set"
        Balls around core sets, or the exact machines, over all rows in memory (algorithm 1).
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object, positive definite. The paper needs a constant k(x, x); if it is
        not, the points get one more coordinate that makes it so.
    gamma : {"mean_distance", "scale", "auto"} or float, default="mean_distance"
        Kernel coefficient: one over the mean squared distance between two rows as in the paper, or
        as in scikit-learn.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    sample_size : int or None, default=59
        Number of rows drawn at random, of which the furthest joins a core set. With 59 it is among
        the furthest 5 %, with 95 % confidence. With None, or at most 2000 rows and ``exact_sweep``,
        all rows are checked from the start.
    exact_sweep : bool, default=True
        Check all rows at the end, which proves the guarantee. Otherwise it is only probable, and
        ``tol`` has no effect.
    max_iter : int, default=5000
        Maximum number of core vectors of a feature; for the exact solver, of linear systems.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th round to standard error.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Attributes
    ----------
    machine_ : KernelMachine
        Computes the features, over the core vectors of all of them.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_classes_ : ndarray of shape (n_components,)
        Index of the class that each feature separates from the rest.
    n_components_ : int
        Number of features: first one for each class, then the next one for each.
    n_core_vectors_ : ndarray of shape (n_components,)
        Number of core vectors of each feature. Kernel values with the core vectors of earlier
        features of its class are shared with these.
    radii_ : ndarray of shape (n_components,)
        Radii of the balls around the core sets; of the smallest balls with the exact solver.
    reach_ : float
        Distance of the furthest row divided by the radius, the largest of all features: at most
        1 + eps. NaN if not all rows were checked.
    gap_ : float
        Largest relative duality gap; NaN likewise.
    objective_ : float
        Sum of the values of the problems; a lower bound if not all rows were checked.
    n_iter_ : int
        Steps: rows that have joined a core set, or linear systems, over all features.
    interrupted_ : bool
        Whether Ctrl-C ended the growth; features found until then are kept, and the others are
        learned from few rows.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    I. W. Tsang, A. Kocsor, J. T. Kwok, "Efficient kernel feature extraction for massive data sets",
    KDD 2006, algorithms 1 and 2 and equations (1)-(18).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> features = MaxMarginDiscriminantAnalysis(random_state=0).fit(X[:1000], y[:1000])
    >>> nearest = KNeighborsClassifier(1).fit(features.transform(X[:1000]), y[:1000])
    >>> features.n_components_, bool(nearest.score(features.transform(X[1000:]), y[1000:]) > 0.95)
    (10, True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        C: float = 1.0,
        eps: float = 1e-3,
        tol: float | None = None,
        solver: str = "core_set",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "mean_distance",
        degree: int = 3,
        coef0: float = 0.0,
        sample_size: int | None = 59,
        exact_sweep: bool = True,
        max_iter: int = 5000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.eps = eps
        self.tol = tol
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.sample_size = sample_size
        self.exact_sweep = exact_sweep
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state

    def _leaves(self, X: Any) -> bool:
        # a file can be mapped into memory, which the exact solver needs
        return super()._leaves(X) and not (self._solver.needs_memory and isinstance(X, np.ndarray))

    @property
    def _solver(self) -> Solver:
        return SOLVERS[choice("solver", self.solver, SOLVERS)]

    def _learn(self, data: CoreSetData) -> KernelMachine:
        solver, codes = self._solver, data.codes
        wanted = len(codes)
        if self.n_components is not None:
            wanted = count("n_components", self.n_components)
        rounds, settings = spread(wanted, codes), CoreSetSettings.of(self, data.kernel)
        with self._loop(data) as loop:
            learned = learn_margin_features(data, rounds, solver, settings, loop)
        self.feature_classes_ = np.concatenate(rounds).astype(np.intp)
        return self._stored(learned)

    def _check_loaded(self) -> None:
        require(self, "classes_", "feature_classes_")
        require_outputs(self, self.feature_classes_.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
