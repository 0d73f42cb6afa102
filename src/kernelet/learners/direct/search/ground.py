"""Where a search over vectors takes place: rows in memory, or out-of-core rows."""

from __future__ import annotations

from typing import Any, Protocol

# Seeding needs it. Imported in a thread, it would be locked in a process forked at that moment.
import sklearn.cluster  # noqa: F401

from kernelet.kernels import Kernel
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import FloatArray, Objective
from kernelet.learners.direct.search.out_of_core_objective import BlockObjective
from kernelet.learners.direct.search.out_of_core_rows import RowsOutOfCore
from kernelet.learners.direct.search.rows import RowsInMemory, SearchRows
from kernelet.learners.direct.search.sampled_objective import SampledObjective
from kernelet.subspace import seed_vectors

# What memory is set aside for where the number of vectors is not known.
_MANY_VECTORS = 100


class Ground(Protocol):
    """Rows, as far as a search over vectors knows them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    callback_data : dict
        X and y, for callbacks.
    """

    shape: tuple[int, int]
    callback_data: dict[str, Any]

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        """Vectors to start from."""
        ...

    def objective(self, kernel: Kernel, problem: Any, seed: int, n_first: int = 0) -> Objective:
        """W(Z) of an inner problem; where it is on a sample, of at least ``n_first`` rows."""
        ...

    def search_rows(self, problem: Any, seed: int, n_vectors: int) -> SearchRows:
        """The rows in random order, for a smooth inner problem."""
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
        self.callback_data = {"X": X} if y is None else {"X": X, "y": y}

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        return seed_vectors(self.X, n_vectors, init, kernel, seed, self.weights)

    def objective(
        self, kernel: Kernel, problem: Any, seed: int, n_first: int = 0
    ) -> MarginalObjective:
        return MarginalObjective(self.X, kernel, problem)

    def search_rows(self, problem: Any, seed: int, n_vectors: int) -> RowsInMemory:
        return RowsInMemory(self.X, problem, seed)

    def at_hand(self, problem: Any) -> tuple[TableGround, Any]:
        return self, problem


class OutOfCoreGround:
    """Out-of-core rows; a sample of them serves where a few will do."""

    def __init__(self, data: OutOfCoreData) -> None:
        self.data = data
        self.shape = data.rows.shape
        self.callback_data: dict[str, Any] = {}
        self._sample = TableGround(data.sample.block.X, data.sample.weights)

    def seed(self, n_vectors: int, init: Any, kernel: Kernel, seed: int) -> FloatArray:
        return self._sample.seed(n_vectors, init, kernel, seed)

    def objective(self, kernel: Kernel, problem: Any, seed: int, n_first: int = 0) -> Objective:
        if problem.is_smooth:
            rows = self.search_rows(problem, seed, _MANY_VECTORS)
            return SampledObjective(rows, kernel, n_first)
        return BlockObjective(self.data.rows, self.data.sample, kernel, problem)

    def search_rows(self, problem: Any, seed: int, n_vectors: int) -> RowsOutOfCore:
        return RowsOutOfCore(self.data, problem, seed, n_vectors)

    def at_hand(self, problem: Any) -> tuple[TableGround, Any]:
        sample = self.data.sample
        return self._sample, problem.over(sample.block.codes, sample.weights)
