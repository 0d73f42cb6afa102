"""Kernel Fisher discriminants, full and sparse (Wu, Schölkopf, Bakır 2006, appendix A)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import bits_or_none, factor
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.coefficient_bits import Judge, in_few_bits
from kernelet.learners.direct.fisher_search import FisherSearch
from kernelet.learners.direct.fixed_vectors import learn_classes
from kernelet.learners.direct.problems.fisher import ContrastBlockProblem
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.learners.direct.search.rows import labelled_rows
from kernelet.machine import KernelMachine
from kernelet.machine.rounding import vector_grid
from kernelet.solvers import hinge_ridge_many
from kernelet.solvers.blocks.margins import Targets


@saved(objective_=float, kernel_gain_=float, n_iter_=int, interrupted_=bool)
class KernelFisherClassifier(FisherSearch, KernelClassifier):
    r"""Kernel Fisher discriminant with a fixed number of vectors, or over all rows.

    .. math:: \max_w \frac{(w'(m_+ - m_-))^2}{w' S_w w + \mu \|w\|^2}

    where S_w is the mean within-class variance in the feature space. With ``n_vectors`` the
    direction is restricted to the span of that many vectors, learned by gradients (sparse KFD);
    their coefficients and the bias then come from the SVM over the vectors, as in the paper.
    With None, all rows are vectors, and slope and bias come from an SVM on the projected feature.
    Many classes are one-vs-rest and share the vectors.

    Parameters
    ----------
    n_vectors : int or None, default=None
        The budget; None uses all rows (KFD).
    mu : float, default=1e-3
        Regularisation, in units of the variance in the feature space.
    C : float, default=1.0
        Cost in the SVM that sets the bias.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    learn_kernel : {"auto", "features", "projection", True, False}, default=False
        What to learn of a radial kernel along with ``n_vectors`` vectors, as in `SparseSVC`.
    rank : int or None, default=None
        Number of rows of the matrix that ``learn_kernel="projection"`` learns; None means 20, or
        the number of features if that is smaller.
    vector_bits : int or None, default=None
        Round the vectors to this many bits an entry (2 to 16), on a grid that is even in the units
        of the kernel, and solve the convex problem again over the rounded vectors; coefficients
        then have 4 to 8 bits, or 16. 4 or 5 bits cost next to no accuracy. ``machine_`` holds
        exactly what exports store, for instance ``export.c(model, path, dtype="q7")``.
    init : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        Where the vectors start.
    max_iter : int, default=200
        Steps of L-BFGS.
    tol : float, default=1e-3
        The search ends after three steps in a row that each lower W by a share of less than
        ``0.1 * tol``.
    checkpoint : path-like or None, default=None
        A file that holds the vectors after every step. An interrupted fit continues from it when
        it is run again with the same parameters and rows; a completed fit removes it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th step to standard error.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial vectors.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The expansion vectors.
    n_vectors_ : int
        Number of expansion vectors.
    objective_ : float
        Sum over the classes of the largest eigenvalues (62), which is maximised.
    kernel_gain_ : float
        Relative increase of the objective compared with the given kernel over the same vectors; 0
        if the kernel is not learned.
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
    M. Wu, B. Schölkopf, G. Bakır, JMLR 7 (2006), equations (49)-(63).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherClassifier(n_vectors=5, random_state=0).fit(X, y)
    >>> model.n_vectors_, bool(model.score(X, y) > 0.95)
    (5, True)
    """

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        mu: float = 1e-3,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        learn_kernel: bool | str = False,
        rank: int | None = None,
        vector_bits: int | None = None,
        init: str | ArrayLike = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-3,
        checkpoint: str | os.PathLike[str] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.mu = mu
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.learn_kernel = learn_kernel
        self.rank = rank
        self.vector_bits = vector_bits
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state

    _learns_out_of_core = True

    def _learn(self, data: TrainingData | OutOfCoreData) -> KernelMachine:
        if self.n_vectors is None and isinstance(data, OutOfCoreData):
            raise ValueError(
                "n_vectors=None makes a vector of every row, so the rows must be in memory; "
                "give n_vectors."
            )
        mu, C = factor("mu", self.mu), factor("C", self.C)
        self.kernel_gain_ = 0.0
        problem = ContrastBlockProblem(Targets.of_classes(data.n_classes), mu)
        rows = labelled_rows(data, problem, self.classes_)
        end = self._directions(rows, data.kernel, data.rng)
        bits = bits_or_none("vector_bits", self.vector_bits)
        if self.n_vectors is not None:
            return learn_classes(data, C, end.kernel, end.vectors, vector_bits=bits).machine
        if bits is None:
            return self._with_bias(data.at_hand, end, C)
        X = data.at_hand.X
        grid = vector_grid(end.kernel, end.vectors, bits, droppable=rows.is_constant)
        objective = MarginalObjective(X, grid.full_kernel, rows.inner)
        again = objective.without_gradient(grid.vectors)
        return in_few_bits(grid, self._with_bias(data.at_hand, again, C), Judge.of_rows(X))

    def _with_bias(self, data: TrainingData, end: Evaluation, C: float) -> KernelMachine:
        """Slope and bias of each direction from an SVM on the one projected feature."""
        Y, costs = data.targets, C * data.weights
        scores = end.machine.decision_function(data.X).reshape(Y.shape)
        lines = [
            hinge_ridge_many(scores[:, k : k + 1], Y[:, k : k + 1], costs, tol=1e-6)[0]
            for k in range(Y.shape[1])
        ]
        slopes = np.array([line.weights[0] for line in lines])
        intercepts = np.array([line.intercept for line in lines])
        return KernelMachine(end.kernel, end.vectors, end.coefficients * slopes, intercepts)

    def _leaves(self, X: Any) -> bool:
        # if every row is a vector, rows that can be copied into memory are copied
        return super()._leaves(X) and not (self.n_vectors is None and isinstance(X, np.memmap))
