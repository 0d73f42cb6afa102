"""What all estimators of the direct method have in common: searches, warm starts, paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import bits_or_none, count, positive, threads
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct.budgets.choice import BudgetChoice, TimedChoice
from kernelet.learners.direct.few_bits import Rounded, round_and_solve
from kernelet.learners.direct.kernel_learning.choice import kernel_task
from kernelet.learners.direct.kernel_learning.reach import warn_of_flat_kernel, warn_of_outliers
from kernelet.learners.direct.learn import (
    PATH_TOL,
    DirectSettings,
    LastFit,
    LearnedVectors,
    held_out_loss,
    learn_vectors,
)
from kernelet.learners.direct.search.checkpoint import checkpoint_of
from kernelet.learners.direct.search.result import Progress
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.machine import KernelMachine

# The fitted attributes that model files hold for every such estimator.
FITTED: dict[str, type] = {
    "C_": float,
    "objective_": float,
    "history_": list,
    "n_iter_": int,
    "n_evaluations_": int,
    "interrupted_": bool,
    "_set_sizes": np.ndarray,
}


@dataclass
class _Found:
    """A search, once there is one."""

    learned: LearnedVectors | None = None


class DirectEstimator:
    """Mixin for estimators that learn their vectors by gradient descent on W(Z).

    The class has ``fit(X, y, sample_weight)`` and the parameters ``n_vectors``, ``init``,
    ``n_init``, ``max_iter``, ``tol``, ``warm_start`` and ``verbose``. If there can be several
    searches it also has ``n_jobs``, and if held-out rows can judge a kernel ``learn_kernel``; its
    inner problem is then a `LossProblem`, or it has its own guard. To learn, it states the inner
    problems and calls `_search_vectors` and `_store`.
    """

    n_vectors: int | str | Sequence[int]
    init: str | ArrayLike
    n_init: int
    max_iter: int
    tol: float
    warm_start: bool
    verbose: int
    machine_: KernelMachine
    learn_kernel: bool | str
    _learns_features = True
    _guard = staticmethod(held_out_loss)
    # whether machines in few bits may leave out columns that are constant in the training rows
    _drops_constant = True
    # where a path keeps a search from which it makes several models
    _found: _Found | None = None
    # where choices have to end in time; see `choosing_within`
    _timed: TimedChoice | None = None

    def _search_vectors(
        self,
        rows: Sequence[SearchRows],
        kernel: Kernel,
        rng: np.random.RandomState,
        whole: SearchRows | None = None,
        choice: BudgetChoice | None = None,
    ) -> LearnedVectors:
        """A search for each inner problem; see `learn_vectors`.

        With ``C="auto"`` the problems have a cost of one, and ``whole`` is the one to choose the
        cost by if there are several. A ``choice`` decides on the number of vectors.
        """
        if self._found is not None and self._found.learned is not None:
            return self._found.learned
        whole = whole or rows[0]
        require_input_gradient(kernel, type(self).__name__)
        settings = DirectSettings(
            self._budgets(len(rows)),
            kernel_task(
                self,
                kernel,
                whole.shape,
                len(rows),
                is_smooth=whole.inner.smooth is not None,
                learns_features=self._learns_features,
            ),
            max_iter=count("max_iter", self.max_iter),
            tol=positive("tol", self.tol),
            init=self.init,
            n_init=count("n_init", self.n_init),
            n_jobs=threads(getattr(self, "n_jobs", None)),
            chooses_cost=isinstance(getattr(self, "C", 1.0), str),
            guard=self._guard,
        )
        saved = checkpoint_of(self, whole.shape)
        vectors = self._last_vectors(whole.shape[1], len(rows))
        last = LastFit(vectors, self._last_kernel(), getattr(self, "C_", None))
        # with several searches, the machine of one of them is not a model
        attributes = fitted_attributes if len(rows) == 1 else None
        max_steps = self.max_iter * self.n_init * len(rows)
        max_steps += 0 if choice is None else self.max_iter * choice.n_searches
        seconds = float("inf") if self._timed is None else self._timed.seconds
        with Loop(self, max_steps, self.verbose, seconds, **whole.callback_data) as loop:

            def learn(settings: DirectSettings, rng: np.random.RandomState) -> LearnedVectors:
                options: dict[str, Any] = {"last": last, "saved": saved, "attributes": attributes}
                return learn_vectors(rows, whole, settings, rng, loop, **options)

            if choice is None:
                learned = learn(settings, rng)
            else:
                learned = choice.learn(learn, whole, settings, rng, loop)
        if self._found is not None:
            self._found.learned = learned
        if not learned.interrupted:
            ends = [search.best for search in learned.searches]
            warn_of_outliers(self, whole.X)
            warn_of_flat_kernel(self, whole.X, kernel, ends)
        return learned

    def _store(
        self, learned: LearnedVectors, kernel: Kernel, rounded: Rounded | None = None
    ) -> KernelMachine:
        """Set the fitted attributes, warn about an early end, and return the machine.

        With ``vector_bits`` that is a machine in few bits, unless it is there already.
        """
        searches = learned.searches
        if hasattr(self, "C"):
            self.C_ = float(self.C) if learned.cost is None else learned.cost
        if hasattr(self, "learn_kernel"):
            self.kernel_gain_ = learned.kernel_gain
        ends = [search.best for search in searches]
        # for a warm start; the machine may hold rounded ones
        self._vector_sets, self._kernel_before = [end.vectors for end in ends], ends[0].kernel
        self._set_sizes = np.array([end.vectors.shape[0] for end in ends], dtype=np.int64)
        self.objective_ = float(sum(end.value for end in ends))
        self.history_ = [np.array(search.history) for search in searches]
        self.n_iter_ = sum(search.n_iter for search in searches)
        self.n_evaluations_ = sum(search.n_evaluations for search in searches)
        self.interrupted_ = any(search.interrupted for search in searches)
        for search in searches:
            search.warn_unless_converged(type(self).__name__)
        bits = bits_or_none("vector_bits", getattr(self, "vector_bits", None))
        if bits is not None:
            if rounded is None:
                rounded = round_and_solve(learned, bits, drops_constant=self._drops_constant)
            self.objective_ = float(sum(rounded.values))
            if rounded.interrupted and not self.interrupted_:
                warn_caller(
                    f"{type(self).__name__} was interrupted while it rounded its vectors: they "
                    "are the nearest in few bits, not the best. The model is usable.",
                    ConvergenceWarning,
                )
            self.interrupted_ = rounded.interrupted
            return rounded.machine
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
        *,
        vector_bits: Sequence[int | None] | None = None,
    ) -> list[Self]:
        """Fitted models for several budgets, each started from the one before.

        Increasing budgets add vectors where they lower W most, decreasing ones drop the least
        useful. Each machine is then refined: with ``tol`` for the largest budget and five times
        that for the others, which start near their optimum. The whole path costs little more than
        its largest model alone. This estimator itself is not fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, fitted in this order.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        vector_bits : sequence of int or None, default=None
            Values of the parameter ``vector_bits``. There is a model for each, from one search for
            each budget; rounding takes a fraction of its time.

        Returns
        -------
        list of estimators
            One fitted estimator for each budget, and for each number of bits.
        """
        return list(self.iter_path(X, y, budgets, sample_weight, vector_bits=vector_bits))

    def iter_path(
        self,
        X: Any,
        y: Any,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
        *,
        vector_bits: Sequence[int | None] | None = None,
    ) -> Iterator[Self]:
        """The models of `fit_path` one after the other, each as soon as it is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, fitted in this order.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        vector_bits : sequence of int or None, default=None
            Values of the parameter ``vector_bits``. There is a model for each, from one search for
            each budget; rounding takes a fraction of its time.

        Yields
        ------
        estimator
            A fitted estimator for the next budget, or for the next number of bits.
        """
        variants = _variants(self, vector_bits)
        found: LearnedVectors | None = None
        largest = max(budgets, default=0)
        for budget in budgets:
            last, search = found, _Found()
            for variant in variants:
                model: Any = clone(self).set_params(n_vectors=budget, **variant)
                if budget < largest:
                    model.set_params(tol=PATH_TOL * positive("tol", self.tol))
                if last is not None:
                    ends = [one.best for one in last.searches]
                    model.set_params(warm_start=True)
                    model._vector_sets = [end.vectors for end in ends]
                    model._kernel_before = ends[0].kernel
                    if hasattr(model, "C"):
                        model.C_ = float(model.C) if last.cost is None else last.cost
                model._found = search
                try:
                    model.fit(X, y, sample_weight)
                finally:
                    del model._found
                found = search.learned
                yield model.set_params(warm_start=self.warm_start, tol=self.tol)

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
        """Vectors of the last fit, if there was one on the same number of features and searches."""
        last = getattr(self, "_vector_sets", None) if self.warm_start else None
        if last is None or len(last) != n_searches or last[0].shape[1] != n_features:
            return [None] * n_searches
        return list(last)

    def _last_kernel(self) -> Kernel | None:
        """The kernel of the last fit, for a search that starts from its vectors."""
        fitted = getattr(self, "machine_", None)
        return getattr(self, "_kernel_before", None if fitted is None else fitted.kernel)

    def _recall_vectors(self) -> None:
        """After loading: a file holds the vectors once, in the machine; a warm start needs them."""
        sizes = getattr(self, "_set_sizes", np.zeros(0, dtype=np.int64))
        if sizes.sum() == self.machine_.n_vectors and (sizes > 0).all() and sizes.ndim == 1:
            vectors = np.array(self.machine_.vectors, dtype=np.float64)
            self._vector_sets = np.split(vectors, np.cumsum(sizes)[:-1])


def _variants(
    estimator: Any, vector_bits: Sequence[int | None] | None
) -> list[dict[str, int | None]]:
    """Parameters of the models that are made from one search."""
    if vector_bits is None:
        return [{}]
    if not hasattr(estimator, "vector_bits"):
        raise ValueError(f"{type(estimator).__name__} has no parameter vector_bits.")
    return [{"vector_bits": bits_or_none("vector_bits", bits)} for bits in vector_bits]


def fitted_attributes(step: Progress) -> dict[str, Any]:
    """Attributes that make a fitted model from the best vectors so far, for callbacks."""
    return {"machine_": step.best.machine}
