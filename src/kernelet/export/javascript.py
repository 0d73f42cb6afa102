"""Models as JavaScript: one module without dependencies, for browsers and node."""

from __future__ import annotations

import importlib.resources
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet._hooks import hooks
from kernelet.export.compact import (
    compact_document,
    compact_form,
    kernel_of_points,
    table_bytes,
)
from kernelet.export.documents import (
    calibration_document,
    kernel_document,
    numbers_text,
    scaling_of,
    script_json,
)
from kernelet.export.formats import register_format
from kernelet.export.model import cast, exported_model
from kernelet.export.projection import projected
from kernelet.export.rounding import centre, warn_of_lost_digits
from kernelet.machine import CompactForm, KernelMachine
from kernelet.machine.columns import Category, Number
from kernelet.persistence.atomic import write_atomically

DTYPES = ("float32", "float64")
# Whole numbers beyond are not all numbers in JavaScript, but they are all BigInts.
_LARGEST_INTEGER = 2**53 - 1

_MODULE = """\
// A kernel machine: {summary}.
// Made by kernelet {version}. It needs nothing else, in browsers and in node:
//
//   import {{ predict, decisionFunction }} from "./machine.mjs";
//   predict({rows}

const model = {model};

{runtime}
export const {{ decisionFunction, predict, predictProba, classes, metadata }} = makeMachine(model);
"""
_ROWS = "[[...], [...]]);   // an array of rows, or one typed array of all their numbers"
_ROWS_OF_TABLES = "[{ column: value, ... }, ...]);"


@register_format(endings=[".mjs", ".js"], dtypes=DTYPES)
def javascript(model: Any, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
    r"""Write a model as a JavaScript module.

    .. math:: f_k(x) = \sum_j \beta_{jk} \, k(x, z_j) + b_k

    The module depends on nothing. It exports ``decisionFunction(rows)``, ``predict(rows)``,
    ``predictProba(rows)`` for models with a calibration, ``classes`` and ``metadata``. Rows are an
    array of arrays, or one typed array that holds them one after the other. The results are those
    of the model in Python: a number or a label for each row, or an array of scores for each row.
    For a row with NaN the scores are NaN and the label is null. A row for a TableModel is an object
    that names its columns; null and NaN are missing values there.

    A machine in few bits (``vector_bits``) is written as the integers that it is made of, in
    base64, whatever ``dtype`` says: its numbers are then exactly those of the machine in Python.
    ``metadata`` says how many bits an entry of a vector has (``vectorBits``; null otherwise) and
    how many bytes all numbers take (``nBytes``).

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, TableModel or fitted estimator
        Of kernelet, or scikit-learn's SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelRidge. Also a
        pipeline of scalers and one of these, and the other wrappers that `kernelet.compress` takes.
    path : path-like
        By custom it ends in ".mjs". The file is there as a whole or not at all.
    dtype : {"float32", "float64"} or None, default=None
        What the numbers are stored in, but of machines in few bits; None keeps the machine's own.
        Computed is in float64.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If its kernel is a Python function, or a number in it is not finite.
    OSError
        If the file cannot be written; an older one is then as it was.

    Warns
    -----
    UserWarning
        If ``dtype`` keeps too few digits of the vectors for the kernel.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from kernelet.kernels import Gaussian
    >>> machine = kernelet.KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "machine.mjs")
    ...     kernelet.export.javascript(machine, path)
    ...     print(open(path).readline().strip())
    // A kernel machine: 2 vectors of 1 feature, 1 output.
    """
    text = javascript_module(model, dtype)
    if dtype is not None:
        machine = exported_model(model, with_columns=True).machine
        if compact_form(machine) is None:
            projection, inner = projected(machine, dtype)
            is_moved = projection is None or projection.matrix is None
            warn_of_lost_digits(inner, dtype, _origin(inner, dtype) if is_moved else 0.0)
    write_atomically(path, text.encode("utf-8"))


def javascript_module(model: Any, dtype: str | None = None) -> str:
    """The text that `javascript` writes."""
    document = model_document(model, dtype)
    counts = (("nVectors", "vector"), ("nFeatures", "feature"), ("nOutputs", "output"))
    vectors, features, outputs = (_counted(document[key], word) for key, word in counts)
    bits = document["vectorBits"]
    return _MODULE.format(
        summary=f"{vectors} of {features}{f' in {bits} bits' if bits else ''}, {outputs}",
        version=hooks.version,
        rows=_ROWS_OF_TABLES if document["columns"] else _ROWS,
        model=_literal(document),
        runtime=runtime(with_columns=document["columns"] is not None, with_tables=bits is not None),
    )


def runtime(with_columns: bool = False, with_tables: bool = False) -> str:
    """The code that every module has: ``makeMachine(model)`` for a `model_document`.

    Parameters
    ----------
    with_columns : bool, default=False
        Whether to add what models of tables need.
    with_tables : bool, default=False
        Whether to add what machines in few bits need, whose numbers are tables of integers.
    """
    folder = importlib.resources.files("kernelet.export")
    pieces = {"columns.js": with_columns, "compact.js": with_tables, "machine.js": True}
    names = [name for name, is_needed in pieces.items() if is_needed]
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def model_document(model: Any, dtype: str | None = None) -> dict[str, Any]:
    """All that ``makeMachine`` needs of a model, as values that JSON can hold.

    Parameters
    ----------
    model : object
        As in `javascript`.
    dtype : {"float32", "float64"} or None, default=None

    Returns
    -------
    dict
        Arrays are NumPy's, of the type that was asked for. Where there are "features", the kernel
        and the vectors are those of these features; where there is a "matrix", of the combinations
        that it makes of them.
    """
    exported = exported_model(model, with_columns=True)
    machine, columns, scaling = exported.machine, None, scaling_of(exported)
    if exported.columns is not None and scaling is None:
        columns = [_column(column) for column in exported.columns]
    kind = str(machine.dtype) if dtype is None else dtype
    if kind not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)} or None, got {dtype!r}.")
    form = compact_form(machine)
    numbers = _arrays(machine, kind) if form is None else _tables(form)
    return {
        "kernelet": hooks.version,
        "kernel": numbers.pop("kernel"),
        "nFeatures": machine.n_features,
        "nVectors": machine.n_vectors,
        "nOutputs": machine.n_outputs,
        "dtype": kind if form is None else "float64",
        "reading": exported.reading,
        "classes": exported.classes,
        "votes": exported.votes,
        "breakTies": exported.break_ties,
        "calibration": calibration_document(exported.calibration),
        "labelsByScores": exported.labels_by_scores,
        "columns": columns,
        "scaling": scaling and {"shift": scaling[0], "scale": scaling[1]},
        "featureNames": exported.feature_names,
        **numbers,
    }


