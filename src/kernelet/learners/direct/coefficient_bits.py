"""Coefficients in few bits, whose scores stay near those of exact ones.

The coefficients of a vector share a scale, and the last one to be rounded makes up for what was
done to the others: with 6 bits a coefficient, errors stay what they are. (On letter with 100
vectors, rounding each for itself in units of the largest takes 10.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.machine import CompactForm, KernelMachine, VectorGrid
from kernelet.machine.compact import COEFFICIENT_BITS
from kernelet.machine.rounding import coefficient_scales, compact_form

# By which share of itself rounding the coefficients may raise W. In validation on training rows of
# five sets 6 bits raise it by 0.3 to 4.5 % and cost no errors; 5 bits raise it by 1 to 18 % and
# cost 0.1 points on average, 4 bits by 6 to 150 % and cost half a point.
_MOST_RAISED = 0.05
# Where there is no W to go by: the share of their spread by which scores may move, a root mean
# square.
_MOST_MOVED = 0.02
# The same for each output by itself, so that W of a large one does not hide what is done to a small
# one. With classes, outputs in 6 bits move by 0.03 to 0.1 of their spread.
_MOST_MOVED_OF_AN_OUTPUT = 0.25
# Intercepts have a unit of at most a 2^22nd of the largest of them; several times that.
_INTERCEPT_ERROR = 1e-6
# Rows that do not cost anything count as this share of a row that does. With none, scores of rows
# far from the margin may move until they cost; by validation, a fifth of it and five times as much
# are worse at 4 bits.
_RESTING = 0.02
# Rows by which rounding is judged. With classes by the dozen a few percent of them cost, which must
# be more than there are vectors.
_MOST_ROWS = 20_000
# Added to the diagonal of a Gram matrix of kernel values, in units of its largest entry, so that it
# has a Cholesky factor: rounding is done in double precision.
_JITTER = 1e-12


@dataclass(frozen=True, eq=False)
class Judge:
    """Rows whose scores should stay what they are.

    Attributes
    ----------
    X : array or CSR of shape (n, d)
    active : ndarray of shape (n, k), bool, or None
        The rows that cost something; None counts all of them alike.
    loss : callable or None
        What scores of shape (n, k) cost, in the units of 1/2 beta'K beta.
    """

    X: Rows
    active: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None = None
    loss: Callable[[FloatArray], float] | None = None

    @classmethod
    def of_rows(cls, X: Rows) -> Judge:
        """Some of the rows, all alike."""
        return cls(X[:: every(X.shape[0])])


def every(n_rows: int) -> int:
    """The stride by which rows are left out where there are more than needed."""
    return -(-n_rows // _MOST_ROWS)


def in_few_bits(grid: VectorGrid, machine: KernelMachine, judge: Judge) -> KernelMachine:
    """A machine over the vectors of a grid, with coefficients of as few bits as do no harm.

    Parameters
    ----------
    grid : VectorGrid
    machine : KernelMachine
        Over its vectors, with any coefficients.
    judge : Judge
    """
    K = np.asarray(machine.kernel(judge.X, machine.vectors), dtype=np.float64)
    rounding = _NearestPlane(K, machine.coefficients, judge.active)
    scores = K @ machine.coefficients + machine.intercepts
    does_no_harm = _limit(judge, machine, scores)
    for bits in COEFFICIENT_BITS:
        form = _rounded(rounding, grid, machine, bits)
        after = K @ form.coefficient_values + form.intercept_values
        if does_no_harm(form, after) and _are_near(after, scores, _MOST_MOVED_OF_AN_OUTPUT):
            break
    else:
        if not _are_near(after, scores, _MOST_MOVED_OF_AN_OUTPUT):
            warn_caller(
                "16 bits are too few for the coefficients: the outputs differ too much in size, or "
                "nearly cancel. Scale the targets to similar sizes, raise gamma, lower C, or take "
                "vector_bits=None."
            )
    return KernelMachine.from_compact(form)


def _are_near(after: FloatArray, scores: FloatArray, most: float) -> bool:
    """Whether no output has moved by more than a share of its spread, a root mean square."""
    moved = np.sqrt(np.square(after - scores).mean(axis=0))
    # what a constant output moves by is the rounding of its intercept
    limits = most * scores.std(axis=0) + _INTERCEPT_ERROR * np.abs(scores).max(axis=0)
    return bool((moved <= limits).all())


def _limit(
    judge: Judge, machine: KernelMachine, scores: FloatArray
) -> Callable[[CompactForm, FloatArray], bool]:
    """Whether a rounded machine, which has these scores, is near enough to the exact one."""
    if judge.loss is None:
        return lambda _, after: _are_near(after, scores, _MOST_MOVED)
    loss, gram = judge.loss, machine.kernel(machine.vectors, machine.vectors)

    def value(coefficients: FloatArray, scores: FloatArray) -> float:
        return 0.5 * float((coefficients * (gram @ coefficients)).sum()) + loss(scores)

    highest = (1.0 + _MOST_RAISED) * value(machine.coefficients, scores)
    return lambda form, after: value(form.coefficient_values, after) <= highest


def _rounded(
    rounding: _NearestPlane, grid: VectorGrid, machine: KernelMachine, bits: int
) -> CompactForm:
    scales = coefficient_scales(machine.coefficients, machine.intercepts, bits)
    codes, shift = rounding(scales.values, 2 ** (bits - 1) - 1)
    return compact_form(grid, codes, scales, machine.intercepts + shift, bits)


class _NearestPlane:
    """Whole numbers whose scores are near those of exact coefficients, by Babai's nearest plane.

    With K'K = R'R, K centred, the last coefficient is rounded, the others make up for it, and so
    on. Rounding each for itself moves scores more, by a factor that grows with how alike the
    vectors are.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        Kernel values.
    coefficients : ndarray of shape (m, k)
    active : ndarray of shape (n, k), bool, or None
    """

    def __init__(
        self,
        K: FloatArray,
        coefficients: FloatArray,
        active: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None,
    ) -> None:
        self.coefficients = coefficients
        m, k = coefficients.shape
        # Values that are all large and nearly the same would cancel in the products below, and
        # larger ones overflow; the nearest plane is the same in every unit.
        shift = K.mean(axis=0)
        K = K - shift
        unit = max(float(np.abs(K).max(initial=0.0)), np.finfo(np.float64).tiny)
        K = K / unit
        total, gram = K.sum(axis=0), K.T @ K
        self.means = np.empty((k, m))
        self.factors = np.empty((k, m, m))  # R of each output
        for o in range(k):
            if active is None:
                own, weight, mean = gram, float(len(K)), total / len(K)
            else:
                few = K[active[:, o]]
                weight = len(few) + _RESTING * len(K)
                mean = (few.sum(axis=0) + _RESTING * total) / weight
                own = few.T @ few + _RESTING * gram
            own = own - weight * np.outer(mean, mean)
            own[np.diag_indices(m)] += _JITTER * max(float(own.max(initial=0.0)), weight * 1e-300)
            self.means[o], self.factors[o] = shift + unit * mean, _factor(own)

    def __call__(self, scales: FloatArray, largest: int) -> tuple[FloatArray, FloatArray]:
        """The whole numbers, of shape (m, k), and what is to be added to the intercepts."""
        R = self.factors * scales
        exact = self.coefficients / scales[:, np.newaxis]
        codes = np.zeros_like(exact)
        target = np.einsum("kij,jk->ik", R, exact)
        for j in range(len(exact) - 1, -1, -1):
            rest = np.einsum("kj,jk->k", R[:, j, j + 1 :], codes[j + 1 :])
            codes[j] = np.clip(np.rint((target[j] - rest) / R[:, j, j]), -largest, largest)
        moved = self.coefficients - codes * scales[:, np.newaxis]
        return codes, np.einsum("kj,jk->k", self.means, moved)


def _factor(gram: FloatArray) -> FloatArray:
    """R with R'R = gram; a larger share of the diagonal is added until there is one."""
    size = max(float(np.abs(gram).max(initial=0.0)), np.finfo(np.float64).tiny)
    share = _JITTER
    while True:
        try:
            R: FloatArray = np.linalg.cholesky(gram).T
        except np.linalg.LinAlgError:
            gram = gram + share * size * np.eye(len(gram))
            share *= 100.0
            continue
        return R
