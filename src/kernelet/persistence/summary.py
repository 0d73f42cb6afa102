"""A description of a model file, without its arrays."""

from __future__ import annotations

import os
from typing import Any

from kernelet.persistence.compact_records import sizes_of
from kernelet.persistence.container import read_header, record_of_tree
from kernelet.persistence.errors import ModelFileError, one_line
from kernelet.persistence.header import Entry, Header
from kernelet.persistence.kernels import with_arrays
from kernelet.persistence.record import Record

# What a summary says of the machine.
_MACHINE = (
    *("kernel", "n_vectors", "n_features", "n_outputs", "dtype", "machine_bytes"),
    *("vector_bits", "coefficient_bits", "stored_bytes"),
)


def read_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a model file without reading its arrays.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        JSON values. "format_version", "kernelet_version", "saved" and "file_bytes" are of the file;
        "kind" is the class that `kernelet.load` returns, "estimator" that of the innermost model
        in it; "kernel" (with the shape of a matrix for the matrix), "n_vectors", "n_features",
        "n_outputs", "dtype" and "machine_bytes" (of vectors, coefficients and intercepts, as they
        are stored) are of the machine; so are "vector_bits", "coefficient_bits" and "stored_bytes"
        (`kernelet.machine.stored_bytes`, as the writer has counted them), None unless it is one in
        few bits; "classes", "feature_names", "params", "cost" (C as given or chosen), "training"
        (rows, rows of each class, version and date of the fit), "target" and "columns" are None if
        the model has none.

    Raises
    ------
    ModelFileError, OSError
        As `kernelet.load` does.
    """
    try:
        return _summary(read_header(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {one_line(error).rstrip('.')}.") from error


def _summary(header: Header) -> dict[str, Any]:
    outer = record_of_tree(header.model, "", {})
    inner, prefix = outer, ""
    while "estimator" in inner.parts:
        inner, prefix = inner.parts["estimator"], prefix + "estimator/"
    labels = inner.optional("classes_", dict)
    encoder = outer.parts.get("encoder")
    columns = outer if outer.kind == "ColumnEncoder" else encoder
    return {
        "format_version": int(header.metadata["format_version"]),
        "kernelet_version": header.metadata.get("kernelet_version"),
        "saved": header.metadata.get("saved"),
        "file_bytes": header.n_bytes,
        "kind": outer.kind,
        "estimator": inner.kind,
        **_machine(inner, prefix, header.entries),
        "classes": None if labels is None else labels.get("values"),
        "feature_names": inner.optional("feature_names_in_", list),
        "params": inner.optional("params", dict),
        "cost": Record("fitted", inner.optional("fitted", dict) or {}).optional("C_", float),
        "training": inner.optional("training", dict),
        "target": outer.optional("target", str),
        "columns": None if columns is None else columns.optional("columns", list),
    }


def _machine(model: Record, prefix: str, entries: dict[str, Entry]) -> dict[str, Any]:
    machine = model
    if "machine" in model.parts:
        machine, prefix = model.parts["machine"], prefix + "machine/"
    own = {name.removeprefix(prefix): e for name, e in entries.items() if name.startswith(prefix)}
    if machine.kind != "KernelMachine":
        return dict.fromkeys(_MACHINE)

    def shape(name: str) -> dict[str, Any]:
        entry = own.get(name)
        return {"array": name} if entry is None else {"shape": list(entry.shape)}

    kernel = with_arrays(machine.value("kernel", dict), shape)
    describe = _compact if "compact" in machine.fields else _floating
    return dict.fromkeys(_MACHINE) | describe(machine, kernel, own)


def _floating(machine: Record, kernel: Any, own: dict[str, Entry]) -> dict[str, Any]:
    found = [own.get(name) for name in ("vectors", "coefficients", "intercepts")]
    arrays = [entry for entry in found if entry is not None]
    if len(arrays) != 3 or [len(entry.shape) for entry in arrays] != [2, 2, 1]:
        raise ModelFileError("the arrays of the machine are missing or have other dimensions")
    left_out = own.get("left_out")
    return {
        "kernel": kernel,
        "n_vectors": arrays[0].shape[0],
        "n_features": arrays[0].shape[1] + (0 if left_out is None else sum(left_out.shape)),
        "n_outputs": arrays[1].shape[1],
        "dtype": arrays[0].dtype.name,
        "machine_bytes": sum(entry.end - entry.begin for entry in arrays),
    }


def _compact(machine: Record, kernel: Any, own: dict[str, Entry]) -> dict[str, Any]:
    fields = Record("the compact machine", machine.value("compact", dict))
    sizes = sizes_of(fields)
    d, r = sizes.n_features, sizes.n_combinations
    if r:
        kernel = {"name": "projected_features", "kernel": kernel, "matrix": {"shape": [r, d]}}
    elif "scales" in own or "used" in own:
        kernel = {"name": "scaled_features", "kernel": kernel, "scales": {"shape": [d]}}
    return {
        "kernel": kernel,
        "n_vectors": sizes.n_vectors,
        "n_features": d,
        "n_outputs": sizes.n_outputs,
        "dtype": sizes.dtype.name,
        "machine_bytes": sum(entry.end - entry.begin for entry in own.values()),
        "vector_bits": fields.value("vector_bits", int),
        "coefficient_bits": fields.value("coefficient_bits", int),
        "stored_bytes": fields.optional("stored_bytes", int),
    }