def _arrays(machine: KernelMachine, kind: str) -> dict[str, Any]:
    """The numbers of a machine in 32 or 64 bits, and the kernel."""
    projection, inner = projected(machine, kind)
    features = None if projection is None else projection.features
    matrix = None if projection is None else projection.matrix
    if projection is None or matrix is None:
        origin = _origin(inner, kind)
        vectors = np.asarray(inner.vectors) - origin
    else:
        origin = np.zeros(projection.n_used) if projection.origin is None else projection.origin
        vectors = inner.vectors
    arrays = {
        "matrix": None if matrix is None else cast("matrix", matrix, kind),
        "vectors": cast("vectors", vectors, kind),
        "coefficients": cast("coefficients", machine.coefficients, kind),
        "intercepts": cast("intercepts", machine.intercepts, kind),
    }
    return {
        "kernel": kernel_document(inner.kernel),
        "vectorBits": None,
        "nBytes": sum(array.nbytes for array in arrays.values() if array is not None),
        "origin": None if not origin.any() else origin,
        "features": None if features is None else features.tolist(),
        **arrays,
    }


def _tables(form: CompactForm) -> dict[str, Any]:
    """The integers of a machine in few bits, and the kernel."""
    tables = compact_document(form)
    return {
        "kernel": kernel_document(kernel_of_points(form.grid)),
        "vectorBits": form.grid.bits,
        "nBytes": table_bytes(tables),
        **tables,
    }


def _column(column: Number | Category) -> dict[str, Any]:
    if isinstance(column, Number):
        scaling = {"shift": column.shift, "scale": column.scale, "fill": column.fill}
        return {"name": column.name, "kind": "number", **scaling}
    categories = list(column.categories)
    known = {"categories": categories, "hasMissing": column.has_missing}
    return {"name": column.name, "kind": "category", **known}


def _origin(machine: KernelMachine, dtype: str) -> NDArray[np.float64]:
    """From where vectors are measured before they are rounded.

    A point amid them where that keeps more digits of most, as it does if the data lie far from 0.
    """
    origin, vectors = np.zeros(machine.n_features), np.asarray(machine.vectors, dtype=np.float64)
    if dtype == "float32" and machine.n_vectors and machine.kernel.is_translation_invariant:
        middle = centre(vectors)
        if _rounding(vectors - middle) < _rounding(vectors):
            return middle
    return origin


def _rounding(vectors: NDArray[Any]) -> float:
    """What 32 bits take from the vector in the middle of all."""
    with np.errstate(over="ignore"):  # which `cast` refuses
        return float(np.median(np.abs(vectors - vectors.astype(np.float32)).max(axis=1)))


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def _literal(document: dict[str, Any]) -> str:
    """An object literal with one line for each key and for each row of an array."""
    lines = [f"  {key}: {_value(value)}," for key, value in document.items()]
    return "\n".join(["{", *lines, "}"])


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.ndim == 1:
            return f"[{numbers_text(value)}]"
        rows = [f"    {numbers_text(row)}," for row in value]
        return "\n".join(["[", *rows, "  ]"])
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_INTEGER:
        return f"{value}n"
    return script_json(value)
