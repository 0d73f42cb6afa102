"""Minimal kernel classifiers: from rows and candidates to machines, and what generates them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.minimal_kernel.candidates import Candidates, Kept, ReducedKernel, retire
from kernelet.learners.minimal_kernel.linearisation import (
    Linearisation,
    LinearPrograms,
    PoundLoss,
    SuccessiveLinearisation,
)
from kernelet.machine import KernelMachine
from kernelet.solvers import Solution, hinge_lasso_many


@dataclass(frozen=True, eq=False)
class MinimalKernelSettings:
    """The parameters of the estimator, checked; see there."""

    C: float
    loss: PoundLoss
    solver: Callable[[FloatArray, FloatArray, float], LinearPrograms]
    tol: float
    max_iter: int
    max_kept: int


@dataclass(frozen=True, eq=False)
class MinimalKernel:
    """What was learned.

    Attributes
    ----------
    machine : KernelMachine
    ends : list of Linearisation
        The last linear program of each machine.
    reduced_kernels : list of ReducedKernel
        All that each of these needs.
    loo_error_bound : float
        That of the linear program (10), equation (13).
    kept : Kept
        What a stream keeps of the rows.
    """

    machine: KernelMachine
    ends: list[Linearisation]
    reduced_kernels: list[ReducedKernel]
    loo_error_bound: float
    kept: Kept


def learn_minimal_kernel(
    data: TrainingData, candidates: Candidates, settings: MinimalKernelSettings, loop: Loop
) -> MinimalKernel:
    """Algorithm 4.2 for each machine of one-vs-rest.

    Parameters
    ----------
    data : TrainingData
        Its generator draws the rows that are kept.
    candidates : Candidates
        Rows that may become vectors.
    settings : MinimalKernelSettings
    loop : Loop
        Watches the linear programs after (10).
    """
    X, Y, vectors = data.X, data.targets, candidates.vectors
    costs = settings.C * data.weights
    Phi = np.asarray(data.kernel(X, vectors), dtype=np.float64)

    def attributes(step: Linearisation) -> dict[str, Any]:
        return {"machine_": _machine(data.kernel, vectors, [step.solution])}

    ends: list[Linearisation] = []
    reduced: list[ReducedKernel] = []
    marked = np.zeros(data.codes.size, dtype=bool)
    firsts = hinge_lasso_many(Phi, Y, costs, tol=settings.tol, n_jobs=1)
    for k, (y, first) in enumerate(zip(Y.T, firsts, strict=True)):
        programs = settings.solver(Phi, y, settings.tol)
        sequence = SuccessiveLinearisation(Phi, y, costs, settings.loss, programs, k)
        start = sequence.start(first)
        last = loop.run(
            partial(sequence.steps, start, settings.max_iter),
            # one machine of several is no classifier
            attributes if Y.shape[1] == 1 else None,
            start=start,
            # after Ctrl-C the machines that are left stay those of (10)
            n_hurried=0,
        ).last
        ends.append(last)
        reduced.append(_reduced(data, candidates, y, last))
        marked |= (first.multipliers > 0.0) | candidates.rows_with(first.weights != 0.0)
    solutions = [end.solution for end in ends]
    return MinimalKernel(
        _machine(data.kernel, vectors, solutions),
        ends,
        reduced,
        float(data.weights[marked].sum() / data.weights.sum()),
        _kept(data, candidates, Phi, ends, settings.max_kept),
    )


def _weights(solutions: Sequence[Solution]) -> tuple[FloatArray, FloatArray]:
    W = np.stack([solution.weights for solution in solutions], axis=1)
    return W, np.array([solution.intercept for solution in solutions])


def _machine(kernel: Kernel, vectors: FloatArray, solutions: Sequence[Solution]) -> KernelMachine:
    """The machine over the candidates that have a coefficient."""
    W, intercepts = _weights(solutions)
    used = (W != 0.0).any(axis=1)
    return KernelMachine(kernel, vectors[used], W[used], intercepts)


def _reduced(
    data: TrainingData, candidates: Candidates, y: FloatArray, last: Linearisation
) -> ReducedKernel:
    rows, columns = last.solution.multipliers > 0.0, last.solution.weights != 0.0
    return ReducedKernel(
        data.kernel,
        data.X[np.flatnonzero(rows)],
        candidates.vectors[columns],
        y[rows],
        last.costs[rows],
        last.penalties[columns],
        last.solution.primal_value,
    )


def _kept(
    data: TrainingData,
    candidates: Candidates,
    Phi: FloatArray,
    ends: Sequence[Linearisation],
    max_kept: int,
) -> Kept:
    W, b = _weights([end.solution for end in ends])
    is_vector = candidates.rows_with((W != 0.0).any(axis=1))
    return retire(
        Kept(data.X, data.codes, data.weights, is_vector),
        np.stack([end.solution.multipliers for end in ends], axis=1),
        np.stack([end.costs for end in ends], axis=1),
        data.targets * (Phi @ W + b),
        max_kept,
        data.rng,
    )
