"""Features that a learned kernel hardly looks at, left out of it.

Logarithms of scales never reach zero. After the descent the features that make up the smallest part
of the distances get a scale of zero, if rows held out cost no more without them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.kernels import ScaledFeatures
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.direct.search.cost_path import divided
from kernelet.learners.direct.search.inner_problem import LossProblem, SmoothProblem
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.learners.direct.search.samples import GrowingSample
from kernelet.subspace import WhitenedMap

# Parts of the mean squared distance between rows that are tried to be left out, one after the
# other: constant columns, then powers of ten. Features that make up more than a tenth matter.
_PARTS = (0.0, 1e-3, 1e-2, 0.1)
# How much more the held-out rows may cost: a smaller difference is noise.
_WORSE = 1e-3


def without_small_scales(source: GrowingSample, at: Evaluation, seed: int) -> Evaluation:
    """The evaluation, or the one with scales of zero that is as good.

    Parameters
    ----------
    source : GrowingSample
        With a `LossProblem`.
    at : Evaluation
        With a scale for each feature.
    seed : int
        Draws the rows held out.
    """
    kernel = at.kernel
    if not isinstance(kernel, ScaledFeatures) or source.is_sparse:
        return at
    X, problem = source.at_hand()
    scales = np.array(kernel.scales)
    parts = np.square(scales * source.spread)
    order = np.argsort(parts, kind="stable")
    small = np.cumsum(parts[order]) / max(float(parts.sum()), np.finfo(np.float64).tiny)
    best, limit = scales, None
    for share in _PARTS:
        fewer = np.where(np.isin(np.arange(scales.size), order[small <= share]), 0.0, scales)
        if (fewer == best).all():
            continue
        if parts[fewer == 0.0].any():  # not only columns that are constant
            if limit is None:
                limit = (1.0 + _WORSE) * _held_out_loss(X, problem, at, scales, seed)
            if not _held_out_loss(X, problem, at, fewer, seed) <= limit:  # nor a loss of NaN
                break
        best = fewer
    return at if best is scales else _solved(source, at, best)


def _held_out_loss(
    X: Rows, problem: SmoothProblem, at: Evaluation, scales: FloatArray, seed: int
) -> float:
    """Over the vectors found, on a quarter of the rows, or of 4000 of them."""
    kept, held = divided(np.ones(X.shape[0]), seed)[0]
    space = WhitenedMap.from_vectors(_with(at, scales), at.vectors)
    start = space.weights(at.coefficients), at.intercepts
    part = problem.subset(kept.index, X.shape[0] / kept.index.size)
    solution = part.approximate(space.features(X[kept.index]), start)
    scores = space.features(X[held.index]) @ solution.weights + solution.intercepts
    others = problem.subset(held.index)
    assert isinstance(others, LossProblem)
    return others.loss(scores)


def _solved(source: GrowingSample, at: Evaluation, scales: FloatArray) -> Evaluation:
    """The machine over the vectors found, in which features left out have their mean."""
    vectors = np.where(scales > 0.0, at.vectors, source.centre)
    kernel = _with(at, scales)
    if not source.spread[scales == 0.0].any():
        return replace(at, kernel=kernel, vectors=vectors)  # nothing else changes
    space = WhitenedMap.from_vectors(kernel, vectors)
    solution = source.solve(space, (space.weights(at.coefficients), at.intercepts))
    return Evaluation.of(space, solution, at.gradient)


def _with(at: Evaluation, scales: FloatArray) -> ScaledFeatures:
    assert isinstance(at.kernel, ScaledFeatures)
    return ScaledFeatures(at.kernel.kernel, tuple(scales))
