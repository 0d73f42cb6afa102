"""Reduced support vector machines: vectors chosen first, coefficients second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import bits_or_none, choice, count, factor, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.fixed_vectors import (
    REGULARIZERS,
    FixedVectors,
    learn_classes,
)
from kernelet.machine import KernelMachine
from kernelet.subspace import seed_vectors


@saved(objective_=float, gap_=float, n_iter_=int)
class ReducedSVC(KernelClassifier):
    r"""A support vector machine over a few vectors that are chosen, not learned.

    .. math:: \min_{\beta, b} \tfrac12 \beta' R \beta
        + \sum_i C_i \max\bigl(0, 1 - y_i(\beta'\psi_z(x_i) + b)\bigr)

    with :math:`R = K^z` (``regularizer="margin"``, the MRSVM, equations (28)-(30)) or
    :math:`R = I` (``"ridge"``, the RSVM of Lee and Mangasarian). Many classes are one-vs-rest and
    share the vectors.

    Parameters
    ----------
    n_vectors : int, default=20
        The budget: kernel evaluations per prediction. Ignored when ``init`` is a fitted model.
    C : float, default=1.0
        Cost of a margin violation.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    regularizer : {"margin", "ridge"}, default="margin"
        Penalise the norm of the function, or the norm of its coefficients.
    vector_bits : int or None, default=None
        Round the vectors to this many bits an entry (2 to 16), on a grid that is even in the units
        of the kernel, and solve the convex problem again over the rounded vectors; coefficients
        then have 4 to 8 bits, or 16. 4 or 5 bits cost next to no accuracy. ``machine_`` holds
        exactly what exports store, for instance ``export.c(model, path, dtype="q7")``.
    init : {"random", "kmeans", "greedy", "sgma"}, array or fitted model, default="random"
        Where the vectors come from. A fitted model gives its ``vectors_`` (or scikit-learn's
        ``support_vectors_``); new coefficients are found for them by (45).
    tol : float, default=1e-6
        Relative duality gap of the solution.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    random_state : int, RandomState instance or None, default=None
        Draws the vectors.

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
        Value of the problem, summed over the classes.
    gap_ : float
        Largest relative duality gap among the classes.
    n_iter_ : int
        Number of Newton systems solved.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    M. Wu, B. Schölkopf, G. Bakır, JMLR 7 (2006), sections 3.2 and 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ReducedSVC(n_vectors=10, C=10.0, init="kmeans", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.gap_ < 1e-6)
    (True, True)
    """

    def __init__(
        self,
        n_vectors: int = 20,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        regularizer: str = "margin",
        vector_bits: int | None = None,
        init: str | ArrayLike | Any = "random",
        tol: float = 1e-6,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.regularizer = regularizer
        self.vector_bits = vector_bits
        self.init = init
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state

    _learns_out_of_core = True

    def _learn(self, data: TrainingData | OutOfCoreData) -> KernelMachine:
        vectors = self._seeded(data.at_hand)
        with Loop(self):
            learned = learn_classes(
                data,
                self.C,
                data.kernel,
                vectors,
                regularizer=self.regularizer,
                tol=self.tol,
                vector_bits=bits_or_none("vector_bits", self.vector_bits),
            )
        return self._stored(learned)

    def _seeded(self, data: TrainingData) -> FloatArray:
        """The vectors, drawn from these rows or given; checks the parameters first."""
        choice("regularizer", self.regularizer, REGULARIZERS)
        factor("C", self.C)
        positive("tol", self.tol)
        method: Any = vectors_of(self.init)
        n_vectors = None
        if method is None:
            method, n_vectors = self.init, count("n_vectors", self.n_vectors)
        return seed_vectors(data.X, n_vectors, method, data.kernel, data.rng, data.weights)

    def _stored(self, learned: FixedVectors) -> KernelMachine:
        self.objective_ = learned.objective
        self.gap_ = learned.gap
        self.n_iter_ = max(1, sum(solution.n_iter for solution in learned.solutions))
        stuck = [solution for solution in learned.solutions if not solution.is_optimal]
        if stuck:
            warn_caller(
                f"ReducedSVC only reached a relative gap of {self.gap_:.1e}: "
                f"{stuck[0].status.value}.",
                ConvergenceWarning,
            )
        return learned.machine


def vectors_of(init: Any) -> np.ndarray | None:
    """Vectors of a fitted model: ours, scikit-learn's, or a machine's; None for anything else."""
    if isinstance(init, KernelMachine):
        return np.asarray(init.vectors)
    for name in ("vectors_", "support_vectors_", "relevance_vectors_"):
        vectors = getattr(init, name, None)
        if vectors is not None:
            dense = vectors.toarray() if hasattr(vectors, "toarray") else vectors
            return np.asarray(dense, dtype=np.float64)
    if isinstance(init, BaseEstimator):
        check_is_fitted(init)
        raise ValueError(f"init must be a model with vectors; {type(init).__name__} has none.")
    return None
