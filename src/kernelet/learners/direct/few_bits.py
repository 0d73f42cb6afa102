"""Machines in few bits: the vectors are rounded, and the convex problem is solved again over them.

The coefficients make up for what rounding does to the vectors, so that 5 bits an entry cost next to
nothing. (On letter, 8 bits without solving again turn 4.4 % of errors into 12.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.direct.coefficient_bits import Judge, every, in_few_bits
from kernelet.learners.direct.learn import LearnedVectors
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.inner_problem import LossProblem
from kernelet.learners.direct.search.on_grid import MOST_SEARCHED_BITS, search_on_grid
from kernelet.learners.direct.search.rows import RowsInMemory, SearchRows, at_hand
from kernelet.machine import KernelMachine
from kernelet.machine.rounding import vector_grid
from kernelet.subspace import WhitenedMap


@dataclass(frozen=True, eq=False)
class Rounded:
    """A machine in few bits.

    Attributes
    ----------
    machine : KernelMachine
    values : list of float
        W of each search over the rounded vectors, before the coefficients are rounded.
    interrupted : bool
        Whether Ctrl-C ended the search on the grid.
    """

    machine: KernelMachine
    values: list[float]
    interrupted: bool


def round_and_solve(learned: LearnedVectors, bits: int, *, drops_constant: bool) -> Rounded:
    """The machine over the rounded vectors of all searches.

    Parameters
    ----------
    learned : LearnedVectors
    bits : int
    drops_constant : bool
        Whether the kernel may stop using columns that are constant in the rows.
    """
    ends, rows = [search.best for search in learned.searches], learned.rows
    Z = np.concatenate([end.vectors for end in ends])
    droppable = rows[0].is_constant if drops_constant else None
    # all searches have the same kernel
    grid = vector_grid(ends[0].kernel, Z, bits, droppable=droppable)
    sizes = np.cumsum([len(end.vectors) for end in ends])[:-1]
    interrupted = learned.interrupted
    if bits <= MOST_SEARCHED_BITS and not interrupted:
        points = np.split(grid.seen(Z), sizes)
        try:
            parts = [
                search_on_grid(at_hand(own), grid, part, end.coefficients)
                for own, part, end in zip(rows, points, ends, strict=True)
            ]
            grid = replace(grid, codes=np.concatenate([part.codes for part in parts]))
        except KeyboardInterrupt:  # the nearest points of the grid will do; again is passed on
            interrupted = True
    kernel, vectors = grid.full_kernel, grid.vectors
    betas, intercepts, values, slopes = [], [], [], []
    for end, own, part in zip(ends, rows, np.split(vectors, sizes), strict=True):
        space = WhitenedMap.from_vectors(kernel, part)
        solution = own.solve(space, (space.weights(end.coefficients), end.intercepts))
        betas.append(space.coefficients(solution.weights))
        intercepts.append(solution.intercepts)
        values.append(solution.value)
        slopes.append(solution.score_gradient)
    machine = KernelMachine(kernel, vectors, block_diag(*betas), np.concatenate(intercepts))
    return Rounded(in_few_bits(grid, machine, _judge(rows, slopes)), values, interrupted)


def svm_judge(
    X: Rows, Y: FloatArray, costs: FloatArray, loss: str, machine: KernelMachine
) -> Judge:
    """Some of the rows of an SVM; those below the margin cost something."""
    index = np.arange(0, X.shape[0], every(X.shape[0]))
    problem = SVMProblem(Y, costs, loss).subset(index, X.shape[0] / index.size)
    scores = machine.decision_function(X[index]).reshape(index.size, -1)
    return Judge(X[index], Y[index] * scores < 1.0, problem.loss)


def _judge(rows: list[SearchRows], slopes: Sequence[object]) -> Judge:
    """Some of the rows of all searches, and which of them cost something."""
    near = [at_hand(each) for each in rows]
    n = int(near[0].X.shape[0])
    index = np.arange(0, n, every(n))
    X = near[0].X[index]
    of_rows = [part for part in slopes if isinstance(part, np.ndarray) and len(part) == n]
    if len(of_rows) < len(rows):  # solved by sums over rows that are not in memory
        return Judge(X)
    active = np.hstack([part[index] != 0.0 for part in of_rows])
    parts = [p.subset(index, n / index.size) for p in _problems(near)]
    if len(parts) < len(rows):
        return Judge(X, active)
    ends = np.cumsum([part.shape[1] for part in of_rows])[:-1]

    def loss(scores: FloatArray) -> float:
        outputs = np.split(scores, ends, axis=1)
        return sum(p.loss(own) for p, own in zip(parts, outputs, strict=True))

    return Judge(X, active, loss)


def _problems(rows: list[RowsInMemory]) -> list[LossProblem]:
    """The problems whose loss can be taken on any scores."""
    return [each.inner for each in rows if isinstance(each.inner, LossProblem)]
