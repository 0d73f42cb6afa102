"""A machine as a graph of ONNX's standard operators."""

from __future__ import annotations

import numpy as np

from kernelet.export.compact import compact_form
from kernelet.export.projection import projected
from kernelet.export.to_onnx.few_bits import compact_values
from kernelet.export.to_onnx.graph import Graph, chosen_features
from kernelet.export.to_onnx.kernel_values import values_of
from kernelet.export.to_onnx.vectors import Vectors
from kernelet.machine import KernelMachine


def machine_values(graph: Graph, machine: KernelMachine, rows: str) -> str:
    """f_k(x_i) for all rows and outputs, a tensor of shape (n, k)."""
    if machine.n_vectors == 0:
        n_rows = graph.add("Gather", graph.add("Shape", rows), graph.constant([0], np.int64))
        shape = graph.add("Concat", n_rows, graph.constant([machine.n_outputs], np.int64), axis=0)
        return graph.add("Expand", graph.constant([machine.intercepts]), shape)
    form = compact_form(machine)
    if form is not None:
        return compact_values(graph, form, rows)
    projection, machine = projected(machine, graph.dtype.name)
    if projection is not None:
        if projection.features is not None:
            rows = chosen_features(graph, rows, projection.features)
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
    K = values_of(graph, machine.kernel, Vectors(graph, vectors), rows)
    product = graph.add("MatMul", K, graph.constant(coefficients))
    return graph.add("Add", product, graph.constant(machine.intercepts))
