"""A machine as a graph of ONNX's standard operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.machine import KernelMachine

# Operators as they are since this version; onnxruntime 1.18 and later know it.
OPSET = 17


class Graph:
    """Nodes and constants, named as they are added.

    Parameters
    ----------
    dtype : dtype
        float32 or float64, in which everything is computed.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of a constant tensor."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        array = np.asarray(value, dtype=self.dtype if dtype is None else dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def strings(self, texts: Sequence[str]) -> str:
        """The name of a constant tensor of texts."""
        return self.constant(np.array(texts, dtype=object), object)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The name of the result of an operator."""
        from onnx import helper

        name = f"t{len(self.nodes)}" if output is None else output
        node = helper.make_node(operator, list(inputs), [name], name=f"n_{name}", **attributes)
        self.nodes.append(node)
        return name


def machine_values(graph: Graph, machine: KernelMachine, rows: str) -> str:
    """f_k(x_i) for all rows and outputs, a tensor of shape (n, k)."""
    K = _Values(graph, machine, rows).of(machine.kernel.specification())
    product = graph.add("MatMul", K, graph.constant(machine.coefficients))
    return graph.add("Add", product, graph.constant(machine.intercepts))


class _Values:
    """Kernel values of all rows and vectors; what parts of a kernel share is computed once."""

    def __init__(self, graph: Graph, machine: KernelMachine, rows: str) -> None:
        self.graph = graph
        self.vectors: NDArray[np.float64] = np.asarray(machine.vectors, dtype=np.float64)
        self.rows = rows
        self.shared: dict[str, str] = {}

    def of(self, part: Mapping[str, Any]) -> str:
        made: str = getattr(self, f"_{part['name']}")(part)
        return made

    def _once(self, name: str, make: Callable[[], str]) -> str:
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def _times(self, values: str, factor: float) -> str:
        # not by a scalar: onnxruntime merges that with a product before it, in 32 bits
        factors = np.full((1, len(self.vectors)), factor)
        return self.graph.add("Mul", values, self.graph.constant(factors))

    def _squared(self) -> str:
        return self._once("squared", self._squared_distances)

    def _squared_distances(self) -> str:
        # measured from the mean of the vectors, so that data far from the origin keep their digits
        g, mean = self.graph, self.vectors.mean(axis=0)
        Z = self.vectors - mean
        centred = g.add("Sub", self.rows, g.constant(mean))
        squares = g.add("Mul", centred, centred)
        norms = g.add("ReduceSum", squares, g.constant([1], np.int64), keepdims=1)
        cross = g.add("MatMul", centred, g.constant(-2.0 * Z.T))
        distances = g.add("Add", g.add("Add", cross, norms), g.constant((Z**2).sum(axis=1)))
        # rounding may leave a distance below zero
        return g.add("Max", distances, g.constant(0.0))

    def _product_of_rows(self) -> str:
        g = self.graph
        return self._once("dot", lambda: g.add("MatMul", self.rows, g.constant(self.vectors.T)))

    def _taxicab(self) -> str:
        return self._once("taxicab", self._taxicab_distances)

    def _taxicab_distances(self) -> str:
        g = self.graph
        rows = g.add("Unsqueeze", self.rows, g.constant([1], np.int64))
        sizes = g.add("Abs", g.add("Sub", rows, g.constant(self.vectors[np.newaxis])))
        return g.add("ReduceSum", sizes, g.constant([2], np.int64), keepdims=0)

    def _rbf(self, part: Mapping[str, Any]) -> str:
        return self.graph.add("Exp", self._times(self._squared(), -part["gamma"]))

    def _root(self, factor: float) -> str:
        return self.graph.add("Sqrt", self._times(self._squared(), factor))

    def _decay(self, r: str) -> str:
        return self.graph.add("Exp", self.graph.add("Neg", r))

    def _exponential(self, part: Mapping[str, Any]) -> str:
        return self._decay(self._root(2.0 * part["gamma"]))

    def _matern32(self, part: Mapping[str, Any]) -> str:
        r = self._root(6.0 * part["gamma"])
        head = self.graph.add("Add", r, self.graph.constant(1.0))
        return self.graph.add("Mul", head, self._decay(r))

    def _matern52(self, part: Mapping[str, Any]) -> str:
        r = self._root(10.0 * part["gamma"])
        square = self._times(self.graph.add("Mul", r, r), 1.0 / 3.0)
        head = self.graph.add("Add", self.graph.add("Add", square, r), self.graph.constant(1.0))
        return self.graph.add("Mul", head, self._decay(r))

    def _rational_quadratic(self, part: Mapping[str, Any]) -> str:
        scaled = self._times(self._squared(), part["gamma"] / part["alpha"])
        logarithm = self.graph.add("Log", self.graph.add("Add", scaled, self.graph.constant(1.0)))
        return self.graph.add("Exp", self._times(logarithm, -part["alpha"]))

    def _laplacian(self, part: Mapping[str, Any]) -> str:
        return self.graph.add("Exp", self._times(self._taxicab(), -part["gamma"]))

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
