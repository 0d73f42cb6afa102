"""The direct method on the SVM: sparse large margin classifiers (Wu, Schölkopf, Bakır 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from sklearn.base import clone

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.learners.classifier import KernelClassifier
from kernelet.learners.descent import Descent, Progress, minimize_over_vectors
from kernelet.learners.exchange import resized, revived
from kernelet.learners.marginal import MarginalObjective
from kernelet.learners.options import choice, count, positive
from kernelet.learners.progress import reporting
from kernelet.learners.saving import saved
from kernelet.learners.svm_problem import LOSSES, SVMProblem
from kernelet.learners.training import FloatArray, TrainingSet
from kernelet.machine import KernelMachine
from kernelet.solvers.parallel import map_in_threads
from kernelet.subspace import seed_vectors

# The inner solves need not be finer than the search over Z can tell.
_INNER_SHARE = 1e-2
# Seeding silences a warning for a moment. The filters of warnings belong to the whole process: two
# threads at it at once would leave them changed.
_SEEDING = Lock()


def learn_sparse_svm(
    X: Any,
    Y: FloatArray,
    costs: FloatArray,
    kernel: Kernel,
    vectors: FloatArray,
    *,
    loss: str = "hinge",
    max_iter: int = 300,
    tol: float = 3e-3,
    n_vectors: int | None = None,
    random_state: int = 0,
    on_step: Callable[[Progress], bool | None] | None = None,
) -> Descent:
    """Minimise the sum over the columns of Y of W_k(Z), from the given vectors.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    Y : ndarray of shape (n, k)
        Labels, -1 or +1; the k machines share the vectors.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    kernel : Kernel
    vectors : ndarray of shape (m, d)
        Where the search starts.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    max_iter : int, default=300
    tol : float, default=3e-3
    n_vectors : int, default=None
        Grow or shrink to so many vectors first.
    random_state : int, default=0
        Draws the rows that are looked at as new vectors.
    on_step : callable, default=None
        Called after every step; the search ends when it returns True.

    Returns
    -------
    Descent
    """
    require_input_gradient(kernel, "the direct method")
    objective = MarginalObjective(X, kernel, SVMProblem(Y, costs, loss, _INNER_SHARE * tol))
    rng = np.random.default_rng(random_state)
    if n_vectors is not None and n_vectors != vectors.shape[0]:
        vectors = resized(objective, objective(vectors), n_vectors, rng)
    return minimize_over_vectors(
        objective,
        vectors,
        max_iter=max_iter,
        tol=tol,
        revive=lambda at: revived(objective, at, rng),
        on_step=on_step,
    )


@saved(
    objective_=float,
    history_=list,
    n_iter_=int,
    n_evaluations_=int,
    interrupted_=bool,
    _set_sizes=np.ndarray,
)
class SparseSVC(KernelClassifier):
    r"""A support vector machine whose number of vectors is fixed in advance.

    The direct method learns the expansion vectors Z together with the machine, by gradient descent
    on the marginal objective

    .. math:: W(Z) = \min_{w, b} \sum_k \tfrac12 \|w_k\|^2
        + \sum_{i,k} C_i\, \ell\bigl(y_{ik} (\langle w_k, \phi(x_i)\rangle + b_k)\bigr)
        \quad\text{s.t.}\quad w_k \in \mathrm{span}\{\phi(z_1), \dots, \phi(z_m)\},

    where the inner problem is solved exactly at every step. Many classes are one-vs-rest.

    Parameters
    ----------
    n_vectors : int or sequence of int, default=20
        The budget: kernel evaluations per prediction. With ``vectors="per_class"`` it counts for
        each class, and may be a sequence with one number per class.
    C : float, default=1.0
        Cost of a margin violation, as in scikit-learn's SVC.
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "poly", "matern52", ...) or a kernel object with input gradients.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The paper's loss, or the smoother one.
    vectors : {"shared", "per_class"}, default="shared"
        One common set of vectors for all classes, so that many classes cost no more kernel
        evaluations than one; or vectors of its own for each class, as in the paper.
    init : {"kmeans", "random", "greedy", "sgma"} or array, default="kmeans"
        Where the vectors start; an array has shape (n_vectors, n_features).
    n_init : int, default=1
        Starts; the one with the lowest W is kept.
    max_iter : int, default=300
        Steps of L-BFGS for each start.
    tol : float, default=3e-3
        The search ends when W falls by less than a tenth of this share, three steps in a row;
        above ten vectors, by less than this divided by ``sqrt(10 n_vectors)``.
    warm_start : bool, default=False
        Start from the vectors of the last fit; vectors are added where they help most, or the
        least useful dropped, when ``n_vectors`` has changed.
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
    vectors_ : ndarray of shape (n_vectors_, n_features)
        The expansion vectors.
    n_vectors_ : int
        How many there are.
    objective_ : float
        W at the end, summed over the classes.
    history_ : list of ndarray
        W after each step of the search that was kept, for each independent search.
    n_iter_ : int
        Steps taken, over all searches that were kept.
    n_evaluations_ : int
        Evaluations of W and its gradient in all.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best vectors until then were kept.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, when X had any.

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
        n_vectors: int | Sequence[int] = 20,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: str = "hinge",
        vectors: str = "shared",
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 3e-3,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.vectors = vectors
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, data: TrainingSet) -> KernelMachine:
        choice("loss", self.loss, LOSSES)
        shared = choice("vectors", self.vectors, ("shared", "per_class")) == "shared"
        positive("C", self.C)
        positive("tol", self.tol)
        count("max_iter", self.max_iter)
        count("n_init", self.n_init)
        require_input_gradient(data.kernel, type(self).__name__)
        columns = [data.targets] if shared else [column[:, None] for column in data.targets.T]
        budgets = self._budgets(len(columns))
        seeds = data.rng.randint(np.iinfo(np.int32).max, size=(len(columns), self.n_init))
        starts = self._last_vectors(data, len(columns))
        lock, interrupted = Lock(), Event()
        ends: dict[int, Descent] = {}
        max_steps = self.max_iter * self.n_init * len(columns)
        rows = {"X": data.X, "y": self.classes_[data.codes]}
        with reporting(self, self.verbose, max_steps, **rows) as report:

            def search(k: int) -> None:
                def on_step(step: Progress) -> bool:
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    # one class of several is no classifier
                    attributes = (lambda: {"machine_": step.best.machine}) if shared else None
                    with lock:
                        return report(step, attributes)

                ends[k] = self._search(data, columns[k], budgets[k], seeds[k], starts[k], on_step)
                if ends[k].interrupted:  # the others end after a step
                    interrupted.set()

            try:
                map_in_threads(search, range(len(columns)), self.n_jobs or 1, interrupted.set)
            except KeyboardInterrupt:
                if not ends:
                    raise
                interrupted.set()
                for k in range(len(columns)):
                    if k not in ends:
                        search(k)
        return self._store([ends[k] for k in range(len(columns))], data.kernel)

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> list[SparseSVC]:
        """Fitted models for several budgets, each started from the one before.

        Increasing budgets add vectors where they lower W most, decreasing ones drop those that
        are missed least, and each machine is then polished. Each costs about as much as a fit of
        its own would; since it starts near its end, a looser ``tol`` (1e-2) does nearly as well
        at half the price. This estimator itself is left unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        list of SparseSVC
            One fitted estimator for each budget.
        """
        return list(self.iter_path(X, y, budgets, sample_weight))

    def iter_path(
        self,
        X: Any,
        y: ArrayLike,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[SparseSVC]:
        """The models of `fit_path` one after the other, each as soon as it is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Yields
        ------
        SparseSVC
            A fitted estimator for the next budget.
        """
        last: SparseSVC | None = None
        for budget in budgets:
            model: SparseSVC = clone(self).set_params(n_vectors=budget)
            if last is not None:
                model.set_params(warm_start=True)
                model._vector_sets = last._vector_sets
            model.fit(X, y, sample_weight)
            last = model.set_params(warm_start=self.warm_start)
            yield last

    def _budgets(self, n_searches: int) -> list[int]:
        if np.ndim(self.n_vectors) == 0:
            return [count("n_vectors", self.n_vectors)] * n_searches
        budgets = [count("n_vectors", int(value)) for value in np.asarray(self.n_vectors)]
        if len(budgets) != n_searches:
            raise ValueError(
                f"n_vectors holds {len(budgets)} numbers but there are {n_searches} independent "
                'sets of vectors; give one number, or one per class with vectors="per_class".'
            )
        return budgets

    def _last_vectors(self, data: TrainingSet, n_searches: int) -> list[FloatArray | None]:
        """Vectors of the last fit, where there is one that fits these data."""
        last = getattr(self, "_vector_sets", None) if self.warm_start else None
        d = data.X.shape[1]
        if last is None or len(last) != n_searches or last[0].shape[1] != d:
            return [None] * n_searches
        return list(last)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        # a file holds the vectors once, in the machine; a warm start goes on from them
        sizes = getattr(self, "_set_sizes", np.zeros(0, dtype=np.int64))
        if sizes.sum() == self.machine_.n_vectors and (sizes > 0).all() and sizes.ndim == 1:
            vectors = np.array(self.machine_.vectors, dtype=np.float64)
            self._vector_sets = np.split(vectors, np.cumsum(sizes)[:-1])

    def _search(
        self,
        data: TrainingSet,
        Y: FloatArray,
        budget: int,
        seeds: Any,
        start: FloatArray | None,
        on_step: Callable[[Progress], bool],
    ) -> Descent:
        """The best of n_init descents for one set of vectors."""
        best: Descent | None = None
        for seed in seeds[:1] if start is not None else seeds:
            try:
                descent = self._descend(data, Y, budget, int(seed), start, on_step)
            except KeyboardInterrupt:
                if best is None:
                    raise
                return best.interrupted_later()
            if best is None or descent.best.value < best.best.value:
                best = descent
            if descent.interrupted:
                return best.interrupted_later()
        assert best is not None
        return best

    def _descend(
        self,
        data: TrainingSet,
        Y: FloatArray,
        budget: int,
        seed: int,
        start: FloatArray | None,
        on_step: Callable[[Progress], bool],
    ) -> Descent:
        vectors = start
        if vectors is None:
            with _SEEDING:
                vectors = seed_vectors(data.X, budget, self.init, data.kernel, seed, data.weights)
        return learn_sparse_svm(
            data.X,
            Y,
            self.C * data.weights,
            data.kernel,
            vectors,
            loss=self.loss,
            max_iter=self.max_iter,
            tol=self.tol,
            n_vectors=None if start is None else budget,
            random_state=seed,
            on_step=on_step,
        )

    def _store(self, searches: list[Descent], kernel: Kernel) -> KernelMachine:
        ends = [search.best for search in searches]
        self._vector_sets = [end.vectors for end in ends]
        self._set_sizes = np.array([end.vectors.shape[0] for end in ends], dtype=np.int64)
        self.objective_ = float(sum(end.value for end in ends))
        self.history_ = [np.array(search.history) for search in searches]
        self.n_iter_ = sum(search.n_iter for search in searches)
        self.n_evaluations_ = sum(search.n_evaluations for search in searches)
        self.interrupted_ = any(search.interrupted for search in searches)
        for search in searches:
            search.warn_unless_converged(type(self).__name__)
        if len(ends) == 1:
            return ends[0].machine
        return KernelMachine(
            kernel,
            np.concatenate([end.vectors for end in ends]),
            block_diag(*[end.coefficients for end in ends]),
            np.concatenate([end.intercepts for end in ends]),
        )
