"""Rows that are read chunk by chunk, as often as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np


class Chunks:
    """A sequence of arrays of which one at a time is read.

    Give the rows as one such object and the labels as another, with the same number of chunks and
    the same number of rows in each: ``fit(X, y)``. What a fitted model returns for chunks is of
    this class again, and is computed when it is read.

    Parameters
    ----------
    read : callable
        Returns the chunk of a number: an array, a CSR matrix or a data frame, the same each time.
        It is called in threads.
    n_chunks : int
    names : sequence of str, default=None
        What to call the chunks in error messages, such as the names of files.

    Examples
    --------
    >>> import numpy as np
    >>> X = Chunks(lambda number: np.full((2, 3), float(number)), 2)
    >>> [chunk.shape for chunk in X]
    [(2, 3), (2, 3)]
    >>> X.map(lambda chunk: chunk.sum(axis=1)).to_numpy()
    array([0., 0., 3., 3.])
    """

    def __init__(
        self,
        read: Callable[[int], Any],
        n_chunks: int,
        names: Sequence[str] | None = None,
    ) -> None:
        if n_chunks < 1:
            raise ValueError("there must be at least one chunk; check the paths of the files.")
        if names is not None and len(names) != n_chunks:
            raise ValueError(f"{len(names)} names for {n_chunks} chunks.")
        self._read = read
        self._names = None if names is None else list(names)
        self.n_chunks = n_chunks

    @classmethod
    def of(cls, arrays: Sequence[Any]) -> Chunks:
        """Chunks that are in memory already."""
        kept = list(arrays)
        return cls(kept.__getitem__, len(kept))

    def __len__(self) -> int:
        return self.n_chunks

    def __getitem__(self, number: int) -> Any:
        if not -self.n_chunks <= number < self.n_chunks:
            raise IndexError(f"there are {self.n_chunks} chunks, not {number}.")
        return self._read(number % self.n_chunks)

    def __iter__(self) -> Iterator[Any]:
        return (self._read(number) for number in range(self.n_chunks))

    def name(self, number: int) -> str:
        """What a chunk is called in error messages."""
        return f"chunk {number}" + (f" ({self._names[number]})" if self._names else "")

    def map(self, function: Callable[[Any], Any]) -> Chunks:
        """Chunks of results, each computed when it is read."""
        return Chunks(lambda number: function(self._read(number)), self.n_chunks, self._names)

    def to_numpy(self) -> Any:
        """All chunks as one array, for what fits into memory."""
        return np.concatenate([np.asarray(chunk) for chunk in self])

    def __repr__(self) -> str:
        return f"Chunks({self.n_chunks})"
