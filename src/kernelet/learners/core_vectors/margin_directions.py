"""Directions of largest margin, each orthogonal to those before: algorithm 1, and by core sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.base.progress import Loop
from kernelet.learners.core_vectors.growth import Growth
from kernelet.learners.core_vectors.result import BallOutcome, CoreSetSettings, LearnedBalls
from kernelet.learners.core_vectors.rows import CoreSetData
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.exact_margin import ExactMargin, exact_margin
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion, direction

# Bytes that the values of all features at all rows may take while features are learned. Beyond,
# they are computed again where they are needed, which costs time and changes nothing but rounding.
_MOST_BYTES = 1 << 28
# Balls are not made finer than this: their growth ends at 1e-13, where distances are rounding.
_LEAST_EPS = 1e-12
# What eps is multiplied by where a ball holds all rows with w = 0. The last ball costs most, and
# those before it little, so that the value is not critical.
_FINER = 0.1

# A feature, where there is one, and what became of its machine.
Found = tuple[Expansion | None, BallOutcome]


@dataclass(frozen=True)
class Solver:
    """A way to find the next feature of each of some classes.

    Attributes
    ----------
    find : callable
        From the growth, the classes and their directions so far to what was found for each.
    needs_memory : bool
        Whether it needs all rows in memory.
    """

    find: Callable[[Growth, Sequence[int], Sequence[Directions | None]], list[Found]]
    needs_memory: bool


def spread(n_components: int, codes: Sequence[int]) -> list[list[int]]:
    """The classes that get a feature in each round, as evenly as can be.

    Examples
    --------
    >>> spread(5, [0, 1, 2])
    [[0, 1, 2], [0, 1]]
    """
    order = [codes[k % len(codes)] for k in range(n_components)]
    return [order[k : k + len(codes)] for k in range(0, n_components, len(codes))]


def learn_margin_features(
    data: CoreSetData,
    rounds: Sequence[Sequence[int]],
    solver: Solver,
    settings: CoreSetSettings,
    loop: Loop,
) -> LearnedBalls:
    """The signed distances from hyperplanes, each orthogonal to those before of its class.

    Parameters
    ----------
    data : CoreSetData
    rounds : sequence of sequence of int
        The classes that get a feature in each round, of `spread`.
    solver : Solver
    settings : CoreSetSettings
    loop : Loop
        Watches the growth. After Ctrl-C the features that are left are learned from few rows.

    Returns
    -------
    LearnedBalls
        The outputs of its machine are the features, in the order of the rounds.
    """
    whole = data.rows.whole()
    if solver.needs_memory and whole is None:
        raise ValueError(
            'solver="exact" needs all rows in memory; take solver="core_set", or fit an array.'
        )
    n_features = sum(map(len, rounds))
    if not solver.needs_memory and 8 * data.rows.shape[0] * n_features > _MOST_BYTES:
        whole = None
    growth = Growth(data, settings, loop)
    earlier: dict[int, Directions] = {}
    features: list[Expansion] = []
    outcomes: list[BallOutcome] = []
    overlaps = [0.0]
    for codes in rounds:
        before = [earlier.get(code) for code in codes]
        found = solver.find(growth, codes, before)
        for code, known, (feature, outcome) in zip(codes, before, found, strict=True):
            if feature is None:
                raise ValueError(_nothing_left(data, settings.C, n_features, len(rounds), known))
            features.append(feature)
            outcomes.append(outcome)
            earlier[code], overlap = loop.finish(_extended, data.kernel, known, feature, whole)
            overlaps.append(overlap)
    machine = Expansion.joined(features).machine(data.kernel)
    return growth.learned(machine, outcomes, max(overlaps))


def _by_core_sets(
    growth: Growth, codes: Sequence[int], before: Sequence[Directions | None]
) -> list[Found]:
    """Features from balls; where a ball holds all rows with w = 0, eps is lowered."""
    balls = growth.grow(codes, before)
    features = [
        _direction(growth, ball.expansion(False), known)
        for ball, known in zip(balls, before, strict=True)
    ]
    for k, (code, known) in enumerate(zip(codes, before, strict=True)):
        eps = growth.settings.eps
        while features[k] is None and eps > _LEAST_EPS and not growth.is_ended:
            if known is not None and not growth.data.has_more(known):
                break
            eps *= _FINER
            balls[k] = growth.grow([code], [known], eps=eps)[0]
            features[k] = _direction(growth, balls[k].expansion(False), known)
    return [(feature, BallOutcome.of(ball)) for feature, ball in zip(features, balls, strict=True)]


def _exactly(
    growth: Growth, codes: Sequence[int], before: Sequence[Directions | None]
) -> list[Found]:
    """Features from machines that are solved exactly; when time is up, from a few rows each."""
    found: list[Found] = []
    for code, known in zip(codes, before, strict=True):
        machine = growth.loop.finish(_exact_machine, growth, code, known)
        if machine is None:
            found += _by_core_sets(growth, [code], [known])
            continue
        outcome = BallOutcome.of_exact(machine, growth.data.lift(growth.settings.C))
        found.append((_direction(growth, machine.own, known), outcome))
        # Ctrl-C on the way leaves what was found
        growth.loop.finish(growth.report, code, outcome.n_vectors, outcome.reach, outcome.gap)
    return found


SOLVERS = {
    "core_set": Solver(_by_core_sets, needs_memory=False),
    "exact": Solver(_exactly, needs_memory=True),
}


def _exact_machine(growth: Growth, code: int, known: Directions | None) -> ExactMargin | None:
    """The machine of a class against the rest; None where there is no time for it."""
    block = growth.data.rows.whole()
    if growth.is_ended or block is None:
        return None
    labels = np.where(block.codes == code, 1.0, -1.0)
    C, max_iter = growth.settings.C, growth.settings.max_iter
    return exact_margin(
        block.X, labels, C * block.weights, growth.data.kernel, known, max_iter=max_iter
    )


def _direction(growth: Growth, own: Expansion, known: Directions | None) -> Expansion | None:
    """A function as a feature: of length one, and orthogonal to what is known."""
    data = growth.data
    return growth.loop.finish(direction, data.kernel, own, data.diagonal, known)


def _extended(
    kernel: Kernel, known: Directions | None, feature: Expansion, block: Block | None
) -> tuple[Directions, float]:
    """The directions of a class and one more, with their values at the rows of a block.

    Also the largest product of the new one with those before, which would be zero but for rounding.
    """
    own = feature.without_intercept()
    values = None if block is None else own.values(kernel, block.X)
    if known is None:
        return Directions(kernel, own, values), 0.0
    if values is not None and known.known is not None:
        values = np.hstack([known.known, values])
    expansion = Expansion.joined([known.expansion, own])
    overlap = float(np.abs(known.products(own)).max())
    return Directions(kernel, expansion, values), overlap


def _nothing_left(
    data: CoreSetData, C: float, n_features: int, n_rounds: int, known: Directions | None
) -> str:
    """Why a class has no further feature."""
    size = f"C={C:g} is too large, or too small, for rows of this size; scale them first."
    if known is None:
        return (
            "there is no direction in which the classes differ by more than rounding: each row is "
            f"in several classes, or all rows are equal; look for what mixed up X and y. Or {size}"
        )
    asks = f"n_components={n_features} asks for {n_rounds} orthogonal directions for a class, but "
    if data.has_more(known):
        return (
            f"{asks}after {known.n_directions} the classes differ by no more than rounding; give a "
            f"smaller n_components. Or {size}"
        )
    return (
        f"{asks}the rows span no more than {known.n_directions} in the feature space of this "
        "kernel; give a smaller n_components, or a kernel with more dimensions."
    )
