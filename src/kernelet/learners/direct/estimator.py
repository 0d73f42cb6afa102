"""What all estimators of the direct method have in common: the searches and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct.kernel_learning.choice import kernel_task
from kernelet.learners.direct.kernel_learning.reach import warn_of_flat_kernel, warn_of_outliers
from kernelet.learners.direct.learn import (
    LastFit,
    Learned,
    Settings,
    held_out_loss,
    learn_vectors,
)
from kernelet.learners.direct.search.checkpoint import checkpoint_of
from kernelet.learners.direct.search.result import Progress
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.learners.direct.warm_start import WarmStarted
from kernelet.machine import KernelMachine

# What files hold of every such estimator.
FITTED: dict[str, type] = {
    "C_": float,
    "objective_": float,
    "history_": list,
    "n_iter_": int,
    "n_evaluations_": int,
    "interrupted_": bool,
    "_set_sizes": np.ndarray,
}


class DirectEstimator(WarmStarted):
    """An estimator that learns its vectors by gradient on W(Z); a mixin.

    The class that it is mixed into has ``fit(X, y, sample_weight)`` and the parameters
    ``n_vectors``, ``init``, ``n_init``, ``max_iter``, ``tol``, ``warm_start``, ``verbose``, where
    there can be several searches ``n_jobs``, and where rows held out can judge a kernel
    ``learn_kernel``, with the inner problem a `LossProblem` or a guard of its own. Its learning
    consists of stating the inner problems and calling `_search_vectors` and `_store`.
    """

    init: str | ArrayLike
    n_init: int
    max_iter: int
    verbose: int
    learn_kernel: bool | str
    _learns_features = True
    _guard = staticmethod(held_out_loss)

    def _search_vectors(
        self,
        rows: Sequence[SearchRows],
        kernel: Kernel,
        rng: np.random.RandomState,
        whole: SearchRows | None = None,
    ) -> Learned:
        """A search for each inner problem; see `learn_vectors`.

        With ``C="auto"`` the problems have a cost of one, and ``whole`` is the one to choose the
        cost by if there are several.
        """
        whole = whole or rows[0]
        require_input_gradient(kernel, type(self).__name__)
        settings = Settings(
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
            n_jobs=getattr(self, "n_jobs", None) or 1,
            chooses_cost=isinstance(getattr(self, "C", 1.0), str),
            guard=self._guard,
        )
        saved = checkpoint_of(self, whole.shape)
        vectors = self._last_vectors(whole.shape[1], len(rows))
        last = LastFit(vectors, self._last_kernel(), getattr(self, "C_", None))
        max_steps = self.max_iter * self.n_init * len(rows)
        with Loop(self, max_steps, self.verbose, **whole.callback_data) as loop:
            learned = learn_vectors(
                rows,
                whole,
                settings,
                rng,
                loop,
                last=last,
                saved=saved,
                # one machine of several is no model
                attributes=fitted_attributes if len(rows) == 1 else None,
            )
        if not learned.interrupted:
            ends = [search.best for search in learned.searches]
            warn_of_outliers(self, whole.X)
            warn_of_flat_kernel(self, whole.X, kernel, ends)
        return learned

    def _store(self, learned: Learned, kernel: Kernel) -> KernelMachine:
        """Set the fitted attributes, warn of an early end, and return the machine."""
        searches = learned.searches
        if hasattr(self, "C"):
            self.C_ = float(self.C) if learned.cost is None else learned.cost
        if hasattr(self, "learn_kernel"):
            self.kernel_gain_ = learned.kernel_gain
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


def fitted_attributes(step: Progress) -> dict[str, Any]:
    """What makes a fitted model of the best vectors so far, for callbacks."""
    return {"machine_": step.best.machine}
