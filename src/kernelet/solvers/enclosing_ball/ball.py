"""A ball that grows: the core vector machine, one step at a time (Tsang, Kocsor, Kwok 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import BoolArray, FloatArray, IndexArray, dense
from kernelet.rows import Block
from kernelet.solvers.enclosing_ball.core_set import ROUNDING_RIDGE, CoreSet
from kernelet.solvers.enclosing_ball.expansions import Directions, Expansion
from kernelet.solvers.enclosing_ball.free_points import FIRST_ROOM
from kernelet.solvers.enclosing_ball.labelled_rows import LabelledRows
from kernelet.solvers.solution import Status


@dataclass(frozen=True, eq=False)
class Outline:
    """A ball as rows see it: little enough to be sent to wherever they are.

    Attributes
    ----------
    C : float or None
    code : int
        Of the L2-SVM, see `Ball`.
    lift, squared_norm, bound : float
        |phi|^2 of all rows, |c|^2 of the centre, and the squared radius of the (1 + eps) ball.
    members : ndarray of int
        Rows of the core set.
    """

    C: float | None
    code: int
    lift: float
    squared_norm: float
    bound: float
    members: IndexArray

    def signs(self, block: Block) -> FloatArray:
        """y."""
        return _signs(block.codes, self.C, self.code)

    def squared_distances(self, margins: FloatArray) -> FloatArray:
        """Of rows from the centre, by what a'K is for them."""
        return _squared_distances(margins, self.lift, self.squared_norm)


def _signs(codes: IndexArray, C: float | None, code: int) -> FloatArray:
    return np.ones(codes.size) if C is None else np.where(codes == code, 1.0, -1.0)


def _squared_distances(margins: FloatArray, lift: float, squared_norm: float) -> FloatArray:
    distances: FloatArray = lift + squared_norm - 2.0 * squared_norm * margins
    return distances


