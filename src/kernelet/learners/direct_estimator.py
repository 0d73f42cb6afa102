"""What all estimators of the direct method have in common: searches, paths, warm starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event, Lock
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from sklearn.base import clone

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.width import require_width
from kernelet.learners.descent import Descent, Progress
from kernelet.learners.direct import learn_direct
from kernelet.learners.kernel_learning import LearnedKernel, learn_width
from kernelet.learners.marginal import FloatArray, InnerProblem
from kernelet.learners.options import count, positive
from kernelet.learners.progress import reporting
from kernelet.machine import KernelMachine
from kernelet.solvers.parallel import map_in_threads
from kernelet.subspace import seed_vectors

# In a path, the tolerance of all models but the largest, in units of tol. On digits, pendigits and
# satimage a path then costs about its largest model, at the errors of fits from nothing.
_PATH_TOL = 5.0
# Seeding silences a warning for a moment. The filters of warnings belong to the whole process: two
# threads at it at once would leave them changed.
_SEEDING = Lock()
# What files hold of every such estimator.
FITTED: dict[str, type] = {
    "objective_": float,
    "history_": list,
    "n_iter_": int,
    "n_evaluations_": int,
    "interrupted_": bool,
    "_set_sizes": np.ndarray,
}


class DirectEstimator:
    """An estimator that learns its vectors by gradient on W(Z); a mixin.

    The class that it is mixed into has ``fit(X, y, sample_weight)`` and the parameters
    ``n_vectors``, ``init``, ``n_init``, ``max_iter``, ``tol``, ``warm_start``, ``verbose``, where
    there can be several searches ``n_jobs``, and where the inner problem is a `LossProblem`
    ``learn_kernel``. Its learning consists of stating the inner
    problems and calling `_search_vectors` and `_store`.
    """

    n_vectors: int | Sequence[int]
    init: str | ArrayLike
    n_init: int
    max_iter: int
    tol: float
    warm_start: bool
    verbose: int
    machine_: KernelMachine

    def _search_vectors(
        self,
        X: Any,
        weights: FloatArray,
        kernel: Kernel,
        problems: Sequence[InnerProblem],
        rng: np.random.RandomState,
        y: Any = None,
    ) -> list[Descent]:
        """One set of vectors for each inner problem, the best of ``n_init`` searches.

        Callbacks are shown X and y, and a model after every step where one problem is all there
        is. Ctrl-C ends all searches; those that have not begun take a step.
        """
        positive("tol", self.tol)
        count("max_iter", self.max_iter)
        count("n_init", self.n_init)
        require_input_gradient(kernel, type(self).__name__)
        budgets = self._budgets(len(problems))
        seeds = rng.randint(np.iinfo(np.int32).max, size=(len(problems), self.n_init))
        starts = self._last_vectors(X.shape[1], len(problems))
        lock, interrupted = Lock(), Event()
        if getattr(self, "learn_kernel", False):
            learned = self._learned_kernel(X, weights, kernel, problems, budgets[0], rng)
            kernel, self.kernel_gain_ = learned.kernel, learned.gain
            if learned.interrupted:  # the search ends after a step
                interrupted.set()
        ends: dict[int, Descent] = {}
        max_steps = self.max_iter * self.n_init * len(problems)
        rows = {"X": X} if y is None else {"X": X, "y": y}
        with reporting(self, self.verbose, max_steps, **rows) as report:

            def search(k: int) -> None:
                def on_step(step: Progress) -> bool:
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    # one machine of several is no model
                    attributes = self._step_attributes(step) if len(problems) == 1 else None
                    with lock:
                        return report(step, attributes)

                def descend(seed: int) -> Descent:
                    return self._descend(
                        X, weights, kernel, problems[k], budgets[k], seed, starts[k], on_step
                    )

                ends[k] = _best_of(descend, seeds[k][:1] if starts[k] is not None else seeds[k])
                if ends[k].interrupted:  # the others end after a step
                    interrupted.set()

            n_jobs = getattr(self, "n_jobs", None) or 1
            try:
                map_in_threads(search, range(len(problems)), n_jobs, interrupted.set)
            except KeyboardInterrupt:
                if not ends:
                    raise
                interrupted.set()
                for k in range(len(problems)):
                    if k not in ends:
                        search(k)
        return [ends[k] for k in range(len(problems))]

    def _learned_kernel(
        self,
        X: Any,
        weights: FloatArray,
        kernel: Kernel,
        problems: Sequence[Any],
        budget: int,
        rng: np.random.RandomState,
    ) -> LearnedKernel:
        """The width that serves rows held out best, for estimators that can learn it."""
        self.kernel_gain_ = 0.0
        radial = require_width(kernel, f"{type(self).__name__} with learn_kernel=True")
        if len(problems) > 1:
            raise ValueError(
                'learn_kernel=True learns one width for all classes; give vectors="shared".'
            )
        seed = int(rng.randint(np.iinfo(np.int32).max))
        with _SEEDING:
            vectors = seed_vectors(X, budget, self.init, kernel, seed, weights)
        return learn_width(
            X, radial, problems[0], vectors, max_iter=self.max_iter, tol=self.tol, seed=seed
        )

    def _step_attributes(self, step: Progress) -> Callable[[], dict[str, Any]]:
        """What makes a fitted model of the best vectors so far."""
        return lambda: {"machine_": step.best.machine}

    def _descend(
        self,
        X: Any,
        weights: FloatArray,
        kernel: Kernel,
        problem: InnerProblem,
        budget: int,
        seed: int,
        start: FloatArray | None,
        on_step: Callable[[Progress], bool],
    ) -> Descent:
        vectors = start
        if vectors is None:
            with _SEEDING:
                vectors = seed_vectors(X, budget, self.init, kernel, seed, weights)
        return learn_direct(
            X,
            kernel,
            problem,
            vectors,
            max_iter=self.max_iter,
            tol=self.tol,
            n_vectors=None if start is None else budget,
            random_state=seed,
            on_step=on_step,
        )

    def _store(self, searches: list[Descent], kernel: Kernel) -> KernelMachine:
        """Set the fitted attributes, warn of an early end, and return the machine."""
        ends = [search.best for search in searches]
        self._vector_sets = [end.vectors for end in ends]
        self._set_sizes = np.array([end.vectors.shape[0] for end in ends], dtype=np.int64)
        self.objective_ = float(sum(end.value for end in ends))
        self.history_ = [np.array(search.history) for search in searches]
        self.n_iter_ = sum(search.n_iter for search in searches)
        self.n_evaluations_ = sum(search.n_evaluations for search in searches)
        if not getattr(self, "learn_kernel", True):
            self.kernel_gain_ = 0.0
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

    def fit_path(
        self,
        X: Any,
        y: Any,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> list[Self]:
        """Fitted models for several budgets, each started from the one before.

        Increasing budgets add vectors where they lower W most, decreasing ones drop those that
        are missed least, and each machine is then polished: with ``tol`` for the largest budget
        and five times that for the others, which start near their end. The whole path then costs
        little more than its largest model alone. This estimator itself is left unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        list of estimators
            One fitted estimator for each budget.
        """
        return list(self.iter_path(X, y, budgets, sample_weight))

    def iter_path(
        self,
        X: Any,
        y: Any,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """The models of `fit_path` one after the other, each as soon as it is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Yields
        ------
        estimator
            A fitted estimator for the next budget.
        """
        last: Any = None
        largest = max(budgets, default=0)
        for budget in budgets:
            model: Any = clone(self).set_params(n_vectors=budget)
            if budget < largest:
                model.set_params(tol=_PATH_TOL * positive("tol", self.tol))
            if last is not None:
                model.set_params(warm_start=True)
                model._vector_sets = last._vector_sets
            model.fit(X, y, sample_weight)
            last = model.set_params(warm_start=self.warm_start, tol=self.tol)
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

    def _last_vectors(self, n_features: int, n_searches: int) -> list[FloatArray | None]:
        """Vectors of the last fit, where there is one that fits these data."""
        last = getattr(self, "_vector_sets", None) if self.warm_start else None
        if last is None or len(last) != n_searches or last[0].shape[1] != n_features:
            return [None] * n_searches
        return list(last)

    def _recall_vectors(self) -> None:
        """After loading: a file holds the vectors once, in the machine; a warm start needs them."""
        sizes = getattr(self, "_set_sizes", np.zeros(0, dtype=np.int64))
        if sizes.sum() == self.machine_.n_vectors and (sizes > 0).all() and sizes.ndim == 1:
            vectors = np.array(self.machine_.vectors, dtype=np.float64)
            self._vector_sets = np.split(vectors, np.cumsum(sizes)[:-1])


def _best_of(descend: Callable[[int], Descent], seeds: Any) -> Descent:
    """The best of several descents; Ctrl-C in a later one leaves the best before."""
    best: Descent | None = None
    for seed in seeds:
        try:
            descent = descend(int(seed))
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
