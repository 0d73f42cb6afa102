"""Random samples of growing size, each of which contains the smaller ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelet.kernels.numerics.arrays import IndexArray
from kernelet.rows.block import Block
from kernelet.rows.labelled import LabelledBlocks, Sample

# Sizes that differ by a smaller factor are taken for equal: classes are drawn in whole rows, so
# that the size of a sample is not quite the one asked for.
_ALIKE = 1.01


class NestedSamples:
    """A sample that grows by a pass over the rows.

    It doubles, so that which rows are in a sample of some size does not depend on the sizes asked
    for on the way: a fit that was broken off goes on with the same rows.

    Parameters
    ----------
    rows : LabelledBlocks
    first : Sample
        The smallest one.
    seed : int
    """

    def __init__(self, rows: LabelledBlocks, first: Sample, seed: int) -> None:
        self._rows, self._seed = rows, seed
        self.places: Sequence[IndexArray] = first.places
        self.n_rows = int(rows.class_counts.sum())

    @property
    def size(self) -> int:
        """Rows drawn so far."""
        return sum(mine.size for mine in self.places)

    def grow(self, size: int) -> Block | None:
        """The rows that are missing for a sample of about ``size``, if any are."""
        before, size = self.places, min(size, self.n_rows)
        while size > _ALIKE * self.size or self.size < size == self.n_rows:
            doubled = 2 * self.size
            self._draw(doubled if doubled < _ALIKE * size else size)
        if self.places is before:
            return None
        fresh = [
            np.setdiff1d(now, then, assume_unique=True)
            for now, then in zip(self.places, before, strict=True)
        ]
        return self._rows.fetch(fresh)

    def _draw(self, size: int) -> None:
        rng = np.random.default_rng((self._seed, self.size))
        counts, shares = self._rows.class_counts, self._rows.shares(size)
        self.places = [
            _more(mine, count, n, rng)
            for mine, count, n in zip(self.places, counts.tolist(), shares.tolist(), strict=True)
        ]


def _more(places: IndexArray, count: int, n: int, rng: np.random.Generator) -> IndexArray:
    """``n`` of ``count`` places, those given among them; sorted."""
    n_free = count - places.size
    drawn = rng.choice(n_free, max(0, n - places.size), replace=False, shuffle=False)
    # the k-th place that is free lies behind as many taken ones as have at most k free before them
    free_before = places - np.arange(places.size)
    found = drawn + np.searchsorted(free_before, drawn, side="right")
    return np.sort(np.concatenate([places, found]).astype(np.intp))
