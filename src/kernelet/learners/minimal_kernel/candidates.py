"""Rows of a minimal kernel classifier: candidates for vectors, those that matter, the stream."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.solvers import Solution, hinge_lasso
from kernelet.subspace import canonical_rows

BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]

# Up to ALL_ROWS rows, all are candidates; with more, a SHARE of them, but at most ALL_ROWS
# (remark 4.3).
ALL_ROWS = 500
SHARE = 0.2
# Rows of each class that are kept whatever their multipliers, those nearest to the margin: without
# any a class is forgotten. Few compared with the 2000 rows that are kept by default.
FEWEST_OF_A_CLASS = 20
# How fast the chance of a row to be kept falls with its distance from the margin: at a margin of 2,
# as far outside as the boundary is inside, it is a fifth. Weights make up for it.
FALL = 4.0
# The past weighs no more than this many times the rows that are kept of it: a sample that stood
# for ever more rows would be fitted ever closer.
MOST_STOOD_FOR = 4.0


def n_candidates_of(n_candidates: Any, n_rows: int) -> int:
    """How many of n_rows distinct rows are candidates, from a number, a share or None."""
    if n_candidates is None:
        return n_rows if n_rows <= ALL_ROWS else min(ALL_ROWS, round(SHARE * n_rows))
    if isinstance(n_candidates, Integral) and not isinstance(n_candidates, bool):
        if int(n_candidates) >= 1:
            return min(int(n_candidates), n_rows)
    elif isinstance(n_candidates, float) and 0.0 < n_candidates <= 1.0:
        return max(1, round(n_candidates * n_rows))
    raise ValueError(
        "n_candidates must be None, a whole number of at least 1 or a share of the rows, a float "
        f"above 0 and up to 1; got {n_candidates!r}."
    )


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows that may become vectors.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
        The candidates, distinct.
    of_row : ndarray of shape (n,)
        For each row the candidate that it is, or -1.
    """

    vectors: FloatArray
    of_row: IndexArray

    def rows_with(self, chosen: BoolArray) -> BoolArray:
        """The rows that are one of the candidates marked."""
        is_candidate = self.of_row >= 0
        marked: BoolArray = is_candidate & chosen[np.where(is_candidate, self.of_row, 0)]
        return marked


def draw_candidates(
    X: Rows,
    weights: FloatArray,
    n_candidates: Any,
    rng: np.random.RandomState,
    always: BoolArray | None = None,
) -> Candidates:
    """Draw candidates from the distinct rows of X, with probabilities in proportion to weights.

    Rows marked by ``always`` are candidates, and do not count.
    """
    rows = canonical_rows(X, None, weights)
    free = np.ones(rows.costs.size, dtype=bool)
    if always is not None:
        free[rows.inverse[always]] = False
    index = np.flatnonzero(free)
    n = n_candidates_of(n_candidates, index.size) if index.size else 0
    if n < index.size:
        # the least of exponential waiting times: one after the other, without replacement
        waiting = rng.standard_exponential(index.size) / rows.costs[index]
        index = index[np.argsort(waiting, kind="stable")[:n]]
    chosen = np.sort(np.append(index, np.flatnonzero(~free)))
    position = np.full(rows.costs.size, -1, dtype=np.intp)
    position[chosen] = np.arange(chosen.size)
    vectors = rows.X[chosen]
    dense = vectors.toarray() if sparse.issparse(vectors) else vectors
    return Candidates(np.asarray(dense, dtype=np.float64), position[rows.inverse])


