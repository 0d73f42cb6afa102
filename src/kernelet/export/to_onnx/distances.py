"""Distances between rows and vectors in ONNX's standard operators, with the digits they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kernelet.export.to_onnx.vectors import Mask, Vectors

if TYPE_CHECKING:
    from kernelet.export.to_onnx.graph import Graph

# As in kernelet.kernels.numerics.distances: a profile feels what is left of the digits when more
# than a quarter of them cancel.
_DIGITS_TO_LOSE = 0.25


class Distances:
    """Between the rows of a graph and fixed vectors, tensors of shape (n, m).

    |x|^2 - 2 x'z + |z|^2 is one matrix product, but its terms cancel: the farther a vector lies
    from the point that all is measured from, the fewer digits are left of a small distance. Vectors
    too far for the kernel are taken by differences x - z, which cancel nothing but are a tensor of
    shape (n, m, d).

    Parameters
    ----------
    graph : Graph
    vectors : Vectors
    rows : str
        Name of the tensor of rows.
    """

    def __init__(self, graph: Graph, vectors: Vectors, rows: str) -> None:
        self.graph = graph
        self.vectors = vectors
        self.rows = rows
        self.all = np.ones(len(vectors), dtype=bool)
        self.shared: dict[str, str] = {}

    def squared(self, factor: float) -> str:
        """|x - z|^2 for a profile that is smooth in factor |x - z|^2."""
        lost = 2.0 * factor * np.square(self.vectors.centred).sum(axis=1)
        is_far = lost > float(np.finfo(self.graph.dtype).eps) ** -_DIGITS_TO_LOSE
        if is_far.all():
            return self.exactly_squared()
        name = f"squared {np.flatnonzero(is_far).tolist()}"
        if not is_far.any():
            return self._once(name, lambda: self._expanded(self.all))
        return self._once(name, lambda: self._joined(is_far))

    def exactly_squared(self) -> str:
        """|x - z|^2 with all digits however small it is, for a profile that is steep at 0."""
        return self._once("exact", lambda: self._summed(self.all))

    def taxicab(self) -> str:
        """The sum of |x_f - z_f|."""
        return self._once("taxicab", self._taxicab)

    def _once(self, name: str, make: Callable[[], str]) -> str:
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def _joined(self, is_far: Mask) -> str:
        parts = self._expanded(~is_far), self._summed(is_far)
        places = np.argsort(np.argsort(is_far, kind="stable"))  # the near ones come first
        joined = self.graph.add("Concat", *parts, axis=1)
        return self.graph.add("Gather", joined, self.graph.constant(places, np.int64), axis=1)

    def _expanded(self, chosen: Mask) -> str:
        g, rows = self.graph, self._centred_rows()
        lengths = np.square(self.vectors.centred[chosen]).sum(axis=1)
        squares = g.add("Mul", rows, rows)
        norms = g.add("ReduceSum", squares, g.constant([1], np.int64), keepdims=1)
        cross = g.add("MatMul", rows, self.vectors.centred_columns(chosen, -2.0))
        distances = g.add("Add", g.add("Add", cross, norms), g.constant(lengths))
        # rounding may leave a distance below zero
        return g.add("Max", distances, g.constant(0.0))

    def _summed(self, chosen: Mask) -> str:
        differences = self._differences(chosen)
        return self._over_features(self.graph.add("Mul", differences, differences))

    def _taxicab(self) -> str:
        return self._over_features(self.graph.add("Abs", self._differences(self.all)))

    def _differences(self, chosen: Mask) -> str:
        """x_i - z_j, a tensor of shape (n, m, d)."""
        return self._once(f"differences {chosen.tolist()}", lambda: self._subtracted(chosen))

    def _subtracted(self, chosen: Mask) -> str:
        stacked, is_centred = self.vectors.stacked(chosen)
        rows = self._centred_rows() if is_centred else self.rows
        single = self.graph.add("Unsqueeze", rows, self.graph.constant([1], np.int64))
        return self.graph.add("Sub", single, stacked)

    def _centred_rows(self) -> str:
        return self._once(
            "rows",
            lambda: self.graph.add("Sub", self.rows, self.graph.numbers(self.vectors.centre)),
        )

    def _over_features(self, values: str) -> str:
        axis = self.graph.constant([2], np.int64)
        return self.graph.add("ReduceSum", values, axis, keepdims=0)
