"""The direct method on support vector regression and quantile regression."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import choice, cost, positive
from kernelet.learners.base.regressor import KernelRegressor
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.budgets.estimator import BudgetEstimator
from kernelet.learners.direct.estimator import FITTED
from kernelet.learners.direct.problems.interval import IntervalProblem, SquaredIntervalProblem
from kernelet.learners.direct.search.learn import INNER_SHARE
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.machine import KernelMachine


@saved(kernel_gain_=float, _path=np.ndarray, **FITTED)
class SparseSVR(BudgetEstimator, KernelRegressor):
    r"""Support vector regression whose number of vectors is fixed in advance.

    The direct method learns the expansion vectors Z together with the machine, by gradient descent
    on the marginal objective

    .. math:: W(Z) = &\min_{w, b} \tfrac12 \|w\|^2
        + \sum_i C_i \max\bigl(0, |y_i - \langle w, \phi(x_i)\rangle - b| - \epsilon\bigr)
        \\ &\text{s.t.}\quad w \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where the inner problem is solved exactly at every step. With all rows as vectors it is
    scikit-learn's SVR. There are two other losses:

    - ``"squared_epsilon_insensitive"``,
      :math:`C_i \max(0, |y_i - f(x_i)| - \epsilon)^2`, as in scikit-learn's LinearSVR. It is
      smooth, which makes the search faster, but follows outliers more.
    - ``"quantile"``, :math:`C_i\, (q \max(0, y_i - f(x_i)) + (1 - q) \max(0, f(x_i) - y_i))`: a
      share q of the targets lies below the machine.

    Parameters
    ----------
    n_vectors : int or "auto", default=20
        The budget: kernel evaluations per prediction.

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
    C : float or "auto", default=1.0
        Cost of a deviation, or of its square, as in scikit-learn's SVR and LinearSVR. "auto"
        chooses it, a power of ten, by validation on held-out rows; see `SparseSVC`.
    epsilon : float, default=0.1
        Deviations up to this size cost nothing. Not used with ``loss="quantile"``.
    loss : str, default="epsilon_insensitive"
        "epsilon_insensitive" or "squared_epsilon_insensitive" for support vector regression,
        "quantile" for regression of a quantile.
    quantile : float, default=0.5
        The quantile to predict with ``loss="quantile"``, above 0 and below 1.
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "poly", "matern52", ...) or a kernel object with input gradients.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    learn_kernel : {"auto", "features", "projection", True, False}, default=False
        What to learn of a radial kernel along with the vectors, starting from ``gamma``:

        - "features": a scale for each feature (`kernelet.kernels.ScaledFeatures`);
        - "projection": a matrix of ``rank`` combinations of the features
          (`kernelet.kernels.ProjectedFeatures`);
        - True: one width for all features; False: nothing;
        - "auto": a projection if there are at most 20 features and at least 40 rows per feature,
          otherwise a scale for each feature; nothing if the kernel is not radial or the loss is
          "quantile". With ``n_vectors="auto"`` and ``max_bytes``, held-out rows decide between
          that and projections of rank 8 to 16.
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
    tol : float, default=3e-3
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
        W at the end.
    C_ : float
        The cost, given or chosen.
    kernel_gain_ : float
        Relative decrease of W compared with the given kernel over the same vectors; for a
        quantile, relative decrease of the loss on held-out rows. 0 if the kernel is not learned.
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
    >>> model = SparseSVR(n_vectors=8, C=10.0, epsilon=0.01, gamma=0.1, random_state=0).fit(X, y)
    >>> model.n_vectors_, bool(model.score(X, y) > 0.99)
    (8, True)
    """

    def __init__(
        self,
        n_vectors: int | str = 20,
        *,
        max_bytes: float | None = None,
        target: str = "c",
        C: float | str = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        quantile: float = 0.5,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        learn_kernel: bool | str = False,
        rank: int | None = None,
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
        self.max_bytes = max_bytes
        self.target = target
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.quantile = quantile
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
        rows = RowsInMemory(data.X, data.weights, self._problem(data), data.targets)
        return self._machine_over([rows], data)

    def _problem(self, data: TrainingData) -> IntervalProblem | SquaredIntervalProblem:
        costs = cost(self.C) * data.weights
        tol = INNER_SHARE * positive("tol", self.tol)
        return LOSSES[choice("loss", self.loss, LOSSES)](self, data, costs, tol)

    def _epsilon(self) -> float:
        epsilon = self.epsilon
        if not isinstance(epsilon, Real) or not 0.0 <= float(epsilon) < float("inf"):
            raise ValueError(f"epsilon must be a finite number, not below zero; got {epsilon!r}.")
        return float(epsilon)

    def _quantile(self) -> float:
        quantile = self.quantile
        if not isinstance(quantile, Real) or not 0.0 < float(quantile) < 1.0:
            raise ValueError(f"quantile must lie between 0 and 1; got {quantile!r}.")
        return float(quantile)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._recall_vectors()


# What makes the inner problem of each loss from the model, its rows, their costs and a tolerance.
LOSSES: dict[str, Callable[..., IntervalProblem | SquaredIntervalProblem]] = {
    "epsilon_insensitive": lambda model, data, costs, tol: IntervalProblem.tube(
        data.targets, costs, model._epsilon(), data.size, tol
    ),
    "squared_epsilon_insensitive": lambda model, data, costs, tol: SquaredIntervalProblem.tube(
        data.targets, costs, model._epsilon(), tol
    ),
    "quantile": lambda model, data, costs, tol: IntervalProblem.pinball(
        data.targets, costs, model._quantile(), data.size, tol
    ),
}
