"""What both estimators have in common: the searches, the path, a warning of an early end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.relevance.learn import Relevance, learn_relevance
from kernelet.learners.relevance.likelihoods import Likelihood
from kernelet.learners.relevance.precisions import State
from kernelet.machine import KernelMachine


class RelevanceEstimator:
    """An estimator that searches for relevance vectors; a mixin."""

    tol: float
    max_iter: int
    verbose: int

    def _search(
        self,
        columns: FloatArray,
        likelihoods: Sequence[Likelihood],
        machine: Callable[[Sequence[State]], KernelMachine],
        **rows: Any,
    ) -> list[State]:
        """The end of the search for each likelihood; ``rows`` is for callbacks."""
        tol, max_iter = positive("tol", self.tol), count("max_iter", self.max_iter)
        with Loop(self, max_iter * len(likelihoods), self.verbose, **rows) as loop:
            found = learn_relevance(columns, likelihoods, machine, loop, tol=tol, max_iter=max_iter)
        self.evidence_path_ = [one.path for one in found]
        self.n_iter_ = max(1, sum(one.n_iter for one in found))
        self._warn(found, loop.interrupted)
        return [one.state for one in found]

    def _warn(self, found: list[Relevance], interrupted: bool) -> None:
        early = [one for one in found if not one.converged]
        if not early:
            return
        at_limit = max(one.n_iter for one in early) >= self.max_iter
        why = "max_iter was reached" if at_limit else "a callback asked to stop"
        why = "interrupted" if interrupted else why
        gain = max(one.gain for one in early)
        left = f"and the log evidence would still rise by {gain:.2g} or more (tol={self.tol:g})"
        left = left if np.isfinite(gain) else "before all rows were looked at"
        warn_caller(
            f"{type(self).__name__} stopped early: {why}, {left}. Raise max_iter or tol; the "
            "model is usable.",
            ConvergenceWarning,
        )
