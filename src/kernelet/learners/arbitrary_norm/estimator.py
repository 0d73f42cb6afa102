"""What the estimators of this paper have in common: parameters, fitted attributes, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.learners.arbitrary_norm.change_of_variables import REGULARIZERS
from kernelet.learners.arbitrary_norm.learn import NormMachine, NormSettings, learn_norm
from kernelet.learners.arbitrary_norm.losses import Loss
from kernelet.learners.arbitrary_norm.penalties import norm_penalty
from kernelet.learners.arbitrary_norm.reweighting import ROUGH
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import choice, count, factor, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData
from kernelet.machine import KernelMachine

# What files hold of every such estimator.
saved_norm = saved(C_norm_=float, objective_=float, sparsity_path_=list, gap_=float, n_iter_=int)


class NormEstimator:
    """An estimator that is penalised for a norm of its coefficients; a mixin."""

    p: float | str
    C_norm: float
    n_vectors: int | None
    regularizer: str
    tol: float
    max_iter: int
    verbose: int

    def _learn_norm(
        self, data: TrainingData, y: Any, losses: Sequence[Loss], size: float = 1.0
    ) -> KernelMachine:
        """One output per loss; ``size`` is that of the targets, and ``y`` is for callbacks."""
        settings = self._settings(size)
        max_steps = settings.max_steps * len(losses)
        with Loop(self, max_steps, self.verbose, X=data.X, y=y) as loop:
            learned = learn_norm(data.X, data.kernel, losses, settings, loop, size)
        outputs = learned.outputs
        self.C_norm_ = learned.C_norm
        self.objective_ = float(sum(output.end.objective for output in outputs))
        self.gap_ = float(max(output.end.gap for output in outputs))
        self.n_iter_ = sum(output.step.n_iter for output in outputs)
        self.sparsity_path_ = [np.array(output.step.path, dtype=np.float64) for output in outputs]
        self._warn(learned)
        return learned.machine

    def _settings(self, size: float) -> NormSettings:
        regularizer = REGULARIZERS[choice("regularizer", self.regularizer, REGULARIZERS)]
        C_norm, tol = factor("C_norm", self.C_norm, size), positive("tol", self.tol)
        if tol >= 1.0:
            raise ValueError(f"tol must be below 1, or every coefficient is dropped; got {tol:g}.")
        max_iter = count("max_iter", self.max_iter)
        is_sparse = norm_penalty(self.p, C_norm).is_sparse
        if self.n_vectors is not None:
            count("n_vectors", self.n_vectors)
            if not is_sparse:
                raise ValueError(
                    f"n_vectors={self.n_vectors} needs a norm that makes coefficients zero; "
                    f"p={self.p!r} does not: take p from 0 to 1, or n_vectors=None."
                )
        return NormSettings(self.p, C_norm, self.n_vectors, regularizer, tol, max_iter)

    def _warn(self, learned: NormMachine) -> None:
        who, n_vectors = type(self).__name__, learned.machine.n_vectors
        if any(output.is_lost for output in learned.outputs):
            warn_caller(
                f"{who} predicts a constant, since its coefficients have no digits left for "
                "anything better: scale the data, lower C, or change gamma or degree.",
                ConvergenceWarning,
            )
        else:
            self._warn_unless_converged(learned, who)
        if learned.is_search_cut and not learned.is_cut:
            why = "interrupted" if learned.is_search_interrupted else "cut short"
            warn_caller(
                f"{who} stopped early: the search for C_norm was {why} at {n_vectors} of "
                f"n_vectors={self.n_vectors}; the model is usable.",
                ConvergenceWarning,
            )

    def _warn_unless_converged(self, learned: NormMachine, who: str) -> None:
        n_vectors = learned.machine.n_vectors
        early = [output for output in learned.outputs if not output.step.converged]
        if early:
            why = "a callback asked to stop" if learned.is_cut else "max_iter was reached"
            why = "interrupted" if learned.interrupted else why
            advice = "Raise max_iter or tol; the model is usable."
            if any(output.step.unsolved for output in early):
                why = "its problems cannot be solved in double precision"
                advice = "Scale the data, or lower C; the model is a rough one."
            change = max(output.end.change for output in early)
            is_over = self.n_vectors is not None and n_vectors > self.n_vectors
            over = f", not n_vectors={self.n_vectors} as asked" if is_over else ""
            warn_caller(
                f"{who} stopped early: {why}, and the coefficients still change by {change:.1e} of "
                f"the largest (tol={self.tol:g}, {n_vectors} vectors{over}). {advice}",
                ConvergenceWarning,
            )
        if not self.gap_ <= ROUGH:
            warn_caller(
                f"{who} solved its last problem to a relative duality gap of {self.gap_:.1e} "
                "only; scale the data, or lower C.",
                ConvergenceWarning,
            )
