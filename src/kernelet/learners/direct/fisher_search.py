"""The search for Fisher directions, for estimators over few vectors or over all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.numerics.arrays import dense
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct.kernel_learning.choice import kernel_task
from kernelet.learners.direct.learn import DirectSettings, LearnedVectors, learn_vectors
from kernelet.learners.direct.search.checkpoint import checkpoint_of
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.learners.direct.search.rows import SearchRows


class FisherSearch:
    """An estimator whose directions are in the span of ``n_vectors`` vectors, or of all rows.

    A mixin; the class has the parameters ``n_vectors``, ``init``, ``max_iter``, ``tol`` and
    ``verbose``, and may have ``learn_kernel``, ``rank`` and ``checkpoint``.
    """

    n_vectors: int | None
    init: str | ArrayLike
    max_iter: int
    tol: float
    verbose: int

    def _directions(
        self, rows: SearchRows, kernel: Kernel, rng: np.random.RandomState
    ) -> Evaluation:
        """Return the best directions, and set the fitted attributes that describe the search."""
        self.n_iter_, self.interrupted_ = 1, False
        if self.n_vectors is None:
            every_row = np.unique(np.asarray(dense(rows.X), dtype=np.float64), axis=0)
            with Loop(self):
                end = MarginalObjective(rows.X, kernel, rows.inner).without_gradient(every_row)
        else:
            learned = self._search(rows, kernel, rng)
            (search,) = learned.searches
            self.n_iter_, self.interrupted_ = max(1, search.n_iter), search.interrupted
            if hasattr(self, "learn_kernel"):
                self.kernel_gain_ = learned.kernel_gain
            search.warn_unless_converged(type(self).__name__)
            end = search.best
        self.objective_ = -end.value
        return end

    def _search(self, rows: SearchRows, kernel: Kernel, rng: Any) -> LearnedVectors:
        budget = count("n_vectors", self.n_vectors)
        require_input_gradient(kernel, type(self).__name__)
        task = kernel_task(self, kernel, rows.shape)
        settings = DirectSettings(
            [budget],
            # the paper's search moves the vectors alone
            replace(task, vectors_alone=task.learn.is_nothing),
            max_iter=count("max_iter", self.max_iter),
            tol=positive("tol", self.tol),
            init=self.init,
        )
        saved = checkpoint_of(self, rows.shape)
        with Loop(self, self.max_iter, self.verbose, **rows.callback_data) as loop:
            return learn_vectors([rows], rows, settings, rng, loop, saved=saved)
