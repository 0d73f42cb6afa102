"""W(Z) of a smooth problem on a growing sample, where `JointObjective` cannot be computed.

That is so for kernels that are not radial, or too narrow for the rounding of their distances, and
for the paper's search over Fisher directions, whose steps are those of the vectors alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from kernelet.kernels import Kernel
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation
from kernelet.learners.direct.search.samples import GrowingSample, first_size, next_size
from kernelet.subspace import WhitenedMap


class SampledObjective(MarginalObjective):
    """W(Z) on a sample, which doubles when a search on it has ended.

    Parameters
    ----------
    source : GrowingSample
        The rows, and the inner problem over them.
    kernel : Kernel
        With gradients in its vectors.
    n_first : int, default=0
        Rows of the sample that the search begins on, at least.
    """

    def __init__(self, source: GrowingSample, kernel: Kernel, n_first: int = 0) -> None:
        self.source = source
        X = source.take(first_size(source, n_first))
        super().__init__(X, kernel, source.problem(X.shape[0]))

    @property
    def is_sample(self) -> bool:
        """Whether some of the rows stand for all."""
        return self.n_used < self.source.n_rows

    @property
    def n_used(self) -> int:
        """Rows of the sample."""
        return int(self.X.shape[0])

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self.source.n_rows

    def on_more_rows(self, at: Evaluation, all_rows: bool = False) -> Evaluation | None:
        """W at the same vectors on twice as many rows; None where there are no more in memory."""
        size = next_size(self.source, self.n_used, all_rows)
        more: Any = self.source.take(size) if size > self.n_used else self.X[:0]
        if not more.shape[0]:
            return None
        is_csr = self.source.is_sparse
        self.X = (
            sparse.vstack([self.X, more], format="csr")
            if is_csr
            else np.concatenate([self.X, more])
        )
        self.inner = self.source.problem(self.n_used)
        return self(at.vectors)

    def proven(self, at: Evaluation) -> Evaluation:
        """W at the same vectors on all rows."""
        space = WhitenedMap.from_vectors(at.kernel, at.vectors)
        start = space.weights(at.coefficients), at.intercepts
        return Evaluation.of(space, self.source.solve(space, start), at.gradient)
