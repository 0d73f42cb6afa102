"""The direct method on the SVM: sparse large margin classifiers (Wu, Schölkopf, Bakır 2006)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import choice, cost, positive
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.budgets.estimator import BudgetEstimator
from kernelet.learners.direct.estimator import FITTED
from kernelet.learners.direct.losses import find_loss
from kernelet.learners.direct.problems.svm import ClassProblem
from kernelet.learners.direct.search.learn import INNER_SHARE
from kernelet.learners.direct.search.rows import labelled_rows
from kernelet.machine import KernelMachine
from kernelet.solvers.blocks.margins import Targets


@saved(kernel_gain_=float, _path=np.ndarray, **FITTED)
class SparseSVC(BudgetEstimator, KernelClassifier):
    r"""A support vector machine whose number of vectors is fixed in advance.

    The direct method learns the expansion vectors Z together with the machine, by gradient descent
    on the marginal objective

    .. math:: W(Z) = &\min_{w, b} \sum_k \tfrac12 \|w_k\|^2
        + \sum_{i,k} C_i\, \ell\bigl(y_{ik} (\langle w_k, \phi(x_i)\rangle + b_k)\bigr)
        \\ &\text{s.t.}\quad w_k \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where the inner problem is solved exactly at every step. Many classes are one-vs-rest.

    Parameters
    ----------
    n_vectors : int, "auto" or sequence of int, default=20
        The budget: kernel evaluations per prediction. With ``vectors="per_class"`` it counts for
        each class, and may be a sequence with one number per class.
        "auto" chooses it in three folds, drawn with ``random_state``: the fewest of 5, 10, 20, 50,
        100, 200 whose accuracy is within one standard error of the best, or with ``max_bytes``
        the best that fits. See ``path_``.
    max_bytes : float or None, default=None
        The most bytes that the constants of the exported machine may take, labels included
        (`kernelet.machine.stored_bytes`): with ``vector_bits`` those of its integers, otherwise
        of float32. ``n_vectors="auto"`` keeps to it; with a number of vectors, `fit` raises an
        error if the machine is larger.
    target : {"c"}, default="c"
        What ``max_bytes`` counts: the constants of exported C.
    C : float or "auto", default="auto"
        Cost of a margin violation, as in scikit-learn's SVC. "auto" chooses a power of ten by
        validation on a held-out quarter of the rows (of at most 4000), or, if these are few, by
        cross-validation over all four quarters. See ``C_``.
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
          otherwise a scale for each feature; nothing if the kernel is not radial or the vectors
          are not shared. With ``n_vectors="auto"`` and ``max_bytes``, held-out rows decide
          between that and projections of rank 8 to 16.
    rank : int or None, default=None
        Number of rows of the matrix that ``learn_kernel="projection"`` learns; None means 20, or
        the number of features if that is smaller.
    loss : {"squared_hinge", "hinge"} or registered name, default="squared_hinge"
        The squared hinge is smooth: vectors and scales are found in one fast descent. The hinge is
        the paper's; its search starts where that of the squared hinge ends.
    vectors : {"shared", "per_class"}, default="shared"
        One common set of vectors for all classes, so that many classes cost no more kernel
        evaluations than one; or separate vectors for each class, as in the paper.
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
    checkpoint : path-like or None, default=None
        A file that holds vectors, kernel and cost after every step. An interrupted fit continues
        from it when it is run again with the same parameters and rows; a completed fit removes it.
    warm_start : bool, default=False
        Start from the vectors of the last fit. If ``n_vectors`` has changed, vectors are added
        where they help most, or the least useful ones dropped.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_jobs : int, default=None
        Threads for independent searches (``vectors="per_class"``); None means 1, -1 all cores.
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
    path_ : dict of ndarray
        What ``n_vectors="auto"`` chose from: "n_vectors", and for each of these numbers "score",
        the accuracy of the rows held out, its "standard_error" (over these rows), and the mean
        "bytes" of the machines. Empty arrays if a number was given.
    objective_ : float
        W at the end, summed over the classes.
    C_ : float
        The cost, given or chosen.
    kernel_gain_ : float
        Relative decrease of W compared with the given kernel over the same vectors; 0 if the
        kernel is not learned.
    history_ : list of ndarray
        For each independent search, W after each step of the start that was kept; it includes the
        regulariser if scales of features are learned.
    n_iter_ : int
        Steps taken, over all searches that were kept.
    n_evaluations_ : int
        Total number of evaluations of W and its gradient.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best vectors found until then are kept.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    M. Wu, B. Schölkopf, G. Bakır, "A direct method for building sparse kernel learning
    algorithms", JMLR 7 (2006), equations (20)-(46).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = SparseSVC(n_vectors=20, C=10.0, random_state=0).fit(X_train, y_train)
    >>> model.n_vectors_
    20
    >>> bool(model.score(X_test, y_test) > 0.97)
    True
    """

    def __init__(
        self,
        n_vectors: int | str | Sequence[int] = 20,
        *,
        max_bytes: float | None = None,
        target: str = "c",
        C: float | str = "auto",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        learn_kernel: bool | str = "auto",
        rank: int | None = None,
        loss: str = "squared_hinge",
        vectors: str = "shared",
        vector_bits: int | None = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-2,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.max_bytes = max_bytes
        self.target = target
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.learn_kernel = learn_kernel
        self.rank = rank
        self.loss = loss
        self.vectors = vectors
        self.vector_bits = vector_bits
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _learns_out_of_core = True

    def _learn(self, data: TrainingData | OutOfCoreData) -> KernelMachine:
        loss = find_loss(self.loss)
        shared = choice("vectors", self.vectors, ("shared", "per_class")) == "shared"
        C, tol = cost(self.C), INNER_SHARE * positive("tol", self.tol)
        targets = Targets.of_classes(data.n_classes)
        sets = [targets] if shared else [targets.some([k]) for k in range(targets.n_outputs)]
        if not shared:  # all machines together choose the cost and the kernel
            sets.append(targets)
        *rows, whole = [
            labelled_rows(data, ClassProblem(each, C, loss, tol), self.classes_) for each in sets
        ]
        return self._machine_over(rows or [whole], data, whole)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._recall_vectors()
