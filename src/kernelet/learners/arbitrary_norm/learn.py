"""Machines with a norm of their coefficients as penalty, whatever the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.arbitrary_norm.budget import MAX_TRIES, within_budget
from kernelet.learners.arbitrary_norm.change_of_variables import CoefficientRegularizer
from kernelet.learners.arbitrary_norm.losses import Loss
from kernelet.learners.arbitrary_norm.penalties import norm_penalty
from kernelet.learners.arbitrary_norm.reweighting import (
    ROUGH,
    FirstFeatures,
    NormProblem,
    ReweightedStep,
    SparseFit,
    reweight,
)
from kernelet.learners.base.distinct_points import distinct_points
from kernelet.learners.base.progress import Loop, Run
from kernelet.machine import KernelMachine

# Values of a function below this share of the targets' size are taken for zero: about the square
# root of rounding error.
_NOTHING = 1e-8


@dataclass(frozen=True, eq=False)
class NormSettings:
    """The parameters of an estimator, checked; see there."""

    p: float | str
    C_norm: float
    n_vectors: int | None
    regularizer: CoefficientRegularizer
    tol: float
    max_iter: int

    @property
    def max_steps(self) -> int:
        """The most steps of an output."""
        return self.max_iter * (1 if self.n_vectors is None else MAX_TRIES)


@dataclass(frozen=True, eq=False)
class DistinctRows:
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
    def of(cls, X: Rows, kernel: Kernel) -> DistinctRows:
        """Equal rows are one candidate: of two equal columns neither would ever be dropped."""
        Z, gram, place = distinct_points(X, kernel)
        return cls(kernel, Z, gram, gram if place.size == Z.shape[0] else gram[place])

    def machine(self, outputs: Sequence[SparseFit]) -> KernelMachine:
        """All outputs as one machine; they share the vectors that any of them uses."""
        used = np.unique(np.concatenate([output.index for output in outputs]))
        beta = np.zeros((self.vectors.shape[0], len(outputs)))
        for k, output in enumerate(outputs):
            beta[output.index, k] = output.coefficients
        return KernelMachine(
            self.kernel, self.vectors[used], beta[used], [output.intercept for output in outputs]
        )

    def no_worse_than_a_constant(self, output: SparseFit, loss: Loss) -> SparseFit:
        """An output; or a constant, if coefficients without digits make one that is worse."""
        scores = self.values[:, output.index] @ output.coefficients + output.intercept
        limit = loss.value(np.full(scores.size, loss.constant))
        if loss.value(scores) <= (1.0 + ROUGH) * limit:
            return output
        none = np.empty(0, dtype=np.intp)
        return replace(
            output, index=none, coefficients=np.empty(0), intercept=loss.constant, objective=limit
        )


@dataclass(frozen=True, eq=False)
class NormStep:
    """A step of the sequence behind an output."""

    output: int
    step: ReweightedStep
    C_norm: float
    seconds: float

    @property
    def line(self) -> str:
        at = self.step.at
        return (
            f"output {self.output}  step {self.step.n_iter:3d}  vectors {at.index.size:5d}  "
            f"objective {at.objective:.6e}  change {at.change:.1e}  "
            f"C_norm {self.C_norm:.3g}  {self.seconds:.1f} s"
        )

    @property
    def brief(self) -> str:
        at = self.step.at
        return f"output {self.output}, {at.index.size} vectors, objective {at.objective:.4g}"


@dataclass(frozen=True, eq=False)
class NormOutput:
    """How the sequence behind an output went, and the machine at its end."""

    run: Run[NormStep]
    end: SparseFit

    @property
    def step(self) -> ReweightedStep:
        """The last one."""
        return self.run.last.step

    @property
    def is_lost(self) -> bool:
        """Whether rounding left nothing better than a constant."""
        return self.end is not self.step.best


@dataclass(frozen=True, eq=False)
class NormMachine:
    """A machine, the sequences behind its outputs, and whether the search for C_norm was cut."""

    machine: KernelMachine
    outputs: list[NormOutput]
    C_norm: float
    is_search_cut: bool = False
    is_search_interrupted: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended one of the sequences."""
        return any(output.run.interrupted for output in self.outputs)

    @property
    def is_cut(self) -> bool:
        """Whether Ctrl-C or a callback did."""
        stopped = any(o.run.stopped and not o.step.converged for o in self.outputs)
        return stopped or self.interrupted


def _problem(
    candidates: DistinctRows, kernel: Kernel, settings: NormSettings, size: float
) -> NormProblem:
    # 1 for labels and a Gaussian kernel, as in the paper; and the same problem in other units
    gram = candidates.gram
    first = size / (max(float(gram.max()), -float(gram.min())) or 1.0)
    if not 0.0 < first < np.inf:
        raise ValueError(
            f"{kernel!r} has values of next to nothing, or more than any, on the rows; scale the "
            "data, or change gamma or degree."
        )
    return NormProblem(
        candidates.values,
        gram,
        settings.regularizer,
        settings.tol,
        first,
        _NOTHING * first,
    )


def learn_norm(
    X: Rows,
    kernel: Kernel,
    losses: Sequence[Loss],
    settings: NormSettings,
    loop: Loop,
    size: float = 1.0,
) -> NormMachine:
    """One output per loss, over rows; with a budget, for the C_norm that keeps to it.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        Canonical rows.
    kernel : Kernel
    losses : sequence of Loss
    settings : NormSettings
    loop : Loop
        Watches the steps.
    size : float, default=1.0
        That of the targets.
    """
    candidates = DistinctRows.of(X, kernel)
    problem = _problem(candidates, kernel, settings, size)

    def fit(C_norm: float, has_machine: bool = False) -> NormMachine:
        outputs: list[NormOutput] = []
        first = FirstFeatures(problem) if len(losses) > 1 else None

        def steps() -> Iterator[NormStep]:
            penalty = norm_penalty(settings.p, C_norm)
            k = len(outputs)
            for step in reweight(problem, losses[k], penalty, settings.max_iter, first):
                yield NormStep(k, step, C_norm, loop.seconds)

        def attributes(last: NormStep) -> dict[str, Any]:
            ends = [output.end for output in outputs]
            return {"machine_": candidates.machine([*ends, last.step.at])}

        for loss in losses:
            run = loop.run(
                steps,
                # some outputs of several are no machine
                attributes if len(outputs) == len(losses) - 1 else None,
                # after Ctrl-C one step gives the outputs that are left, if there is no machine yet
                is_needed=loop.interrupted and not has_machine,
            )
            end = candidates.no_worse_than_a_constant(run.last.step.best, loss)
            outputs.append(NormOutput(run, end))
        return NormMachine(candidates.machine([each.end for each in outputs]), outputs, C_norm)

    if settings.n_vectors is None:
        return fit(settings.C_norm)
    learned, is_cut = loop.last_of(within_budget(fit, settings.n_vectors, settings.C_norm))
    return replace(
        learned,
        is_search_cut=is_cut or loop.interrupted,
        is_search_interrupted=loop.interrupted,
    )
