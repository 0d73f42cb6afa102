"""Where a search over vectors takes place: rows in memory, or rows that are elsewhere."""

from __future__ import annotations

from typing import Any, Protocol

# Seeding needs it, and would import it in a thread: a process forked meanwhile could not any more.
import sklearn.cluster  # noqa: F401

from kernelet.kernels import Kernel
from kernelet.learners.block_objective import BlockObjective
from kernelet.learners.distant import DistantSet
from kernelet.learners.marginal import FloatArray, MarginalObjective, Objective
from kernelet.subspace import seed_vectors


class Ground(Protocol):
    """Rows, as far as a search over vectors knows them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    told : dict
        X and y, for callbacks.
    """

    shape: tuple[int, int]
    told: dict[str, Any]

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        """Vectors to start from."""
        ...

    def objective(self, kernel: Kernel, problem: Any) -> Objective:
        """W(Z) of an inner problem."""
        ...

    def at_hand(self, problem: Any) -> tuple[TableGround, Any]:
        """Rows in memory that stand for all, and the inner problem over them."""
        ...


class TableGround:
    """Rows in memory.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    y : array of shape (n,), default=None
        What callbacks are shown as labels.
    """

    def __init__(self, X: Any, weights: FloatArray, y: Any = None) -> None:
        self.X, self.weights = X, weights
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.told = {"X": X} if y is None else {"X": X, "y": y}

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        return seed_vectors(self.X, n_vectors, init, kernel, seed, self.weights)

    def objective(self, kernel: Kernel, problem: Any) -> MarginalObjective:
        return MarginalObjective(self.X, kernel, problem)

    def at_hand(self, problem: Any) -> tuple[TableGround, Any]:
        return self, problem


class DistantGround:
    """Rows that are elsewhere; a sample of them serves where a few will do."""

    def __init__(self, data: DistantSet) -> None:
        self.data = data
        self.shape = data.rows.shape
        self.told: dict[str, Any] = {}
        self._sample = TableGround(data.sample.block.X, data.sample.weights)

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        return self._sample.seed(n_vectors, init, kernel, seed)

    def objective(self, kernel: Kernel, problem: Any) -> BlockObjective:
        return BlockObjective(self.data.rows, self.data.sample, kernel, problem)

    def at_hand(self, problem: Any) -> tuple[TableGround, Any]:
        return self._sample, problem.over(self.data.sample)