@dataclass(frozen=True, eq=False)
class ReducedKernel:
    """The rectangular kernel of remark 4.4: all that the last linear program needs, (28)-(29).

    Attributes
    ----------
    kernel : Kernel
    rows : ndarray of shape (m1, d)
        Rows with a positive multiplier.
    vectors : ndarray of shape (m2, d)
        Candidates with a coefficient.
    y : ndarray of shape (m1,)
        Labels of the rows, -1 or +1.
    costs : ndarray of shape (m1,)
        Their costs in the last linear program.
    penalties : ndarray of shape (m2,)
        What the coefficients cost there.
    objective : float
        Its least value over all rows and candidates.
    """

    kernel: Kernel
    rows: Rows
    vectors: FloatArray
    y: FloatArray
    costs: FloatArray
    penalties: FloatArray
    objective: float

    @property
    def shape(self) -> tuple[int, int]:
        """(m1, m2)."""
        return self.y.size, self.penalties.size

    def matrix(self) -> FloatArray:
        """The m1 x m2 kernel values."""
        return np.asarray(self.kernel(self.rows, self.vectors), dtype=np.float64)

    def solve(self, tol: float = 1e-8) -> Solution:
        """Solve the last linear program again, on the reduced kernel: its value is ``objective``.

        Parameters
        ----------
        tol : float, default=1e-8
            Relative duality gap.
        """
        return hinge_lasso(self.matrix(), self.y, self.costs, self.penalties, tol=tol)


@dataclass(frozen=True, eq=False)
class Kept:
    """What a stream keeps of the rows seen.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, d)
    codes : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
        The weight of each row, larger if it represents others.
    is_vector : ndarray of shape (n,)
        Whether the row is one of the vectors.
    """

    X: Rows
    codes: IndexArray
    weights: FloatArray
    is_vector: BoolArray

    def with_batch(self, X: Rows, codes: IndexArray, weights: FloatArray) -> Kept:
        """These rows and those of a batch."""
        is_sparse = sparse.issparse(X) or sparse.issparse(self.X)
        stacked = sparse.vstack([self.X, X], format="csr") if is_sparse else np.vstack([self.X, X])
        return Kept(
            stacked,
            np.append(self.codes, codes),
            np.append(self.weights, weights),
            np.append(self.is_vector, np.zeros(codes.size, dtype=bool)),
        )


def retire(
    rows: Kept,
    multipliers: FloatArray,
    costs: FloatArray,
    margins: FloatArray,
    max_kept: int,
    rng: np.random.RandomState,
) -> Kept:
    """Keep the rows that matter, and a sample that represents the others.

    Rows on the margin (0 < multiplier < cost) and vectors are kept as they are; a vertex has no
    more of them than twice its vectors. Of the others, those near the margin or beyond it are
    drawn rather than those far outside, and weigh the more the less probable they were. What is
    kept weighs four times ``max_kept`` at most, so that what is long past fades.

    Parameters
    ----------
    rows : Kept
    multipliers, costs, margins : ndarray of shape (n, k)
        Of each machine.
    max_kept : int
        Rows to keep, but for those that must be.
    rng : RandomState
    """
    must = rows.is_vector | ((multipliers > 0.0) & (multipliers < costs)).any(axis=1)
    nearest = margins.min(axis=1)
    for code in np.unique(rows.codes):
        members = np.flatnonzero(rows.codes == code)
        must[members[np.argsort(nearest[members], kind="stable")[:FEWEST_OF_A_CLASS]]] = True
    others = np.flatnonzero(~must)
    room = max(0, max_kept - int(must.sum()))
    weights = rows.weights.copy()
    if others.size > room:
        score = weights[others] / np.maximum(1.0, 1.0 + FALL * (nearest[others] - 1.0))
        chance = inclusion(score, room)
        # systematic sampling: as many as there is room, each with its own probability
        order = rng.permutation(others.size)
        ends = np.cumsum(chance[order]) + rng.uniform()
        drawn = np.sort(order[np.diff(np.floor(ends), prepend=0.0) >= 1.0])
        weights[others[drawn]] /= chance[drawn]
        others = others[drawn]
    kept = np.sort(np.append(np.flatnonzero(must), others))
    weights *= min(1.0, MOST_STOOD_FOR * max_kept / float(weights[kept].sum()))
    return Kept(rows.X[kept], rows.codes[kept], weights[kept], rows.is_vector[kept])


def inclusion(score: FloatArray, size: int) -> FloatArray:
    """Probabilities in proportion to score, none above 1, that add up to size."""
    chance = np.zeros(score.size)
    certain = np.zeros(score.size, dtype=bool)
    while size > 0:
        left = size - int(certain.sum())
        total = float(score[~certain].sum())
        chance = np.where(certain, 1.0, score * (left / total) if total > 0.0 else 0.0)
        above = (chance > 1.0) & ~certain
        if not above.any():
            break
        certain |= above
    return chance
