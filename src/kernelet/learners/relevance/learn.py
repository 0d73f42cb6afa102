"""Relevance vector machines: from a kernel matrix to a machine, whatever the likelihood."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.distinct_points import distinct_points
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import reporting
from kernelet.learners.relevance.likelihoods import FloatArray, Likelihood
from kernelet.learners.relevance.precisions import State
from kernelet.learners.relevance.search import Relevance, most_probable
from kernelet.machine import KernelMachine


@dataclass(frozen=True, eq=False)
class Basis:
    """A bias and the kernel functions of the distinct rows, as columns of mean square one.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    scale : ndarray of shape (m,)
        What each kernel function is divided by; 0 for one that is zero on all rows.
    columns : ndarray of shape (n, m + 1)
    """

    kernel: Kernel
    vectors: FloatArray
    scale: FloatArray
    columns: FloatArray

    @classmethod
    def of(cls, X: Any, kernel: Kernel, weights: FloatArray) -> Basis:
        """Equal rows have the same kernel function, and one column."""
        Z, place = distinct_points(X)
        values = np.asarray(kernel(Z, Z), dtype=np.float64)
        values = values if place.size == Z.shape[0] else values[place]
        if not np.isfinite(values).all():
            raise ValueError(
                f"{kernel!r} has values that are not finite on the rows; scale the data, or lower "
                "gamma or degree."
            )
        # squares of values beyond 1e154, or below its inverse, are no numbers
        size = float(np.abs(values).max()) or 1.0
        scale = size * np.sqrt((weights / weights.sum()) @ np.square(values / size))
        columns = np.empty((values.shape[0], values.shape[1] + 1), order="F")
        columns[:, 0] = 1.0
        np.divide(values, scale, out=columns[:, 1:], where=scale > 0.0)
        columns[:, 1:][:, scale == 0.0] = 0.0
        return cls(kernel, Z, scale, columns)

    def machine(
        self, states: Sequence[State], centre: float = 0.0, size: float = 1.0
    ) -> KernelMachine:
        """One output for each state; they share the vectors that any of them uses."""
        used = np.unique(np.concatenate([state.index[1:] - 1 for state in states]))
        beta = np.zeros((self.vectors.shape[0], len(states)))
        for k, state in enumerate(states):
            inside = state.index[1:] - 1
            beta[inside, k] = size * state.posterior.weights[1:] / self.scale[inside]
        intercepts = [centre + size * float(state.posterior.weights[0]) for state in states]
        return KernelMachine(self.kernel, self.vectors[used], beta[used], intercepts)


def learn_relevance(
    estimator: Any,
    basis: Basis,
    likelihoods: Sequence[Likelihood],
    machine: Callable[[Sequence[State]], KernelMachine],
    **rows: Any,
) -> list[Relevance]:
    """One search per likelihood, with the parameters of an estimator; warns if one stops early.

    The estimator has the parameters ``tol``, ``max_iter`` and ``verbose``; ``rows`` is for
    callbacks.
    """
    tol, max_iter = positive("tol", estimator.tol), count("max_iter", estimator.max_iter)
    begin = time.perf_counter()
    runs: list[Relevance] = []
    with reporting(estimator, 0, max_iter * len(likelihoods), **rows) as report:
        n_steps = 0

        def on_step(state: State) -> bool:
            nonlocal n_steps
            n_steps += 1
            if estimator.verbose > 0 and n_steps % estimator.verbose == 0:
                print(
                    f"output {len(runs)}  step {n_steps:4d}  vectors {state.index.size - 1:4d}  "
                    f"log evidence {state.evidence:.6e}  {time.perf_counter() - begin:.1f} s",
                    file=sys.stderr,
                )
            states = [run.state for run in runs] + [state]
            # some outputs of several are no machine
            is_whole = len(states) == len(likelihoods)
            return report(None, (lambda: {"machine_": machine(states)}) if is_whole else None)

        for likelihood in likelihoods:
            # after Ctrl-C a few columns make the outputs that are left
            hurry = any(run.interrupted for run in runs)
            runs.append(
                most_probable(
                    basis.columns,
                    likelihood,
                    tol=tol,
                    max_iter=min(max_iter, 5) if hurry else max_iter,
                    on_step=on_step,
                )
            )
    open_runs = [run for run in runs if not run.converged]
    if open_runs:
        at_limit = max(run.n_iter for run in open_runs) >= max_iter
        why = "max_iter was reached" if at_limit else "a callback asked to stop"
        why = "interrupted" if any(run.interrupted for run in runs) else why
        gain = max(run.gain for run in open_runs)
        left = f"and the log evidence would still rise by {gain:.2g} or more (tol={tol:g})"
        left = left if np.isfinite(gain) else "before all rows were looked at"
        warn_caller(
            f"{type(estimator).__name__} stopped early: {why}, {left}. Raise max_iter or tol; the "
            "model is usable.",
            ConvergenceWarning,
        )
    return runs
