"""The vectors of a machine in a graph: numbers, or integers that the graph makes numbers of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernelet.export.rounding import centre

if TYPE_CHECKING:
    from kernelet.export.to_onnx.graph import Graph

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class Vectors:
    """Vectors that are stored as numbers, once for each use.

    Parameters
    ----------
    graph : Graph
    values : ndarray of shape (m, d)

    Attributes
    ----------
    centre : ndarray of shape (d,)
        Of the type of the graph: what rows and vectors are measured from, so that they keep their
        digits.
    centred : ndarray of shape (m, d)
        Less the centre, not rounded.
    """

    def __init__(self, graph: Graph, values: Numbers) -> None:
        self.graph = graph
        self.values = values
        self.centre = centre(values).astype(graph.dtype)  # the same for rows and vectors
        self.centred = values - self.centre

    def __len__(self) -> int:
        return len(self.values)

    def scaled(self, factors: Numbers) -> Vectors:
        """Times a factor for each feature, one that is not 0 for at least one of them."""
        return Vectors(self.graph, self.values * factors)

    def columns(self) -> str:
        """The transpose, a tensor of shape (d, m)."""
        return self.graph.constant(self.values.T)

    def centred_columns(self, chosen: Mask, factor: float) -> str:
        """The transpose of the chosen ones, less the centre and times a factor."""
        return self.graph.constant(factor * self.centred[chosen].T)

    def stacked(self, chosen: Mask) -> tuple[str, bool]:
        """The chosen ones, of shape (1, m, d), and whether they are measured from the centre."""
        Z, kind = self.values[chosen], self.graph.dtype
        # Nothing is rounded but the vectors; measured from the centre, the rows are too.
        by_vectors = np.abs(Z - Z.astype(kind)).max()
        is_centred = by_vectors > np.finfo(kind).eps * np.abs(self.centred[chosen]).max()
        stored = self.centred[chosen] if is_centred else Z
        return self.graph.constant(stored[np.newaxis]), bool(is_centred)


class TensorVectors(Vectors):
    """Vectors that a tensor of the graph holds, measured from a point that is given.

    Parameters
    ----------
    graph : Graph
    centre : ndarray of shape (d,)
    centred : ndarray of shape (m, d)
        What the tensor holds, but for rounding.
    tensor : str
        Its name; it is the transpose, of shape (d, m).
    """

    def __init__(self, graph: Graph, centre: Numbers, centred: Numbers, tensor: str) -> None:
        self.graph = graph
        self.centre = centre
        self.centred = centred
        self.values = centre + centred
        self.tensor = tensor

    def scaled(self, factors: Numbers) -> Vectors:
        by_row = self.graph.constant(factors[:, np.newaxis])
        tensor = self.graph.add("Mul", self.tensor, by_row)
        return TensorVectors(self.graph, self.centre * factors, self.centred * factors, tensor)

    def columns(self) -> str:
        if not self.centre.any():
            return self.tensor
        return self.graph.add("Add", self.tensor, self.graph.numbers(self.centre[:, np.newaxis]))

    def centred_columns(self, chosen: Mask, factor: float) -> str:
        return self.graph.add("Mul", self._chosen(chosen), self.graph.constant(factor))

    def stacked(self, chosen: Mask) -> tuple[str, bool]:
        rows = self.graph.add("Transpose", self._chosen(chosen), perm=[1, 0])
        return self.graph.add("Unsqueeze", rows, self.graph.constant([0], np.int64)), True

    def _chosen(self, chosen: Mask) -> str:
        if chosen.all():
            return self.tensor
        places = self.graph.constant(np.flatnonzero(chosen), np.int64)
        return self.graph.add("Gather", self.tensor, places, axis=1)
