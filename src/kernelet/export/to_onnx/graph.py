"""A machine as a graph of ONNX's standard operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.projection import projected
from kernelet.export.to_onnx.distances import Distances
from kernelet.kernels.expression import (
    Call,
    Constant,
    Expression,
    FeatureSum,
    Function,
    Operation,
    Operator,
    SumOverFeatures,
    ordered,
)
from kernelet.kernels.used_features import Indices
from kernelet.machine import KernelMachine

# Operators as they are since this version; onnxruntime 1.18 and later know it.
OPSET = 17
_OPERATORS: dict[Function | Operator, str] = {
    Function.NEGATIVE: "Neg",
    Function.EXP: "Exp",
    Function.TANH: "Tanh",
    Operator.ADD: "Add",
    Operator.SUBTRACT: "Sub",
    Operator.MULTIPLY: "Mul",
    Operator.DIVIDE: "Div",
    Operator.POWER: "Pow",
}


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
    K = _Values(graph, vectors, rows).of(machine.kernel.expression())
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
        self.distances: dict[tuple[float, ...], Distances] = {}
        self.products: dict[tuple[float, ...], str] = {}

    def of(self, expression: Expression) -> str:
        made: dict[Expression, str] = {}
        for node in ordered(expression):
            if isinstance(node, SumOverFeatures):
                made[node] = self._sum(node)
            elif isinstance(node, Call):
                made[node] = self._call(node.function, made[node.argument])
            elif isinstance(node, Operation):
                made[node] = self._operation(node, made)
        return made[expression]

    def _call(self, function: Function, x: str) -> str:
        add, constant = self.graph.add, self.graph.constant
        if function is Function.LOG1P:
            return add("Log", add("Add", x, constant(1.0)))
        if function is Function.SQRT:
            # the root of infinity is NaN in 32 bits for onnxruntime 1.18
            return add("Sqrt", add("Min", x, constant(np.finfo(self.graph.dtype).max)))
        if function is Function.POSITIVE_PART:
            return add("Where", add("Less", x, constant(0.0)), constant(0.0), x)  # NaN stays
        return add(_OPERATORS[function], x)

    def _operation(self, node: Operation, made: Mapping[Expression, str]) -> str:
        add, constant = self.graph.add, self.graph.constant
        left, right = (
            self._number(operand, node.operator) if isinstance(operand, Constant) else made[operand]
            for operand in node.operands
        )
        if node.operator is Operator.DAMP:
            # for onnxruntime 1.18 the exp of minus infinity is 5.6e-309 in double precision, not 0
            smallest = constant(4.0 * float(np.finfo(self.graph.dtype).tiny))
            vanishes = add("Less", right, smallest)
            return add("Where", vanishes, constant(0.0), add("Mul", left, right))
        if node.operator is Operator.MULTIPLY and isinstance(node.left, Constant):
            left, right = right, left  # the order that graphs have always had
        return add(_OPERATORS[node.operator], left, right)

    def _number(self, number: Constant, operator: Operator) -> str:
        if operator in (Operator.MULTIPLY, Operator.DIVIDE):
            # not a scalar, see machine_values
            return self.graph.constant(np.full((1, len(self.vectors)), number.value))
        return self.graph.constant(number.value)

    def _sum(self, node: SumOverFeatures) -> str:
        if node.kind is FeatureSum.PRODUCT:
            return self._product_of_rows(node.scales)
        if node.scales not in self.distances:
            vectors, rows = self._scaled(node.scales)
            self.distances[node.scales] = Distances(self.graph, vectors, rows)
        distances = self.distances[node.scales]
        if node.kind is FeatureSum.TAXICAB:
            return distances.taxicab()
        if np.isfinite(node.sensitivity):
            return distances.squared(node.sensitivity)
        # A root is steep at 0: the rounding of |x|^2 - 2 x'z + |z|^2 would be felt there.
        return distances.exactly_squared()

    def _product_of_rows(self, scales: tuple[float, ...]) -> str:
        if scales not in self.products:
            vectors, rows = self._scaled(scales)
            product = self.graph.add("MatMul", rows, self.graph.constant(vectors.T))
            self.products[scales] = product
        return self.products[scales]

    def _scaled(self, scales: tuple[float, ...]) -> tuple[NDArray[np.float64], str]:
        """The vectors and the rows, times the scales of their features."""
        if not scales:
            return self.vectors, self.rows
        factors = np.array(scales)
        if factors.size == 1:  # not by a scalar, see machine_values
            rows = self.graph.add("MatMul", self.rows, self.graph.constant(factors[:, np.newaxis]))
        else:
            rows = self.graph.add("Mul", self.rows, self.graph.constant(factors))
        return self.vectors * factors, rows
