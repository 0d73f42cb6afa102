"""Models as JavaScript: one module without dependencies, for browsers and node."""

from __future__ import annotations

import importlib.resources
import os
from pathlib import Path
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
    scaling_of,
    script_value,
)
from kernelet.export.formats import register_format
from kernelet.export.javascript_types import HEADERS, declarations, declarations_path
from kernelet.export.model import cast, exported_model
from kernelet.export.projection import projected
from kernelet.export.rounding import centre, warn_of_lost_digits
from kernelet.machine import CompactForm, KernelMachine
from kernelet.machine.columns import Category, Number
from kernelet.persistence.atomic import write_atomically

DTYPES = ("float32", "float64")

_MODULE = """\
// A kernel machine: {summary}.
// Made by kernelet {version}. It needs nothing else, in browsers and in node:
//
//   import {{ predict, decisionFunction }} from "./machine.mjs";
//   predict({row});     // of one row, {of_row}
//   predict([{row}, ...]);   // one answer for each row

const model = {model};

{runtime}
export const {{ decisionFunction, predict, predictProba, classes, metadata }} = makeMachine(model);
"""


@register_format(endings=[*HEADERS], dtypes=DTYPES, header=[*HEADERS.values()])
def javascript(model: Any, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
    r"""Write a model as a JavaScript module.

    .. math:: f_k(x) = \sum_j \beta_{jk} \, k(x, z_j) + b_k

    The module depends on nothing. It exports ``decisionFunction``, ``predict``, ``predictProba``
    for models with a calibration, ``classes`` and ``metadata``. The functions take a row or an
    array of rows, and return one answer or an array of them: those of the model in Python, a label,
    a number, or an array of scores for each row. Anything else is a TypeError or a RangeError that
    says what was expected.

    A row is an array or a typed array of numbers, or an object that names its columns where the
    model knows names. A row for a TableModel may hold numbers and texts; null, NaN and "" are
    missing values there, and columns that are not needed are ignored. Otherwise, the scores of a
    row with NaN are NaN and its label is null.

    TypeScript's declarations go beside the module: ``machine.d.mts`` for ``machine.mjs``,
    ``machine.d.ts`` for ``machine.js``, and none for other endings.

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
        By custom it ends in ".mjs". Each file is there as a whole or not at all.
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
    document = document_with_warnings(model, dtype)
    beside = declarations_path(Path(path))
    write_atomically(path, module_text(document).encode("utf-8"))
    if beside is not None:
        write_atomically(beside, declarations(document).encode("utf-8"))


def document_with_warnings(model: Any, dtype: str | None = None) -> dict[str, Any]:
    """The `model_document`; warns if ``dtype`` keeps too few digits of the vectors."""
    document = model_document(model, dtype)
    if dtype is not None:
        machine = exported_model(model, with_columns=True).machine
        if compact_form(machine) is None:
            projection, inner = projected(machine, dtype)
            is_moved = projection is None or projection.matrix is None
            warn_of_lost_digits(inner, dtype, _origin(inner, dtype) if is_moved else 0.0)
    return document


def javascript_module(model: Any, dtype: str | None = None) -> str:
    """The text that `javascript` writes."""
    return module_text(model_document(model, dtype))


def module_text(document: dict[str, Any]) -> str:
    """The text of the module for a `model_document`."""
    has_columns = document["columns"] is not None
    return _MODULE.format(
        summary=summary(document),
        version=hooks.version,
        row="{ column: value, ... }" if has_columns else "[number, ...]",
        of_row="an object or an array of its cells" if has_columns else "an array or a typed array",
        model=_literal(document),
        runtime=runtime(has_columns, with_tables=document["vectorBits"] is not None),
    )


def summary(document: dict[str, Any]) -> str:
    """The shape of a `model_document` in words."""
    counts = (("nVectors", "vector"), ("nFeatures", "feature"), ("nOutputs", "output"))
    vectors, features, outputs = (_counted(document[key], word) for key, word in counts)
    bits = document["vectorBits"]
    return f"{vectors} of {features}{f' in {bits} bits' if bits else ''}, {outputs}"


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
    lines = [f"  {key}: {script_value(value)}," for key, value in document.items()]
    return "\n".join(["{", *lines, "}"])
