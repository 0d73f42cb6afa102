"""Kernel values of rows and vectors as a graph of ONNX's standard operators."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kernelet.export.to_onnx.distances import Distances
from kernelet.export.to_onnx.graph import Graph
from kernelet.export.to_onnx.vectors import Vectors
from kernelet.kernels import Kernel
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


def values_of(graph: Graph, kernel: Kernel, vectors: Vectors, rows: str) -> str:
    """k(x_i, z_j) for all rows and vectors, a tensor of shape (n, m)."""
    return _Values(graph, vectors, rows).of(kernel.expression())


class _Values:
    """Kernel values of all rows and vectors; what parts of a kernel share is computed once."""

    def __init__(self, graph: Graph, vectors: Vectors, rows: str) -> None:
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
            self.products[scales] = self.graph.add("MatMul", rows, vectors.columns())
        return self.products[scales]

    def _scaled(self, scales: tuple[float, ...]) -> tuple[Vectors, str]:
        """The vectors and the rows, times the scales of their features."""
        if not scales:
            return self.vectors, self.rows
        factors = np.array(scales)
        return self.vectors.scaled(factors), self.graph.scaled(self.rows, factors)
