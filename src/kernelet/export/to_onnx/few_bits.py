"""Machines in few bits in ONNX: integers of a byte, or of two, and what makes numbers of them.

Integers become numbers by Cast and Mul, which runtimes do once, when they load a model. Of
DequantizeLinear onnxruntime 1.18 to 1.31 does it for every prediction: with 100 vectors of 784
features one row took 77 us instead of 17. It also knows neither 16 bits nor double precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelet.export.compact import kernel_of_points
from kernelet.export.to_onnx.graph import Graph, chosen_features
from kernelet.export.to_onnx.kernel_values import values_of
from kernelet.export.to_onnx.vectors import TensorVectors
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import CompactForm
from kernelet.machine.vector_grid import VectorGrid

# Bytes that three more nodes and a row of zeros take, for features in which vectors do not differ.
_LEAVING_OUT = 200


def compact_values(graph: Graph, form: CompactForm, rows: str) -> str:
    """f_k(x_i) of a machine in few bits for all rows and outputs, a tensor of shape (n, k)."""
    grid = form.grid
    offsets, codes, scales = grid.offsets, form.coefficients, form.scales.values
    if len(offsets) == 1:  # twice the half of it, see machine_values
        offsets, codes = np.repeat(offsets, 2, axis=0), np.repeat(codes, 2, axis=0)
        scales = np.repeat(scales / 2.0, 2)
    points = points_of_rows(graph, grid, rows)
    steps: FloatArray = grid.steps.values
    centre: FloatArray = grid.centres * steps
    centred: FloatArray = offsets * steps
    vectors = TensorVectors(graph, centre, centred, _offsets(graph, grid, offsets))
    K = values_of(graph, kernel_of_points(grid), vectors, points)
    product = graph.add("MatMul", K, times(graph, codes, scales))
    return graph.add("Add", product, graph.constant(form.intercept_values))


def points_of_rows(graph: Graph, grid: VectorGrid, rows: str) -> str:
    """What the kernel sees of the rows: features in use, scaled, or combinations of them."""
    if grid.used.size < grid.n_features:
        rows = chosen_features(graph, rows, grid.used)
    if grid.matrix is not None:
        matrix = times(graph, grid.matrix.codes.T, grid.matrix.steps.values)
        return graph.add("MatMul", rows, matrix)
    if grid.scales is None:
        return rows
    return graph.scaled(rows, grid.scales.values)


def times(graph: Graph, integers: NDArray[np.int16], factors: FloatArray) -> str:
    """Integers of shape (n, k) times a factor for each row."""
    low, high = int(integers.min(initial=0)), int(integers.max(initial=0))
    kind = np.int16 if min(low, -high - 1) < -128 else np.int8
    numbers = graph.cast(graph.constant(integers, kind))
    return graph.add("Mul", numbers, graph.numbers(factors[:, np.newaxis]))


def _offsets(graph: Graph, grid: VectorGrid, offsets: NDArray[np.int32]) -> str:
    """The vectors less the centres, a tensor of shape (r, m)."""
    steps, varying = grid.steps.values, grid.varying
    varying[0] |= not varying.any()  # tensors hold something
    n_flat = int((~varying).sum())
    if n_flat * len(offsets) <= len(steps) + _LEAVING_OUT:
        return times(graph, offsets.T.astype(np.int16), steps)
    tensor = times(graph, offsets.T[varying].astype(np.int16), steps[varying])
    zeros = graph.add("Pad", tensor, graph.constant([0, 0, 1, 0], np.int64))
    places = np.where(varying, np.cumsum(varying) - 1, varying.sum())  # the zeros come last
    return graph.add("Gather", zeros, graph.indices(places), axis=0)
