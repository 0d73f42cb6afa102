"""A graph of ONNX's standard operators while it is made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.used_features import Indices

# Operators as they are since this version; onnxruntime 1.18 and later know it.
OPSET = 17
# Bytes of a node with two names, and of a constant besides its numbers, in files of ours.
_NODE, _CONSTANT = 40, 15


class Graph:
    """Nodes and constants, named as they are added.

    Parameters
    ----------
    dtype : dtype
        float32 or float64, in which everything is computed.
    taken : collection of str, default=()
        Names of inputs, which nothing else may have.
    """

    def __init__(self, dtype: np.dtype[Any], taken: Collection[str] = ()) -> None:
        self.dtype = dtype
        self.taken = frozenset(taken)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of a constant tensor."""
        from onnx import numpy_helper

        name = self._free(f"c{len(self.constants)}")
        array = np.asarray(value, dtype=self.dtype if dtype is None else dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        return name

    def strings(self, texts: Sequence[Any]) -> str:
        """The name of a constant tensor of texts."""
        return self.constant(np.array(texts, dtype=object), object)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The name of the result of an operator."""
        from onnx import helper

        name = self._free(f"t{len(self.nodes)}") if output is None else output
        node = helper.make_node(operator, list(inputs), [name], name=f"n_{name}", **attributes)
        self.nodes.append(node)
        return name

    def numbers(self, values: NDArray[np.float64]) -> str:
        """A tensor of numbers; those that are the same are stored once, if that saves bytes."""
        different, places = np.unique(values, return_inverse=True)
        size = self.dtype.itemsize
        beside = 2 * _NODE + _CONSTANT + places.size * np.min_scalar_type(different.size).itemsize
        if size * values.size <= size * different.size + beside:
            return self.constant(values)
        index = self.indices(places.reshape(values.shape))
        return self.add("Gather", self.constant(different), index)

    def indices(self, places: Indices) -> str:
        """A tensor of whole numbers from 0 on that another is indexed by."""
        kind = np.min_scalar_type(places.max(initial=0))
        if places.size * (8 - kind.itemsize) <= _NODE:
            return self.constant(places, np.int64)
        return self.cast(self.constant(places, kind), np.int64)

    def cast(self, name: str, dtype: Any = None) -> str:
        """A tensor in another type, which is the graph's own unless it is given."""
        from onnx import helper

        kind = self.dtype if dtype is None else np.dtype(dtype)
        return self.add("Cast", name, to=helper.np_dtype_to_tensor_dtype(kind))

    def scaled(self, rows: str, factors: NDArray[np.float64]) -> str:
        """Rows times a factor for each feature."""
        if factors.size == 1:  # not by a scalar, see machine_values
            return self.add("MatMul", rows, self.constant(factors[:, np.newaxis]))
        return self.add("Mul", rows, self.numbers(factors))


def chosen_features(graph: Graph, rows: str, features: Indices) -> str:
    """Some features of the rows; NaN in rows of which any feature is NaN."""
    missing = graph.add("Where", graph.add("IsNaN", rows), rows, graph.constant(0.0))
    nothing = graph.add("ReduceSum", missing, graph.constant([1], np.int64), keepdims=1)
    used = graph.add("Gather", rows, graph.indices(features), axis=1)
    return graph.add("Add", used, nothing)
