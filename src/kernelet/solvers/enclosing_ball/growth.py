"""Core sets that grow until their balls hold all rows: algorithm 2 of Tsang, Kocsor, Kwok (2006).

A ball takes in the furthest of a few random rows until none of these is outside its (1 + eps)
multiple, and where rows are not in memory, those of a sample that is. Then all rows are looked at,
those outside are taken in, the furthest first, and so on until there are none. What the random rows
only make probable, the last look proves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.few_rows import KernelRows, RowsAround
from kernelet.solvers.enclosing_ball.labelled_rows import LabelledRows
from kernelet.solvers.enclosing_ball.look import Look, look_at_all
from kernelet.solvers.solution import Status

# Up to this many rows, all are looked at and none is drawn (with ``exact_sweep``). Kernel values
# are kept, at most 32 MB of them, and all rows cost less than draws: 0.12 s beside 0.23 s on 1000
# rows of satimage, 0.41 beside 0.50 on 2000, but 1.0 beside 0.84 on 3000.
FEW_ROWS = 2000
# The furthest of 59 random rows is among the furthest 5 % with a probability of 1 - 0.95^59 = 95 %.
SAMPLE_SIZE = 59
# eps is not halved below this: distances are then rounding errors.
_LEAST_EPS = 1e-13
# Points of a ball that had no time: about as many as a sample has rows, so that it takes as many
# draws and no look at all rows.
_HURRY = 60
# Its eps: so small that points join until _HURRY are reached.
_HURRY_EPS = 1e-12


def enclose(
    balls: Sequence[Ball],
    rows: LabelledRows,
    rng: np.random.RandomState,
    *,
    tol: float | None = None,
    sample_size: int | None = 59,
    exact_sweep: bool = True,
    max_iter: int = 5000,
    on_round: Callable[[Ball], bool] | None = None,
) -> bool:
    """Grow balls until their (1 + eps) multiples hold all rows.

    Parameters
    ----------
    balls : sequence of Ball
        Changed in place; their status says how they ended.
    rows : LabelledRows
    rng : RandomState
    tol : float or None, default=None
        Relative duality gap of the L2-SVM to reach as well; eps is halved until it is.
    sample_size : int or None, default=59
        Number of rows drawn at random, of which the furthest joins. Of 59 it is among the furthest
        5 %, with 95 % confidence. With None, or at most 2000 rows and ``exact_sweep``, all rows are
        looked at from the start.
    exact_sweep : bool, default=True
        Whether all rows are looked at in the end. If not, the guarantee is only probable.
    max_iter : int, default=5000
        Most points of a core set.
    on_round : callable, default=None
        Called with each ball after each round; all end when it returns True.

    Returns
    -------
    bool
        Whether Ctrl-C ended it. Balls that had no time yet are then made of a few random rows.
    """
    if not (sample_size or exact_sweep):
        raise ValueError("with sample_size=None all rows must be looked at: set exact_sweep=True.")
    draws = sample_size is not None and (rows.shape[0] > FEW_ROWS or not exact_sweep)
    near = rows.at_hand() if exact_sweep else None
    few = None if draws else _few_rows(balls, rows)
    active = list(balls)
    fresh = set(map(id, active))
    try:
        for ball in active:
            ball.start(rows)
        while active:
            begun = [ball for ball in active if id(ball) in fresh]
            fresh.clear()
            if draws:
                for ball in begun:
                    ball.sample(rows, rng, sample_size or 0, max_iter)
            if near is not None:
                _take_in_near(begun, near, max_iter)
            if not exact_sweep:
                active = _left_unproven(active, max_iter)
            elif few is not None:
                active = _take_in_few(active, few, tol, max_iter, fresh)
            else:
                active = _take_in_all(active, rows, tol, max_iter, fresh)
            if on_round is not None and any([on_round(ball) for ball in balls]):
                hurry(active, rows, rng, sample_size)
                return False
    except KeyboardInterrupt:
        hurry(active, rows, rng, sample_size)
        for ball in active:
            ball.interrupted = True
        return True
    return False


def hurry(
    balls: Sequence[Ball], rows: LabelledRows, rng: np.random.RandomState, sample_size: int | None
) -> None:
    """Give balls that have hardly begun a few random rows."""
    for ball in balls:
        ball.start(rows)
        # a ball so wide that it holds all rows from the start says nothing about them
        ball.eps = min(ball.eps, _HURRY_EPS)
        ball.sample(rows, rng, sample_size or SAMPLE_SIZE, _HURRY)
        ball.status = Status.ITERATION_LIMIT


def _few_rows(balls: Sequence[Ball], rows: LabelledRows) -> KernelRows | None:
    """The rows, with kernel values that the balls share, if they are few and in memory."""
    block = rows.whole() if rows.shape[0] <= FEW_ROWS and balls else None
    return None if block is None else KernelRows(balls[0].kernel, block)


def _take_in_near(balls: Sequence[Ball], rows: LabelledRows, max_iter: int) -> None:
    """Grow until no row in memory is outside, which saves looks at the out-of-core rows."""
    active = list(balls)
    while active:
        looks = look_at_all(active, rows)
        active = [
            ball
            for ball, look in zip(active, looks, strict=True)
            if look.pool is not None and ball.absorb(look.pool, max_iter)[0]
        ]


def _take_in_all(
    balls: Sequence[Ball], rows: LabelledRows, tol: float | None, max_iter: int, fresh: set[int]
) -> list[Ball]:
    """Look at all rows, and take in those outside; the balls that have to go on."""
    looks = look_at_all(balls, rows)
    return [
        ball
        for ball, look in zip(balls, looks, strict=True)
        if _take_in(ball, look, partial(_absorb, ball, look), tol, max_iter, fresh)
    ]


def _absorb(ball: Ball, look: Look, limit: int) -> tuple[int, float]:
    """Take in what a look has found outside."""
    return (0, 0.0) if look.pool is None else ball.absorb(look.pool, limit)


def _take_in_few(
    balls: Sequence[Ball], rows: KernelRows, tol: float | None, max_iter: int, fresh: set[int]
) -> list[Ball]:
    """The same, of few rows: one ball after the other, so that one has its values in memory."""
    active = []
    for ball in balls:
        around = RowsAround(ball, rows)
        if _take_in(ball, around.look(), around.absorb, tol, max_iter, fresh):
            active.append(ball)
    return active


def _left_unproven(balls: Sequence[Ball], max_iter: int) -> list[Ball]:
    """Balls that only random rows have seen; none has to go on."""
    for ball in balls:
        at_limit = ball.core.size >= max_iter
        ball.status = Status.ITERATION_LIMIT if at_limit else Status.OPTIMAL
    return []


def _take_in(
    ball: Ball,
    look: Look,
    absorb: Callable[[int], tuple[int, float]],
    tol: float | None,
    max_iter: int,
    fresh: set[int],
) -> bool:
    """What a look at all rows means for a ball; whether it has to go on."""
    ball.reach = _ratio(look.furthest, ball)
    if ball.C is not None:
        bias = float(ball.core.weights.sum())
        ball.primal_value = 0.5 * (ball.core.squared_weight() + bias**2) + look.loss
    if look.pool is not None:
        if ball.core.size >= max_iter:
            ball.status = Status.ITERATION_LIMIT
            return False
        reach, primal = ball.reach, ball.primal_value
        n_added, furthest = absorb(max_iter)
        if n_added:
            return True
        # nothing is outside in double precision
        ball.reach, ball.primal_value = reach, primal
        if not look.is_whole:
            ball.status = Status.NUMERICAL_LIMIT
            return False
        ball.reach = min(reach, _ratio(max(furthest, ball.bound), ball))
    if tol is None or ball.C is None or ball.gap <= tol:
        ball.status = Status.OPTIMAL
        return False
    if ball.eps <= _LEAST_EPS:
        ball.status = Status.NUMERICAL_LIMIT
        return False
    ball.eps *= 0.5
    fresh.add(id(ball))
    return True


def _ratio(squared_distance: float, ball: Ball) -> float:
    """A distance over the radius; the points of the core set have 1."""
    if ball.radius > 0.0:
        return max(1.0, float(np.sqrt(max(squared_distance, 0.0))) / ball.radius)
    return 1.0 if squared_distance <= ball.bound else np.inf
