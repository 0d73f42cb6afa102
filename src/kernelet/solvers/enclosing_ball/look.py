"""A look at all rows from the centres of balls: which of them are outside, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.kernels.numerics.lazy import lazy
from kernelet.machine import KernelMachine
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.ball import Ball, Outline
from kernelet.solvers.enclosing_ball.expansions import Expansion
from kernelet.solvers.enclosing_ball.labelled_rows import LabelledRows

# Rows that are kept from a look at all rows: those beyond the ball and, where a look is expensive,
# those next to it, since they are the next to be outside when the centre has moved. It is
# enough if a look finds more rows than a ball takes in before the next; the others wait for that.
POOL = 1000
# Rows that all blocks together return, if there are many blocks, but at least one for each block:
# more than the pool, as the furthest rows may lie in a few blocks.
_REPORTED_ROWS = 4 * POOL
# One in _NEXT of these may be a row that is not outside.
_NEXT = 4
# Share of the sum of a function's terms that it loses in single precision, about eight units in the
# last place, and share of eps and of the gap that may be lost.
_LOST_IN_SINGLE = 1e-6
_MAY_BE_LOST = 0.01


def look_at_all(balls: Sequence[Ball], rows: LabelledRows) -> list[Look]:
    """Distances of all rows from the centre of each ball, a block of rows at a time."""
    outlines = [ball.outline for ball in balls]
    excesses = [ball.excess() for ball in balls]
    parts = [
        ball.expansion(with_directions=excess is None)
        for ball, excess in zip(balls, excesses, strict=True)
    ]
    function = Looking(
        Expansion.joined(parts).machine(balls[0].kernel),
        outlines,
        excesses,
        limit=max(1, min(POOL, _REPORTED_ROWS // rows.n_blocks)),
        n_threads=None if rows.n_blocks == 1 else 1,
        single=all(map(_single_will_do, balls, parts)),
        with_next=rows.n_blocks > 1,
    )
    return rows.total(function, "look").balls


def _single_will_do(ball: Ball, function: Expansion) -> bool:
    """Whether rows of single precision may be looked at in that."""
    lost = _LOST_IN_SINGLE * ball.lift * float(np.abs(function.coefficients).sum())
    return lost <= _MAY_BE_LOST * min(1.0, ball.eps * ball.radius**2 / ball.squared_norm)


@dataclass(frozen=True, eq=False)
class Look:
    """What a look at some rows finds for one ball; it adds up over blocks.

    Attributes
    ----------
    bound : float
        Squared radius of the (1 + eps) ball.
    furthest : float
        Largest squared distance of a row outside of the core set.
    loss : float
        sum_i C_i / 2 max(0, 1 - y_i f(x_i))^2.
    n_outside : int
        Rows beyond the (1 + eps) ball.
    kept : Block or None
        The furthest of them, and of those next to them.
    distances : ndarray of shape (n,)
        Squared distances of those kept, the largest first.
    """

    bound: float
    furthest: float
    loss: float
    n_outside: int
    kept: Block | None
    distances: FloatArray

    @property
    def pool(self) -> Block | None:
        """The rows to take in, if any is outside."""
        return self.kept if self.n_outside else None

    @property
    def is_whole(self) -> bool:
        """Whether all rows outside are in the pool."""
        return self.n_outside == int((self.distances > self.bound).sum())

    def __add__(self, other: Look) -> Look:
        kept, distances = self.kept, np.append(self.distances, other.distances)
        if other.kept is not None:
            kept = other.kept if kept is None else Block.joined([kept, other.kept])
            first = np.argsort(-distances, kind="stable")[:POOL]
            kept, distances = kept.take(first), distances[first]
        return Look(
            self.bound,
            max(self.furthest, other.furthest),
            self.loss + other.loss,
            self.n_outside + other.n_outside,
            kept,
            distances,
        )


@dataclass(frozen=True, eq=False)
class Looks:
    """The same for each of several balls."""

    balls: list[Look]

    def __add__(self, other: Looks) -> Looks:
        return Looks([mine + its for mine, its in zip(self.balls, other.balls, strict=True)])


@dataclass(frozen=True, eq=False)
class Looking:
    """A look at a block of rows, which goes to where the rows are.

    Attributes
    ----------
    machine : KernelMachine
        f of each ball.
    outlines : list of Outline
    excesses : list of (ndarray of shape (n,) or None)
        What is to be taken off f of each ball at all rows, where they are in memory.
    limit : int
        Most rows of a block that it returns.
    n_threads : int or None
    single : bool
        Whether rows of single precision are looked at in that.
    with_next : bool
        Whether it also returns some rows that are not outside.
    """

    machine: KernelMachine
    outlines: list[Outline]
    excesses: list[FloatArray | None]
    limit: int
    n_threads: int | None
    single: bool
    with_next: bool

    @lazy
    def _single(self) -> KernelMachine:
        return self.machine.astype(np.float32)

    def __call__(self, block: Block) -> Looks:
        if not block.codes.size:
            return Looks(
                [Look(ball.bound, -np.inf, 0.0, 0, None, np.empty(0)) for ball in self.outlines]
            )
        is_single = self.single and block.X.dtype == np.float32
        machine = self._single if is_single else self.machine
        values = machine.decision_function(block.X, self.n_threads)
        columns = values.reshape(-1, len(self.outlines)).astype(np.float64).T
        looks = [
            look_at(
                block,
                f if excess is None else f - excess[block.index],
                outline,
                limit=self.limit,
                with_next=self.with_next,
            )
            for f, outline, excess in zip(columns, self.outlines, self.excesses, strict=True)
        ]
        return Looks(looks)


def look_at(
    block: Block, f: FloatArray, outline: Outline, *, limit: int = POOL, with_next: bool = False
) -> Look:
    """What the values of f say about a block of rows; see `Looking`."""
    margins = outline.signs(block) * f
    loss = 0.0
    if outline.C is not None:
        slack = np.maximum(0.0, 1.0 - margins)
        loss = 0.5 * outline.C * float(block.weights @ (slack * slack))
    distances = outline.squared_distances(margins)
    distances[block.places(outline.members)] = -np.inf
    outside = np.flatnonzero(distances > outline.bound)
    n_outside = outside.size
    n_next = max(1, limit // _NEXT)
    if with_next and n_outside < n_next < distances.size:
        outside = np.argpartition(-distances, n_next)[:n_next]
    kept = outside[np.argsort(-distances[outside], kind="stable")[:limit]]
    kept = kept[np.isfinite(distances[kept])]
    return Look(
        outline.bound,
        float(distances.max()),
        loss,
        n_outside,
        block.take(kept) if kept.size else None,
        distances[kept],
    )
