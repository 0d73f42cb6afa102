"""The core vector machine: an SVM as a minimum enclosing ball (Tsang, Kwok, Cheung 2005)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.model_file import saved
from kernelet.learners.core_vectors.estimator import CoreSetEstimator
from kernelet.learners.core_vectors.growth import learn_core_vectors
from kernelet.learners.core_vectors.result import CoreSetSettings
from kernelet.learners.core_vectors.rows import CoreSetData
from kernelet.machine import KernelMachine


@saved(
    n_core_vectors_=np.ndarray,
    radii_=np.ndarray,
    reach_=float,
    gap_=float,
    objective_=float,
    n_iter_=int,
    interrupted_=bool,
)
class CoreVectorSVC(CoreSetEstimator, KernelClassifier):
    r"""A support vector machine whose training cost hardly depends on the number of rows.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2 + \tfrac12 b^2
        + \tfrac12 \sum_i C_i \max\bigl(0, 1 - y_i (w'\varphi(x_i) + b)\bigr)^2

    is the smallest ball around the points :math:`(y_i \varphi(x_i), y_i, y_i e_i / \sqrt{C_i})`.
    The ball around a few of them, the core set, grows by the furthest of 59 random rows until,
    enlarged by 1 + eps, it seems to hold all. Then all rows are checked, a block at a time, and
    those outside join, until there are none. Many classes are one-vs-rest.

    If the classes overlap, this machine has a multiplier for every row that violates its margin,
    and a few core vectors cannot come near it: ``max_iter`` ends the growth, with a warning. Use
    `ReducedSVC` or `SparseSVC` for such data.

    The rows may be a `numpy.memmap`, `kernelet.rows.Chunks` of files or Dask collections, or come
    in batches (`fit_batches`): they are then never in memory all at once. An array of 100 000 rows
    or more is also read in blocks, and its equal rows are not merged, unless a sample shows many of
    them. Merge equal rows of a file beforehand: each of them needs a core vector.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a squared margin violation, divided by 2 as in the paper: scikit-learn's LinearSVC
        has half this value for its C.
    eps : float, default=1e-3
        All rows lie within 1 + eps times the radius of the ball around the core set, which itself
        is not larger than the smallest ball.
    tol : float or None, default=0.1
        Relative duality gap to reach as well: the radius consists mostly of constants, so eps alone
        says little about w if many rows violate the margins. eps is halved until the gap is
        reached. None means the paper's rule if k(x, x) is constant, and 0.1 otherwise.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object, positive definite. The paper needs a constant k(x, x); if it is
        not, the points get one more coordinate that makes it so.
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does; "mean_distance" is one over the mean
        squared distance between two rows.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    sample_size : int or None, default=59
        Number of rows drawn at random, of which the furthest joins. With 59 it is among the
        furthest 5 %, with 95 % confidence. With None, or at most 2000 rows and ``exact_sweep``,
        all rows are checked from the start.
    exact_sweep : bool, default=True
        Check all rows at the end, which proves the guarantee. Otherwise it is only probable, and
        ``tol`` has no effect.
    max_iter : int, default=5000
        Maximum number of core vectors of each binary machine.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th round to standard error.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The core vectors of all binary machines, rows of the training data.
    n_vectors_ : int
        Number of expansion vectors.
    n_core_vectors_ : ndarray of shape (n_outputs,)
        Number of core vectors of each binary machine.
    radii_ : ndarray of shape (n_outputs,)
        Radii of the balls around the core sets.
    reach_ : float
        Distance of the furthest row divided by the radius, the largest of all binary machines: at
        most 1 + eps. NaN if not all rows were checked.
    gap_ : float
        Largest relative duality gap; NaN likewise.
    objective_ : float
        Value of the problem, summed over the classes; a lower bound if not all rows were checked.
    n_iter_ : int
        Steps: rows that have joined a core set, over all binary machines.
    interrupted_ : bool
        Whether Ctrl-C ended the growth; the machine found until then is kept.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    I. W. Tsang, J. T. Kwok, P.-M. Cheung, "Core vector machines: fast SVM training on very large
    data sets", JMLR 6 (2005); I. W. Tsang, A. Kocsor, J. T. Kwok, "Efficient kernel feature
    extraction for massive data sets", KDD 2006, algorithm 2 and equation (10).

    Examples
    --------
    >>> from kernelet.datasets import make_twonorm
    >>> X, y = make_twonorm(20000, random_state=0)
    >>> model = CoreVectorSVC(random_state=0).fit(X[:10000], y[:10000])
    >>> bool(model.score(X[10000:], y[10000:]) > 0.97), bool(model.reach_ <= 1.001)
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        eps: float = 1e-3,
        tol: float | None = 0.1,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        sample_size: int | None = 59,
        exact_sweep: bool = True,
        max_iter: int = 5000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.eps = eps
        self.tol = tol
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

    def _learn(self, data: CoreSetData) -> KernelMachine:
        settings = CoreSetSettings.of(self, data.kernel)
        with self._loop(data) as loop:
            learned = learn_core_vectors(data, settings, loop)
        return self._stored(learned)