class Ball:
    """The smallest ball around a core set that grows until its (1 + eps) multiple holds all rows.

    Parameters
    ----------
    kernel : Kernel
    n_features : int
    lift : float
        k(x, x) + bias + 1 / C_i at its largest. Where that is not constant, points have one more
        coordinate that makes it so, and in which the centre is 0.
    eps : float
    C : float or None, default=None
        Of the L2-SVM (6), whose rows of class `code` are positive; None is the plain ball.
    code : int, default=0
    directions : Directions or None, default=None

    Attributes
    ----------
    core : CoreSet
    reach : float
        Distance of the furthest row over the radius; NaN until all rows are looked at.
    primal_value : float
        Value of the L2-SVM 1/2 |w|^2 + b^2 / 2 + sum_i C_i / 2 xi_i^2; NaN likewise.
    status : Status
    interrupted : bool
    """

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        lift: float,
        eps: float,
        *,
        C: float | None = None,
        code: int = 0,
        directions: Directions | None = None,
    ) -> None:
        self.kernel, self.lift, self.eps = kernel, lift, eps
        self.C, self.code, self.directions = C, code, directions
        n_directions = 0 if directions is None else directions.n_directions
        self.core = CoreSet(n_features, n_directions, bias=0.0 if C is None else 1.0)
        self.reach = self.primal_value = float("nan")
        self.status, self.interrupted = Status.GUESS, False
        self._members: set[int] = set()
        self._diagonal: float | None = None

    # -- the ball

    @property
    def squared_norm(self) -> float:
        """|c|^2 of the centre."""
        return 1.0 / self.core.total

    @property
    def radius(self) -> float:
        """R."""
        return float(np.sqrt(max(0.0, self.lift - self.squared_norm)))

    @property
    def bound(self) -> float:
        """Squared radius of the (1 + eps) ball; rounding, around equal points."""
        return (1.0 + self.eps) ** 2 * self.radius**2 or 2.0 * ROUNDING_RIDGE * self.lift

    @property
    def dual_value(self) -> float:
        """Of the L2-SVM: sum a - 1/2 a'Ka."""
        return 0.5 * self.core.total

    @property
    def gap(self) -> float:
        """Relative duality gap of the L2-SVM; NaN until all rows are looked at."""
        return (self.primal_value - self.dual_value) / self.primal_value

    @property
    def outline(self) -> Outline:
        """What rows need to know of it."""
        core = self.core
        return Outline(self.C, self.code, self.lift, self.squared_norm, self.bound, core.index)

    def squared_distances(self, margins: FloatArray) -> FloatArray:
        """Of rows from the centre, by what a'K is for them."""
        return _squared_distances(margins, self.lift, self.squared_norm)

    # -- rows

    def signs(self, block: Block) -> FloatArray:
        """y."""
        return _signs(block.codes, self.C, self.code)

    def projections(self, block: Block) -> FloatArray:
        """g."""
        if self.directions is None:
            return np.empty((block.codes.size, 0))
        return self.directions.values(block)

    def excess(self) -> FloatArray | None:
        """What f has of the directions at all rows, where their values there are known."""
        if self.directions is None or self.directions.known is None:
            return None
        excess: FloatArray = self.directions.known @ self.core.correction
        return excess

    def margins(self, block: Block, values: FloatArray, projections: FloatArray) -> FloatArray:
        """y_i f(x_i) from sum_j a_j y_j k(x_i, x_j), the slack left out."""
        core = self.core
        f = values + core.bias * core.weights.sum() - projections @ core.correction
        margins: FloatArray = self.signs(block) * f
        return margins

    def add(self, block: Block, at: int, values: FloatArray, projection: FloatArray) -> None:
        """Take a row into the core set; `values` are its kernel values with that."""
        row = np.asarray(dense(block.X[at : at + 1]), dtype=np.float64)
        index = int(block.index[at])
        # first, so that Ctrl-C on the way does not let the row in twice
        self._members.add(index)
        self.core.add(
            row[0],
            values,
            self._diagonal_at(row),
            sign=float(_signs(block.codes[at : at + 1], self.C, self.code)[0]),
            ridge=0.0 if self.C is None else 1.0 / (self.C * float(block.weights[at])),
            projection=projection,
            index=index,
        )
        self.reach = self.primal_value = float("nan")

    def _diagonal_at(self, row: FloatArray) -> float:
        """k(x, x), which is asked for once where it is constant."""
        if self._diagonal is not None:
            return self._diagonal
        diagonal = float(self.kernel.diagonal(row)[0])
        if self.kernel.has_constant_diagonal:
            self._diagonal = diagonal
        return diagonal

    def is_member(self, index: IndexArray) -> BoolArray:
        """Which rows are in the core set."""
        return np.array([i in self._members for i in index.tolist()], dtype=bool)

    # -- growing

    def start(self, rows: LabelledRows) -> None:
        """A row of each side."""
        if self.core.size:
            return
        firsts = rows.first_of_each_class()
        sides = np.unique(self.signs(firsts), return_index=True)[1]
        g = self.projections(firsts)
        for at in sides:
            row = np.asarray(dense(firsts.X[at : at + 1]), dtype=np.float64)
            has_points = self.core.size > 0
            values = self.kernel(row, self.core.vectors)[0] if has_points else np.empty(0)
            self.add(firsts, int(at), values, g[at])

    def sample(self, rows: LabelledRows, rng: np.random.RandomState, size: int, limit: int) -> None:
        """Add the furthest of a few random rows, until none of them is outside."""
        while self.core.size < limit:
            block = rows.draw(rng, size)
            if not block.codes.size:
                continue
            K = np.asarray(self.kernel(block.X, self.core.vectors), dtype=np.float64)
            g = self.projections(block)
            distances = self.squared_distances(self.margins(block, K @ self.core.weights, g))
            distances[self.is_member(block.index)] = -np.inf
            at = int(distances.argmax())
            if distances[at] <= self.bound:
                return
            self.add(block, at, K[at], g[at])

    def absorb(self, pool: Block, limit: int) -> tuple[int, float]:
        """Add the furthest row of a pool, until none is outside.

        Returns
        -------
        int
            How many were added.
        float
            The largest squared distance that is left.
        """
        g, X = self.projections(pool), pool.X
        K = np.empty((pool.codes.size, self.core.size + FIRST_ROOM), order="F")
        K[:, : self.core.size] = self.kernel(X, self.core.vectors)
        outside = np.ones(pool.codes.size, dtype=bool)
        begin = self.core.size
        while True:
            m = self.core.size
            distances = self.squared_distances(self.margins(pool, K[:, :m] @ self.core.weights, g))
            at = int(np.where(outside, distances, -np.inf).argmax())
            if not outside[at] or distances[at] <= self.bound or m >= limit:
                furthest = float(distances[at]) if outside[at] else 0.0
                return m - begin, furthest
            outside[at] = False
            self.add(pool, at, K[at, :m], g[at])
            if m == K.shape[1]:
                K = np.concatenate([K, np.empty_like(K)], axis=1)
            K[:, m] = self.kernel(X, self.core.vectors[m:])[:, 0]

    # -- what comes out

    def expansion(self, with_directions: bool = True) -> Expansion:
        """f of the L2-SVM, orthogonal to the directions; or without what makes it so."""
        core, free = self.core, self.core.free
        weights = core.weights[free]
        own = Expansion(
            core.index[free],
            core.vectors[free],
            weights[:, None],
            np.array([core.bias * float(weights.sum())]),
        )
        if self.directions is None or not with_directions:
            return own
        return self.directions.removed_from(own, core.correction)
