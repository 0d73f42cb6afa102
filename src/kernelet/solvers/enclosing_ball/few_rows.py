"""All rows around a ball, where they are few and in memory: kernel values are kept.

A step then costs one product of the multipliers with the values of the points at all rows. Balls
share the kernel values: the core sets of ten classes have half of their rows in common.
"""

from __future__ import annotations

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.ball import Ball
from kernelet.solvers.enclosing_ball.free_points import FIRST_ROOM
from kernelet.solvers.enclosing_ball.look import Look, look_at


class KernelRows:
    """A few rows, and k(x_i, .) at all of them, computed when it is first asked for.

    Parameters
    ----------
    kernel : Kernel
        Symmetric, as positive definite kernels are.
    block : Block
        In the order of the index.
    """

    def __init__(self, kernel: Kernel, block: Block) -> None:
        self.block = block
        self._kernel = kernel
        is_dense = isinstance(block.X, np.ndarray)
        self._prepared = kernel.prepare(block.X.astype(np.float64)) if is_dense else None
        self._values: dict[np.intp, FloatArray] = {}

    def at(self, place: np.intp) -> FloatArray:
        """An array of shape (n,)."""
        if place not in self._values:
            X = self.block.X
            row = X[place : place + 1]
            if self._prepared is None:
                values = self._kernel(X, row.toarray())[:, 0]
            else:
                values = self._prepared(row)[0]
            self._values[place] = np.asarray(values, dtype=np.float64)
        return self._values[place]


class RowsAround:
    """A ball among all rows, with the values of its points at them.

    Parameters
    ----------
    ball : Ball
    rows : KernelRows
        All of them.
    """

    def __init__(self, ball: Ball, rows: KernelRows) -> None:
        self._ball, self._rows, block = ball, rows, rows.block
        self._signs, self._g = ball.signs(block), ball.projections(block)
        room, self._m = ball.core.size + FIRST_ROOM, 0
        self._places = np.empty(room, dtype=np.intp)
        # y_i y_j (k(x_i, x_j) + bias - g_i'g_j) of all rows i, for each point j of the core set
        self._gram = np.empty((room, block.codes.size))
        for place in block.places(ball.core.index):
            self._join(place)

    def _join(self, place: np.intp) -> None:
        """Take up the values of a point of the core set."""
        m = self._m
        if m == self._places.size:
            self._places = np.concatenate([self._places, np.empty_like(self._places)])
            self._gram = np.concatenate([self._gram, np.empty_like(self._gram)])
        row = np.add(self._rows.at(place), self._ball.core.bias, out=self._gram[m])
        if self._g.shape[1]:
            row -= self._g @ self._g[place]
        row *= self._signs if self._signs[place] > 0.0 else -self._signs
        self._places[m], self._m = place, m + 1

    def _margins(self) -> FloatArray:
        """y_i f(x_i) of all rows."""
        margins: FloatArray = self._ball.core.multipliers @ self._gram[: self._m]
        return margins

    def look(self) -> Look:
        """Which rows are outside, and how far."""
        return look_at(self._rows.block, self._margins() * self._signs, self._ball.outline)

    def absorb(self, limit: int) -> tuple[int, float]:
        """As `Ball.absorb`, of all rows."""
        ball, begin = self._ball, self._m
        while True:
            margins = self._margins()
            margins[self._places[: self._m]] = np.inf
            at = margins.argmin()
            distance = float(ball.squared_distances(margins[at]))
            if not distance > ball.bound or self._m >= limit:
                return self._m - begin, max(0.0, distance)
            values = self._rows.at(at)[self._places[: self._m]]
            ball.add(self._rows.block, int(at), values, self._g[at])
            self._join(at)
