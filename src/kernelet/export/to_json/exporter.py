"""Models as JSON: every number and label of them, for people and for programs of any language."""

from __future__ import annotations

import importlib.resources
import json as standard_json
import os
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from kernelet._hooks import hooks
from kernelet.export.documents import (
    calibration_document,
    kernel_document,
    numbers_text,
    readable_json,
)
from kernelet.export.formats import register_format
from kernelet.export.model import ExportedModel, cast, exported_model
from kernelet.export.rounding import warn_of_lost_digits
from kernelet.export.to_json.compact import compact_document
from kernelet.learners.compression.unwrapping import unwrapped
from kernelet.learners.wrappers.table_model import TableModel
from kernelet.machine import KernelMachine
from kernelet.machine.columns import Category, Number
from kernelet.machine.reading import Reading
from kernelet.persistence.atomic import write_atomically
from kernelet.persistence.compact_records import COMPACT_VERSION
from kernelet.persistence.machines import LEFT_OUT_VERSION
from kernelet.persistence.ranges import check_range
from kernelet.persistence.vectors import stored_vectors

FORMAT = "kernelet model"
FORMAT_VERSION = 3  # the newest that is read; a file is written in the oldest that can hold it
DTYPES = ("float32", "float64")


@register_format(endings=[".json"], dtypes=DTYPES)
def json(model: Any, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
    r"""Write a model as JSON.

    .. math:: f_k(x) = \sum_j \beta_{jk} \, k(x, z_j) + b_k

    The text holds the kernel, all numbers with the digits that it takes to read the same again, the
    labels, and where the model has them its calibration and what is done to the columns of a table.
    `json_schema` describes it; `read_json` makes a model of it again.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, TableModel or fitted estimator
        Of kernelet, or scikit-learn's SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelRidge. Also a
        pipeline of scalers and one of these, and the other wrappers that `kernelet.compress` takes.
    path : path-like
        By custom it ends in ".json". The file is there as a whole or not at all.
    dtype : {"float32", "float64"} or None, default=None
        What the numbers are rounded to; None keeps the machine's own. A machine in few bits
        (``vector_bits``) is written as its integers in any case, and read as one of this type.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If its kernel is a Python function, a number in it is not finite, or its numbers are so
        large that scores overflow.
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
    ...     path = os.path.join(folder, "machine.json")
    ...     kernelet.export.json(machine, path)
    ...     kernelet.export.read_json(path) == machine
    True
    """
    text = json_text(model, dtype)
    if dtype is not None:
        warn_of_lost_digits(exported_model(model, with_columns=True).machine, dtype)
    write_atomically(path, text.encode("utf-8"))


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the files that `json` writes.

    Examples
    --------
    >>> schema = json_schema()
    >>> schema["properties"]["dtype"]["enum"]
    ['float32', 'float64']
    """
    text = importlib.resources.files("kernelet.export").joinpath("model.schema.json")
    schema: dict[str, Any] = standard_json.loads(text.read_text("utf-8"))
    return schema


@cache
def described_kernels() -> frozenset[str]:
    """Names of the kernels that the schema has formulas of; documents carry those of all others."""
    names: set[str] = set()
    for entry in json_schema()["$defs"]["kernel"]["oneOf"]:
        name = entry["properties"]["name"]
        names |= {name["const"]} if "const" in name else {*name.get("enum", ())}
    return frozenset(names)


def json_text(model: Any, dtype: str | None = None) -> str:
    """The text that `json` writes: one line for each field and for each row of an array."""
    fields = [
        f"  {readable_json(key)}: {_value(value)}" for key, value in document(model, dtype).items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def document(model: Any, dtype: str | None = None) -> dict[str, Any]:
    """What `json` writes, with NumPy's arrays."""
    exported = exported_model(model, with_columns=True)
    machine = exported.machine
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)} or None, got {dtype!r}.")
    if dtype is not None:
        for name in ("vectors", "coefficients", "intercepts"):
            cast(name, getattr(machine, name), dtype)
        machine = machine.astype(np.dtype(dtype))
    check_range(machine)
    version, numbers = _numbers(machine)
    kernel = machine.kernel if machine.compact is None else machine.compact.grid.kernel
    columns = None if exported.columns is None else [_column(c) for c in exported.columns]
    return {
        "format": FORMAT,
        "format_version": version,
        "kernelet_version": hooks.version,
        "reading": reading_of(model, exported),
        "classes": exported.classes,
        "votes": exported.votes if exported.reading is Reading.PAIRS else None,
        "break_ties": exported.break_ties if exported.reading is Reading.PAIRS else None,
        "calibration": calibration_document(exported.calibration),
        "labels_by_scores": exported.labels_by_scores,
        "target": model.target if isinstance(model, TableModel) else None,
        "columns": columns,
        "feature_names": None if columns else exported.feature_names,
        "kernel": kernel_document(kernel, described_kernels()),
        "dtype": str(machine.dtype),
        "n_features": machine.n_features,
        "n_vectors": machine.n_vectors,
        "n_outputs": machine.n_outputs,
        **numbers,
    }


def _numbers(machine: KernelMachine) -> tuple[int, dict[str, Any]]:
    """The numbers of a machine, and the oldest version that can hold them."""
    if machine.compact is not None:
        return COMPACT_VERSION, {"compact": compact_document(machine.compact, machine)}
    both = {"intercepts": machine.intercepts, "coefficients": machine.coefficients}
    stored = stored_vectors(machine)
    if stored is None:
        return 1, both | {"vectors": machine.vectors}
    return LEFT_OUT_VERSION, both | stored.arrays


def reading_of(model: Any, exported: ExportedModel) -> str:
    """What the outputs are for: "scores" and "features" are values that nobody predicts."""
    if exported.reading is not Reading.VALUES:
        return exported.reading
    inner = unwrapped(model).model
    if isinstance(inner, BaseEstimator) and is_regressor(inner):
        return "values"
    return "features" if getattr(inner, "transform", None) is not None else "scores"


def _column(column: Number | Category) -> dict[str, Any]:
    if isinstance(column, Number):
        # a scaler in front of an estimator leaves what is missing
        fill = None if np.isnan(column.fill) else float(column.fill)
        scaling = {"shift": float(column.shift), "scale": float(column.scale), "fill": fill}
        return {"name": column.name, "kind": "number", **scaling}
    known = {"categories": list(column.categories), "has_missing": column.has_missing}
    return {"name": column.name, "kind": "category", **known}


def _value(value: Any, depth: int = 1) -> str:
    """JSON; arrays of several rows, and what holds them, have a line for each entry."""
    if isinstance(value, np.ndarray):
        if value.ndim == 1:
            return f"[{numbers_text(value)}]"
        return _lines([_value(row) for row in value], depth)
    if isinstance(value, dict):
        items = [f"{readable_json(k)}: {_value(item, depth + 1)}" for k, item in value.items()]
        is_long = any(isinstance(item, np.ndarray) and item.ndim > 1 for item in value.values())
        return _lines(items, depth, "{}") if is_long else "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        items = [_value(item, depth + 1) for item in value]
        if items and isinstance(value[0], dict):
            return _lines(items, depth)
        return f"[{', '.join(items)}]"
    return readable_json(value)


def _lines(items: list[str], depth: int, brackets: str = "[]") -> str:
    if not items:
        return brackets
    margin = "\n" + "  " * depth
    inner = f",{margin}  ".join(items)
    return f"{brackets[0]}{margin}  {inner}{margin}{brackets[1]}"
