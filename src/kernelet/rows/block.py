"""Some rows with their classes and weights: what every pass over rows is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, RowMatrix


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the rows.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Which rows they are.
    X : ndarray or CSR of shape (n, d)
    codes : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
    """

    index: IndexArray
    X: RowMatrix
    codes: IndexArray
    weights: FloatArray

    def take(self, chosen: IndexArray) -> Block:
        """Some of these."""
        return Block(self.index[chosen], self.X[chosen], self.codes[chosen], self.weights[chosen])

    def and_more(self, other: Block) -> Block:
        """These and others."""
        return Block.joined([self, other])

    @staticmethod
    def joined(blocks: Sequence[Block]) -> Block:
        """Several as one, in their order."""
        if len(blocks) == 1:
            return blocks[0]
        tables: list[Any] = [block.X for block in blocks]
        is_sparse = sparse.issparse(tables[0])
        return Block(
            np.concatenate([block.index for block in blocks]),
            sparse.vstack(tables, format="csr") if is_sparse else np.concatenate(tables),
            np.concatenate([block.codes for block in blocks]),
            np.concatenate([block.weights for block in blocks]),
        )

    def first_of_each_class(self) -> Block:
        """A row of each class that has any."""
        return self.take(np.unique(self.codes, return_index=True)[1].astype(np.intp))

    def places(self, wanted: IndexArray) -> IndexArray:
        """Where those of the wanted rows are that are in here; the index is sorted."""
        if not self.index.size:
            return np.empty(0, dtype=np.intp)
        place = np.minimum(np.searchsorted(self.index, wanted), self.index.size - 1)
        found: IndexArray = place[self.index[place] == wanted]
        return found


def stored_numbers(X: Any) -> FloatArray:
    """The numbers of an array, or those that a CSR array stores."""
    numbers: FloatArray = X.data if sparse.issparse(X) else X
    return numbers


def largest_number(X: RowMatrix) -> float:
    """The largest absolute value in an array or a CSR array; 0 of an empty one."""
    values = stored_numbers(X)
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
