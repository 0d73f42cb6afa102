"""The direct method on kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import cost
from kernelet.learners.base.regressor import KernelRegressor
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.budgets.estimator import BudgetEstimator
from kernelet.learners.direct.estimator import FITTED
from kernelet.learners.direct.problems.ridge import RidgeProblem, leave_one_out
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine import KernelMachine


@saved(loo_error_=float, kernel_gain_=float, _path=np.ndarray, **FITTED)
class SparseKernelRidge(BudgetEstimator, KernelRegressor):
    r"""Kernel ridge regression whose number of vectors is fixed in advance.

    The direct method learns the expansion vectors Z together with the machine, by gradient descent
    on the marginal objective

    .. math:: W(Z) = &\min_{w, b} \sum_k \tfrac12 \|w_k\|^2
        + \tfrac12 \sum_{i,k} C_i \bigl(y_{ik} - \langle w_k, \phi(x_i)\rangle - b_k\bigr)^2
        \\ &\text{s.t.}\quad w_k \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where the inner problem is a linear system. Several targets share the vectors. With all rows
    as vectors and ``fit_intercept=False`` it is scikit-learn's KernelRidge with ``alpha=1/C``.

    Parameters
    ----------
    n_vectors : int or "auto", default=20
        The budget: kernel evaluations per prediction, for all targets together.

        "auto" chooses it in three folds, drawn with ``random_state``: the fewest of 5, 10, 20, 50,
        100, 200 whose R2 is within one standard error of the best, or with ``max_bytes``
        the best that fits. See ``path_``.
    max_bytes : float or None, default=None
        The most bytes that the constants of the exported machine may take, labels included
        (`kernelet.machine.stored_bytes`): with ``vector_bits`` those of its integers, otherwise
        of float32. ``n_vectors="auto"`` keeps to it; with a number of vectors, `fit` raises an
        error if the machine is larger.
    target : {"c"}, default="c"
        What ``max_bytes`` counts: the constants of exported C.
    C : float or "auto", default="auto"
        Cost of half a squared deviation. "auto" chooses a power of ten by validation on a
        held-out quarter of the rows (of at most 4000), or, if these are few, by cross-validation
        over all four quarters. See ``C_``.
    fit_intercept : bool, default=True
        Whether to add a bias, which is not penalised.
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "poly", "matern52", ...) or a kernel object with input gradients.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    learn_kernel : {"auto", "features", "projection", True, False}, default="auto"
        What to learn of a radial kernel along with the vectors, starting from ``gamma``:

        - "features": a scale for each feature (`kernelet.kernels.ScaledFeatures`);
        - "projection": a matrix of ``rank`` combinations of the features
          (`kernelet.kernels.ProjectedFeatures`);
        - True: one width for all features; False: nothing;
        - "auto": a projection if there are at most 20 features and at least 40 rows per feature,
          otherwise a scale for each feature; nothing if the kernel is not radial. With
          ``n_vectors="auto"`` and ``max_bytes``, held-out rows decide between that and
          projections of rank 8 to 16.
    rank : int or None, default=None
        Number of rows of the matrix that ``learn_kernel="projection"`` learns; None means 20, or
        the number of features if that is smaller.
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
    tol : float, default=1e-2
        The search ends after three steps in a row that each lower W by a share of less than
        ``0.1 * tol`` (with more than ten vectors, ``tol / sqrt(10 * n_vectors)``). If the loss is
        smooth and there are more than 20 vectors, this share is ``n_vectors / 20`` times that of
        20 vectors, but at most three times.
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
    path_ : dict of ndarray
        What ``n_vectors="auto"`` chose from: "n_vectors", and for each of these numbers "score",
        the R2 of the rows held out, its "standard_error" (over these rows), and the mean "bytes"
        of the machines. Empty arrays if a number was given.
    objective_ : float
        W at the end, summed over the targets.
    loo_error_ : float
        Mean squared leave-one-out deviation over all targets, with the vectors fixed. The vectors
        were learned from all rows, so it is too low if there are few rows per vector.
    C_ : float
        The cost, given or chosen.
    kernel_gain_ : float
        Relative decrease of W compared with the given kernel over the same vectors; 0 if the
        kernel is not learned.
    history_ : list of ndarray
        One array: W after each step, including the regulariser if scales of features are learned.
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
    >>> import numpy as np
    >>> X = np.linspace(-10.0, 10.0, 201)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi)
    >>> model = SparseKernelRidge(n_vectors=8, C=1e3, gamma=0.1, random_state=0).fit(X, y)
    >>> model.n_vectors_, bool(model.score(X, y) > 0.999)
    (8, True)
    """

    _multi_output = True

    def __init__(
        self,
        n_vectors: int | str = 20,
        *,
        max_bytes: float | None = None,
        target: str = "c",
        C: float | str = "auto",
        fit_intercept: bool = True,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        learn_kernel: bool | str = "auto",
        rank: int | None = None,
        vector_bits: int | None = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-2,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.max_bytes = max_bytes
        self.target = target
        self.C = C
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.learn_kernel = learn_kernel
        self.rank = rank
        self.vector_bits = vector_bits
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> KernelMachine:
        C, bias = cost(self.C), bool(self.fit_intercept)
        problem = RidgeProblem(data.targets, C * data.weights, bias)
        rows = RowsInMemory(data.X, data.weights, problem, data.targets)
        machine = self._machine_over([rows], data)
        deviations = leave_one_out(machine, data.X, data.targets, data.weights, self.C_, bias)
        share = data.weights / data.weights.sum()
        self.loo_error_ = float(np.mean(share @ np.square(deviations)))
        return machine

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._recall_vectors()
