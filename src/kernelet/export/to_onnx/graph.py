"""A machine as a graph of ONNX's standard operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.projection import projected
from kernelet.export.to_onnx.distances import Distances
from kernelet.kernels.used_features import Indices
from kernelet.machine import KernelMachine

# Operators as they are since this version; onnxruntime 1.18 and later know it.
OPSET = 17


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


def machine_values(graph: Graph, machine: KernelMachine, rows: str) -> str:
    """f_k(x_i) for all rows and outputs, a tensor of shape (n, k)."""
    if machine.n_vectors == 0:
        n_rows = graph.add("Gather", graph.add("Shape", rows), graph.constant([0], np.int64))
        shape = graph.add("Concat", n_rows, graph.constant([machine.n_outputs], np.int64), axis=0)
        return graph.add("Expand", graph.constant([machine.intercepts]), shape)
    projection, machine = projected(machine, graph.dtype.name)
    if projection is not None:
        if projection.features is not None:
            rows = _chosen(graph, rows, projection.features)
        if projection.origin is not None:
            rows = graph.add("Sub", rows, graph.constant(projection.origin))
        if projection.matrix is not None:
            rows = graph.add("MatMul", rows, graph.constant(projection.matrix.T))
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    coefficients = np.asarray(machine.coefficients, dtype=np.float64)
    if machine.n_vectors == 1:
        # Twice the half of it. onnxruntime merges a factor that is one number with the product
        # before or behind it, and rounds it to 32 bits then; of two numbers it does not.
        vectors, coefficients = (
            np.repeat(vectors, 2, axis=0),
            np.repeat(coefficients / 2, 2, axis=0),
        )
    K = _Values(graph, vectors, rows).of(machine.kernel.specification())
    product = graph.add("MatMul", K, graph.constant(coefficients))
    return graph.add("Add", product, graph.constant(machine.intercepts))


def _chosen(graph: Graph, rows: str, features: Indices) -> str:
    """Some features of the rows; NaN in rows of which any feature is NaN."""
    missing = graph.add("Where", graph.add("IsNaN", rows), rows, graph.constant(0.0))
    nothing = graph.add("ReduceSum", missing, graph.constant([1], np.int64), keepdims=1)
    used = graph.add("Gather", rows, graph.constant(features, np.int64), axis=1)
    return graph.add("Add", used, nothing)


class _Values:
    """Kernel values of all rows and vectors; what parts of a kernel share is computed once."""

    def __init__(self, graph: Graph, vectors: NDArray[np.float64], rows: str) -> None:
        self.graph = graph
        self.vectors = vectors
        self.rows = rows
        self.distances = Distances(graph, vectors, rows)
        self.product = ""

    def of(self, part: Mapping[str, Any]) -> str:
        made: str = getattr(self, f"_{part['name']}")(part)
        return made

    def _times(self, values: str, factor: float) -> str:
        # not by a scalar, see machine_values
        factors = np.full((1, len(self.vectors)), factor)
        return self.graph.add("Mul", values, self.graph.constant(factors))

    def _product_of_rows(self) -> str:
        if not self.product:
            vectors = self.graph.constant(self.vectors.T)
            self.product = self.graph.add("MatMul", self.rows, vectors)
        return self.product

    def _rbf(self, part: Mapping[str, Any]) -> str:
        gamma = part["gamma"]
        return self.graph.add("Exp", self._times(self.distances.squared(gamma), -gamma))

    def _root(self, factor: float, squared: str) -> str:
        scaled = self._times(squared, factor)
        # the root of infinity is NaN in 32 bits for onnxruntime 1.18
        largest = self.graph.constant(np.finfo(self.graph.dtype).max)
        return self.graph.add("Sqrt", self.graph.add("Min", scaled, largest))

    def _decay(self, r: str) -> str:
        return self.graph.add("Exp", self.graph.add("Neg", r))

    def _exponential(self, part: Mapping[str, Any]) -> str:
        # The root is steep at 0: the rounding of |x|^2 - 2 x'z + |z|^2 would be felt there.
        return self._decay(self._root(2.0 * part["gamma"], self.distances.exactly_squared()))

    def _matern32(self, part: Mapping[str, Any]) -> str:
        factor = 6.0 * part["gamma"]
        r = self._root(factor, self.distances.squared(factor))
        head = self.graph.add("Add", r, self.graph.constant(1.0))
        return self.graph.add("Mul", head, self._decay(r))

    def _matern52(self, part: Mapping[str, Any]) -> str:
        factor = 10.0 * part["gamma"]
        r = self._root(factor, self.distances.squared(factor))
        square = self._times(self.graph.add("Mul", r, r), 1.0 / 3.0)
        head = self.graph.add("Add", self.graph.add("Add", square, r), self.graph.constant(1.0))
        return self.graph.add("Mul", head, self._decay(r))

    def _rational_quadratic(self, part: Mapping[str, Any]) -> str:
        squared = self.distances.squared(part["gamma"])
        scaled = self._times(squared, part["gamma"] / part["alpha"])
        logarithm = self.graph.add("Log", self.graph.add("Add", scaled, self.graph.constant(1.0)))
        return self.graph.add("Exp", self._times(logarithm, -part["alpha"]))

    def _laplacian(self, part: Mapping[str, Any]) -> str:
        return self.graph.add("Exp", self._times(self.distances.taxicab(), -part["gamma"]))

    def _linear(self, part: Mapping[str, Any]) -> str:
        return self._product_of_rows()

    def _affine(self, part: Mapping[str, Any]) -> str:
        scaled = self._times(self._product_of_rows(), part["gamma"])
        return self.graph.add("Add", scaled, self.graph.constant(part["coef0"]))

    def _poly(self, part: Mapping[str, Any]) -> str:
        return self.graph.add("Pow", self._affine(part), self.graph.constant(float(part["degree"])))

    def _sigmoid(self, part: Mapping[str, Any]) -> str:
        return self.graph.add("Tanh", self._affine(part))

    def _sum(self, part: Mapping[str, Any]) -> str:
        return self._folded("Add", part["terms"])

    def _product(self, part: Mapping[str, Any]) -> str:
        return self._folded("Mul", part["factors"])

    def _folded(self, operator: str, parts: Sequence[Mapping[str, Any]]) -> str:
        values = self.of(parts[0])
        for part in parts[1:]:
            values = self.graph.add(operator, values, self.of(part))
        return values

    def _scaled(self, part: Mapping[str, Any]) -> str:
        return self._times(self.of(part["kernel"]), part["factor"])

    def _scaled_features(self, part: Mapping[str, Any]) -> str:
        scales = np.array(part["scales"])
        if scales.size == 1:  # not by a scalar, see machine_values
            rows = self.graph.add("MatMul", self.rows, self.graph.constant(scales[:, np.newaxis]))
        else:
            rows = self.graph.add("Mul", self.rows, self.graph.constant(scales))
        return _Values(self.graph, self.vectors * scales, rows).of(part["kernel"])
