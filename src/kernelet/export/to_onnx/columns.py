"""What is done to the columns of a table before they are rows, in ONNX's standard operators."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from kernelet.export.to_onnx.graph import Graph
from kernelet.machine.columns import Category, Number

# Texts are compared since this version of the operators; onnxruntime 1.18 and later know it.
OPSET = 19

# Name and whether it holds texts
Input = tuple[str, bool]


def input_names(columns: Sequence[Number | Category], taken: Sequence[str]) -> dict[str, str]:
    """Column -> name of the input that it is; a column without features is none.

    An input is called as its column, unless an output has that name.
    """
    used = {*taken, *(column.name for column in columns)} - {""}
    names = {}
    for column in columns:
        if not column.feature_names:
            continue
        name = column.name or "_"
        while name in taken or (name != column.name and name in used):
            name += "_"
        used.add(name)
        names[column.name] = name
    return names


def rows_of_table(
    graph: Graph, columns: Sequence[Number | Category], names: dict[str, str]
) -> tuple[str, list[Input]]:
    """Rows of features out of one input of shape (n, 1) for each column.

    Numbers become (x - shift) / scale, with ``fill`` where they are NaN; texts an indicator for
    each category, and one for the empty text where training had missing values.
    """
    used = [column for column in columns if column.name in names]
    parts = []
    for is_text, group in groupby(used, key=lambda column: isinstance(column, Category)):
        members = list(group)
        if is_text:
            parts += [_indicators(graph, c, names) for c in members if isinstance(c, Category)]
        else:
            parts.append(_scaled(graph, [c for c in members if isinstance(c, Number)], names))
    rows = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    return rows, [(names[c.name], isinstance(c, Category)) for c in used]


def scaled_rows(graph: Graph, shift: np.ndarray, scale: np.ndarray, rows: str) -> str:
    """(x - shift) / scale in every column."""
    return graph.add("Div", graph.add("Sub", rows, graph.constant(shift)), graph.constant(scale))


def _scaled(graph: Graph, columns: list[Number], names: dict[str, str]) -> str:
    inputs = [names[column.name] for column in columns]
    cells = inputs[0] if len(inputs) == 1 else graph.add("Concat", *inputs, axis=1)
    fill = graph.constant([[column.fill for column in columns]])
    present = graph.add("Where", graph.add("IsNaN", cells), fill, cells)
    shift = np.array([column.shift for column in columns])
    return scaled_rows(graph, shift, np.array([column.scale for column in columns]), present)


def _indicators(graph: Graph, column: Category, names: dict[str, str]) -> str:
    from onnx import helper

    known = [*column.categories, *([""] if column.has_missing else [])]
    equal = graph.add("Equal", names[column.name], graph.strings([known]))
    return graph.add("Cast", equal, to=helper.np_dtype_to_tensor_dtype(graph.dtype))
