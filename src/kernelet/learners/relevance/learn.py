"""Relevance vector machines: from a kernel matrix to a machine, whatever the likelihood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.base.distinct_points import distinct_points
from kernelet.learners.base.progress import Loop
from kernelet.learners.relevance.likelihoods import Likelihood
from kernelet.learners.relevance.precisions import State
from kernelet.learners.relevance.search import Threads, best_gain, bias_alone, most_probable
from kernelet.machine import KernelMachine
from kernelet.solvers.parallel import one_thread_but

# Numbers in all columns, beyond which products with them are worth a second thread.
_MANY_NUMBERS = 2_000_000
# Columns that make the outputs that are left after Ctrl-C: one alone hardly separates anything.
_FEW_STEPS = 5


@dataclass(frozen=True, eq=False)
class KernelBasis:
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
    def of(cls, X: Rows, kernel: Kernel, weights: FloatArray) -> KernelBasis:
        """Equal rows have the same kernel function, and one column."""
        Z, gram, place = distinct_points(X, kernel)
        values = gram if place.size == Z.shape[0] else gram[place]
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


@dataclass(frozen=True, eq=False)
class RelevanceStep:
    """An addition or exchange for an output; ``path`` has all so far of it.

    ``n_steps`` counts those of the outputs before as well.
    """

    output: int
    n_steps: int
    state: State
    path: tuple[tuple[int, float], ...]
    seconds: float

    @property
    def line(self) -> str:
        return (
            f"output {self.output}  step {self.n_steps:4d}  "
            f"vectors {self.state.index.size - 1:4d}  "
            f"log evidence {self.state.evidence:.6e}  {self.seconds:.1f} s"
        )

    @property
    def brief(self) -> str:
        n_vectors = self.state.index.size - 1
        return f"output {self.output}, {n_vectors} vectors, log evidence {self.state.evidence:.4g}"


@dataclass(frozen=True, eq=False)
class Relevance:
    """Where the search for an output ended, and how.

    Attributes
    ----------
    state : State
    path : ndarray of shape (n_iter, 2)
        Columns inside, without the bias, and evidence, after each step.
    converged : bool
    gain : float
        What the best column still outside promises at an early end; infinite if it is not known.
    """

    state: State
    path: FloatArray
    converged: bool
    gain: float

    @property
    def n_iter(self) -> int:
        """How many columns were added or exchanged."""
        return len(self.path)


def learn_relevance(
    columns: FloatArray,
    likelihoods: Sequence[Likelihood],
    machine: Callable[[Sequence[State]], KernelMachine],
    loop: Loop,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> list[Relevance]:
    """One search per likelihood.

    Parameters
    ----------
    columns : ndarray of shape (n, m)
        Of mean square about one. The first is the bias, which is not penalised.
    likelihoods : sequence of Likelihood
    machine : callable
        Makes a machine of the states of all outputs, for callbacks.
    loop : Loop
        Watches the steps.
    tol, max_iter
        Of `most_probable`.
    """
    found: list[Relevance] = []

    def attributes(last: RelevanceStep) -> dict[str, Any]:
        return {"machine_": machine([*(one.state for one in found), last.state])}

    with one_thread_but() as all_threads:
        threads = all_threads if columns.size > _MANY_NUMBERS else nullcontext
        for k, likelihood in enumerate(likelihoods):
            n_before = sum(one.n_iter for one in found)
            start = RelevanceStep(k, n_before, bias_alone(columns, likelihood), (), loop.seconds)
            states = most_probable(
                columns, start.state, tol=tol, max_iter=max_iter, threads=threads
            )
            run = loop.run(
                partial(_steps, start, states, loop),
                # some outputs of several are no machine
                attributes if k == len(likelihoods) - 1 else None,
                start=start,
                n_hurried=_FEW_STEPS,
                n_before=n_before,
            )
            state, path = run.last.state, run.last.path
            converged = not run.was_ended and len(path) < max_iter
            gains = iter([0.0]) if converged else _gains(columns, state, threads)
            points = np.array(path, dtype=np.float64).reshape(-1, 2)
            found.append(Relevance(state, points, converged, loop.last_of(gains)))
    return found


def _steps(start: RelevanceStep, states: Iterator[State], loop: Loop) -> Iterator[RelevanceStep]:
    n_steps, path = start.n_steps, start.path
    for state in states:
        n_steps += 1
        path = (*path, (state.index.size - 1, state.evidence))
        yield RelevanceStep(start.output, n_steps, state, path, loop.seconds)


def _gains(columns: FloatArray, state: State, threads: Threads) -> Iterator[float]:
    """The gain of the best column outside; before, what is known if Ctrl-C comes."""
    yield np.inf
    yield best_gain(columns, state, threads)
