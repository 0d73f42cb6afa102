"""Machines with a norm of their coefficients as penalty, whatever the loss."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.learners.arbitrary_norm.budget import MAX_TRIES, largest_within
from kernelet.learners.arbitrary_norm.change_of_variables import SPACES
from kernelet.learners.arbitrary_norm.penalties import FloatArray, norm_penalty
from kernelet.learners.arbitrary_norm.reweighting import (
    ROUGH,
    Reweighted,
    RidgeSolver,
    Step,
    reweight,
)
from kernelet.learners.base.distinct_points import distinct_points
from kernelet.learners.base.parameters import choice, count, positive
from kernelet.learners.base.progress import reporting
from kernelet.machine import KernelMachine

# Values of a function below this share of the targets' size are taken for zero.
_NOTHING = 1e-8


@dataclass(frozen=True, eq=False)
class Candidates:
    """The distinct rows, each of which may become a vector.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    gram : ndarray of shape (m, m)
        Their kernel values among themselves.
    values : ndarray of shape (n, m)
        The kernel values of all rows and the candidates.
    """

    kernel: Kernel
    vectors: FloatArray
    gram: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, X: Any, kernel: Kernel) -> Candidates:
        """Equal rows are one candidate: of two equal columns neither would ever be dropped."""
        Z, place = distinct_points(X)
        gram = np.asarray(kernel(Z, Z), dtype=np.float64)
        if not np.isfinite(gram).all():
            raise ValueError(
                f"{kernel!r} has values that are not finite on the rows; scale the data, or lower "
                "gamma or degree."
            )
        return cls(kernel, Z, gram, gram if place.size == Z.shape[0] else gram[place])

    def machine(self, ends: Sequence[Step]) -> KernelMachine:
        """One output for each end; they share the vectors that any of them uses."""
        used = np.unique(np.concatenate([end.index for end in ends]))
        beta = np.zeros((self.vectors.shape[0], len(ends)))
        for k, end in enumerate(ends):
            beta[end.index, k] = end.coefficients
        return KernelMachine(
            self.kernel, self.vectors[used], beta[used], [end.intercept for end in ends]
        )

    def no_worse_than_a_constant(self, run: Reweighted, loss: RidgeSolver) -> Reweighted:
        """A run; or a constant, if coefficients without digits make a machine that is worse."""
        end = run.end
        scores = self.values[:, end.index] @ end.coefficients + end.intercept
        limit = loss.value(np.full(scores.size, loss.constant))
        if loss.value(scores) <= (1.0 + ROUGH) * limit:
            return run
        none = np.empty(0, dtype=np.intp)
        constant = replace(
            end, index=none, coefficients=np.empty(0), intercept=loss.constant, objective=limit
        )
        return replace(run, end=constant, is_lost=True)


@dataclass(frozen=True, eq=False)
class NormMachine:
    """A machine, and the sequence of problems behind each of its outputs."""

    machine: KernelMachine
    runs: list[Reweighted]
    C_norm: float

    @property
    def is_cut(self) -> bool:
        """Whether Ctrl-C or a callback ended it."""
        return any(run.interrupted or run.stopped for run in self.runs)


def learn_norm(
    estimator: Any,
    X: Any,
    y: Any,
    kernel: Kernel,
    losses: Sequence[RidgeSolver],
    size: float = 1.0,
) -> KernelMachine:
    """Fit one output per loss with the parameters of an estimator, and set what it found.

    The estimator has the parameters ``p``, ``C_norm``, ``n_vectors``, ``regularizer``, ``tol``,
    ``max_iter`` and ``verbose``; ``size`` is that of the targets, and ``y`` is for callbacks.
    """
    regularizer = choice("regularizer", estimator.regularizer, SPACES)
    C_norm = positive("C_norm", estimator.C_norm)
    tol = positive("tol", estimator.tol)
    if tol >= 1.0:
        raise ValueError(f"tol must be below 1, or every coefficient is dropped; got {tol:g}.")
    max_iter = count("max_iter", estimator.max_iter)
    is_sparse = norm_penalty(estimator.p, C_norm).is_sparse
    if estimator.n_vectors is not None:
        count("n_vectors", estimator.n_vectors)
        if not is_sparse:
            raise ValueError(
                f"n_vectors={estimator.n_vectors} needs a norm that makes coefficients zero; "
                f"p={estimator.p!r} does not: take p from 0 to 1, or n_vectors=None."
            )
    candidates = Candidates.of(X, kernel)
    # 1 for labels and a Gaussian kernel, as in the paper; and the same problem in other units
    first = size / (float(np.abs(candidates.gram).max()) or 1.0)
    if not 0.0 < first < np.inf:
        raise ValueError(
            f"{kernel!r} has values of next to nothing, or more than any, on the rows; scale the "
            "data, or change gamma or degree."
        )
    begin = time.perf_counter()
    is_cut, has_found = False, False
    n_fits = 1 if estimator.n_vectors is None else MAX_TRIES
    with reporting(estimator, 0, n_fits * max_iter * len(losses), X=X, y=y) as report:

        def fit(C: float) -> NormMachine:
            nonlocal is_cut, has_found
            runs: list[Reweighted] = []

            def on_step(step: Step) -> bool:
                if estimator.verbose > 0 and step.n_iter % estimator.verbose == 0:
                    print(
                        f"output {len(runs)}  step {step.n_iter:3d}  vectors {step.index.size:5d}  "
                        f"objective {step.objective:.6e}  change {step.change:.1e}  "
                        f"C_norm {C:.3g}  {time.perf_counter() - begin:.1f} s",
                        file=sys.stderr,
                    )
                ends = [run.end for run in runs] + [step]
                # some outputs of several are no machine
                is_whole = len(ends) == len(losses)
                machine = (lambda: {"machine_": candidates.machine(ends)}) if is_whole else None
                return report(None, machine)

            for loss in losses:
                # after Ctrl-C one step gives the outputs that are left, if there is no machine yet
                hurry = any(run.interrupted for run in runs)
                if hurry and has_found:
                    raise KeyboardInterrupt
                run = reweight(
                    candidates.values,
                    candidates.gram,
                    loss,
                    norm_penalty(estimator.p, C),
                    regularizer=regularizer,
                    epsilon=tol,
                    first=first,
                    floor=_NOTHING * first,
                    max_iter=1 if hurry else max_iter,
                    on_step=on_step,
                )
                runs.append(candidates.no_worse_than_a_constant(run, loss))
            learned = NormMachine(candidates.machine([run.end for run in runs]), runs, C)
            is_cut = learned.is_cut
            has_found |= learned.machine.n_vectors <= (estimator.n_vectors or 0)
            return learned

        if estimator.n_vectors is None:
            learned = fit(C_norm)
        else:
            learned, was_interrupted = largest_within(fit, estimator.n_vectors, C_norm)
            is_cut |= was_interrupted
    _store(estimator, learned)
    if is_cut and not learned.is_cut:
        warn_caller(
            f"{type(estimator).__name__} stopped early: the search for C_norm was cut short at "
            f"{learned.machine.n_vectors} of n_vectors={estimator.n_vectors}; the model is usable.",
            ConvergenceWarning,
        )
    return learned.machine


def _store(estimator: Any, learned: NormMachine) -> None:
    runs = learned.runs
    estimator.C_norm_ = learned.C_norm
    estimator.objective_ = float(sum(run.end.objective for run in runs))
    estimator.gap_ = float(max(run.end.gap for run in runs))
    estimator.n_iter_ = int(sum(run.end.n_iter for run in runs))
    estimator.sparsity_path_ = [run.path for run in runs]
    who = type(estimator).__name__
    if any(run.is_lost for run in runs):
        warn_caller(
            f"{who} predicts a constant, since its coefficients have no digits left for anything "
            "better: scale the data, lower C, or change gamma or degree.",
            ConvergenceWarning,
        )
        return
    open_runs = [run for run in runs if not run.converged]
    if open_runs:
        why = "a callback asked to stop" if learned.is_cut else "max_iter was reached"
        why = "interrupted" if any(run.interrupted for run in runs) else why
        advice = "Raise max_iter or tol; the model is usable."
        if any(run.unsolved for run in open_runs):
            why = "its problems cannot be solved in double precision"
            advice = "Scale the data, or lower C; the model is a rough one."
        change = max(run.end.change for run in open_runs)
        budget, n_vectors = estimator.n_vectors, learned.machine.n_vectors
        over = "" if budget is None or n_vectors <= budget else f", not n_vectors={budget} as asked"
        warn_caller(
            f"{who} stopped early: {why}, and the coefficients still change by {change:.1e} of the "
            f"largest (tol={estimator.tol:g}, {n_vectors} vectors{over}). {advice}",
            ConvergenceWarning,
        )
    if not estimator.gap_ <= ROUGH:
        warn_caller(
            f"{who} solved its last problem to a relative duality gap of {estimator.gap_:.1e} "
            "only; scale the data, or lower C.",
            ConvergenceWarning,
        )
