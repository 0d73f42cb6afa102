"""Directions of largest margin, each orthogonal to those before: algorithm 1, and by core sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelet.learners.core_vectors.growth import Growth, Outcome
from kernelet.learners.core_vectors.sources import Source, has_more
from kernelet.machine import KernelMachine
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.exact_margin import ExactMargin, exact_margin
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion, direction
from kernelet.solvers.enclosing_ball.labelled_rows import TableRows

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
T = TypeVar("T")
SOLVERS = ("core_set", "exact")
# Bytes that the features of all rows may take while features are learned.
_MOST_BYTES = 1 << 28
# Below, finer balls are no other.
_LEAST_EPS = 1e-12


def spread(n_components: int, codes: Sequence[int]) -> list[list[int]]:
    """The classes that get a feature in each round, as evenly as can be.

    Examples
    --------
    >>> spread(5, [0, 1, 2])
    [[0, 1, 2], [0, 1]]
    """
    order = [codes[k % len(codes)] for k in range(n_components)]
    return [order[k : k + len(codes)] for k in range(0, n_components, len(codes))]


def learn_features(
    estimator: Any, source: Source, report: Callable[..., bool], rounds: Sequence[Sequence[int]]
) -> tuple[IndexArray, KernelMachine]:
    """Learn all features with the parameters of an estimator, and set its fitted attributes.

    Returns
    -------
    classes : ndarray of shape (n_components,)
        The class of each feature.
    machine : KernelMachine
        Their signed distances.
    """
    growth = Growth(estimator, source, report)
    is_exact = estimator.solver == "exact"
    table = source.rows if isinstance(source.rows, TableRows) else None
    if is_exact and table is None:
        raise ValueError(
            'solver="exact" needs all rows in memory; take solver="core_set", or fit an array.'
        )
    order = [code for codes in rounds for code in codes]
    n_bytes = 8 * source.rows.shape[0] * len(order)
    keeps = is_exact or n_bytes <= _MOST_BYTES
    earlier: dict[int, Directions] = {}
    features: list[Expansion] = []
    outcomes: list[Outcome] = []
    for codes in rounds:
        before = [earlier.get(code) for code in codes]
        if is_exact and table is not None:
            found = _exactly(growth, table.whole(), codes, before, outcomes)
        else:
            found = _by_core_sets(growth, codes, before, outcomes)
        for code, known, feature in zip(codes, before, found, strict=True):
            if feature is None:
                raise ValueError(_nothing_left(estimator, source, len(rounds), known))
            features.append(feature)
            earlier[code] = _finished(
                growth, partial(_extended, growth, known, feature, table if keeps else None)
            )
    growth.store(outcomes)
    machine = Expansion.joined(features).machine(source.kernel)
    return np.array(order, dtype=np.intp), machine


def _by_core_sets(
    growth: Growth,
    codes: Sequence[int],
    before: Sequence[Directions | None],
    outcomes: list[Outcome],
) -> list[Expansion | None]:
    """Features from balls; where a ball holds all rows with w = 0, eps is lowered."""
    balls = growth.grow(codes, before)
    features = [_feature(growth, ball, ball.directions) for ball in balls]
    for k, (code, known) in enumerate(zip(codes, before, strict=True)):
        eps = growth.eps
        while features[k] is None and eps > _LEAST_EPS and not (growth.interrupted or growth.ended):
            if known is not None and not has_more(growth.source, known):
                break
            eps *= 0.1
            balls[k] = growth.grow([code], [known], eps=eps)[0]
            features[k] = _feature(growth, balls[k], known)
    outcomes += [Outcome.of(ball) for ball in balls]
    return features


def _feature(
    growth: Growth, machine: Ball | ExactMargin, known: Directions | None
) -> Expansion | None:
    source = growth.source

    def made() -> Expansion | None:
        own = machine.own if isinstance(machine, ExactMargin) else machine.expansion(False)
        return direction(source.kernel, own, source.diagonal, known)

    return _finished(growth, made)


def _finished(growth: Growth, step: Callable[[], T]) -> T:
    """What a short step gives, also if Ctrl-C came on the way: what comes after it then hurries."""
    try:
        return step()
    except KeyboardInterrupt:
        growth.interrupted = True
        return step()


def _exactly(
    growth: Growth,
    block: Block,
    codes: Sequence[int],
    before: Sequence[Directions | None],
    outcomes: list[Outcome],
) -> list[Expansion | None]:
    """After Ctrl-C, a few rows each."""
    source = growth.source
    features: list[Expansion | None] = []
    for code, known in zip(codes, before, strict=True):
        try:
            if growth.interrupted or growth.ended:
                raise KeyboardInterrupt
            labels = np.where(block.codes == code, 1.0, -1.0)
            costs = growth.C * block.weights
            machine = exact_margin(
                block.X, labels, costs, source.kernel, known, max_iter=growth.max_iter
            )
        except KeyboardInterrupt:
            growth.interrupted = not growth.ended
            features += _by_core_sets(growth, [code], [known], outcomes)
            continue
        features.append(_feature(growth, machine, known))
        radius = float(np.sqrt(source.lift(growth.C) - 0.5 / machine.primal_value))
        gap = (machine.primal_value - machine.dual_value) / machine.primal_value
        outcomes.append(
            Outcome(
                machine.n_vectors,
                radius,
                1.0,
                gap,
                machine.primal_value,
                machine.n_iter,
                machine.status,
            )
        )
        growth.report_round(code, machine.n_vectors, 1.0, gap)
    return features


def _extended(
    growth: Growth, known: Directions | None, feature: Expansion, table: TableRows | None
) -> Directions:
    """The directions of a class and one more, with their values at all rows of a table."""
    source, own = growth.source, feature.without_intercept()
    expansion = own if known is None else Expansion.joined([known.expansion, own])
    if known is not None:
        growth.overlap = max(growth.overlap, float(np.abs(known.products(own)).max()))
    if table is None:
        return Directions(source.kernel, expansion)
    values = own.values(source.kernel, table.whole().X)
    if known is not None and known.known is not None:
        values = np.hstack([known.known, values])
    return Directions(source.kernel, expansion, values)


def _nothing_left(estimator: Any, source: Source, n_rounds: int, known: Directions | None) -> str:
    size = f"C={estimator.C:g} is too large, or too small, for rows of this size; scale them first."
    if known is None:
        return (
            "there is no direction in which the classes differ by more than rounding: each row is "
            f"in several classes, or all rows are equal; look for what mixed up X and y. Or {size}"
        )
    asks = (
        f"n_components={estimator.n_components} asks for {n_rounds} orthogonal directions for a "
        f"class, but "
    )
    if has_more(source, known):
        return (
            f"{asks}after {known.n_directions} the classes differ by no more than rounding; give a "
            f"smaller n_components. Or {size}"
        )
    return (
        f"{asks}the rows span no more than {known.n_directions} in the feature space of this "
        "kernel; give a smaller n_components, or a kernel with more dimensions."
    )
