"""Models as C99: one header and one source, no heap, nothing but math.h."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelet._hooks import hooks
from kernelet.export.c_fixed import fixed_point_source
from kernelet.export.c_reading import reading_declarations, reading_functions
from kernelet.export.c_source import (
    REALS,
    Real,
    comment,
    identifier,
    kernel_function,
    numbers,
    table,
)
from kernelet.export.model import ExportedModel, exported_model
from kernelet.persistence.atomic import write_atomically

DTYPES = (*REALS, "q15")


@dataclass(frozen=True)
class CSource:
    """The two files of an exported model, and what it costs where it runs.

    Attributes
    ----------
    name : str
        Prefix of all names in the files.
    header, source : str
    flash_bytes : int
        Of the tables, which are constant and stay in flash; the code comes on top, about one
        kilobyte.
    ram_bytes : int
        On the stack, beside the row and the results that the caller owns.
    operations : str
        Of one prediction, for a person.
    """

    name: str
    header: str
    source: str
    flash_bytes: int
    ram_bytes: int
    operations: str


def c(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> CSource:
    """Write a model as C99, a header and a source that need nothing but math.h.

    The functions are named by the file. For ``digits.c``: ``digits_decision_function(x, scores)``,
    ``digits_predict(x)`` (a class number, an index into ``digits_labels``), the same for many rows
    with ``_batch``, and ``digits_predict_proba`` for calibrated models. There is no heap and no
    state, so that any number of threads or interrupts may call them; tables are const and stay
    in flash.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, fitted estimator of kernelet, or fitted SVC, NuSVC, \
SVR, NuSVR, OneClassSVM or KernelRidge
    path : path-like
        Of the source; the header gets the same name with ".h". Each file is there as a whole or
        not at all.
    dtype : {"float32", "float64", "q15"}, default="float32"
        What is stored and computed in. "q15" takes rows of 16-bit integers and does without
        floating point; it is for Gaussian kernels.

    Returns
    -------
    CSource
        What was written, with its cost in flash, RAM and operations.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from kernelet.kernels import Gaussian
    >>> machine = kernelet.KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = kernelet.export.c(machine, os.path.join(folder, "bump.c"))
    ...     sorted(os.listdir(folder)), written.flash_bytes
    (['bump.c', 'bump.h'], 20)
    """
    target = Path(path)
    if target.suffix != ".c":
        raise ValueError(f'path must end in ".c", got {os.fspath(path)!r}.')
    written = c_source(model, identifier(target.stem), dtype, header=f"{target.stem}.h")
    write_atomically(target.with_suffix(".h"), written.header.encode())
    write_atomically(target, written.source.encode())
    return written


def c_source(
    model: Any, name: str, dtype: str = "float32", *, header: str | None = None
) -> CSource:
    """The files that `c` writes; ``header`` is the name by which the source includes it."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    exported = exported_model(model)
    included = f"{name}.h" if header is None else header
    if dtype == "q15":
        return CSource(name, *fixed_point_source(exported, name, included))
    return _floating_point(exported, name, REALS[dtype], included)


def _floating_point(exported: ExportedModel, name: str, real: Real, included: str) -> CSource:
    machine = exported.machine
    m, d, k = machine.n_vectors, machine.n_features, machine.n_outputs
    with np.errstate(over="ignore"):
        arrays = {
            part: np.asarray(getattr(machine, part), dtype=real.dtype)
            for part in ("vectors", "coefficients", "intercepts")
        }
    for part, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"the {part} of the machine are too large for float32; use float64.")
    flash = sum(array.nbytes for array in arrays.values())
    ram = real.dtype.itemsize * (k + 8)
    operations = f"{m} kernel values of {d} features and {m * k} multiplications"
    prefix = name.upper()
    about = [
        f" * A kernel machine. Vectors: {m}, features: {d}, outputs: {k}.",
        f" * {comment(repr(machine.kernel))}",
        f" * Made by kernelet {hooks.version}.",
        " *",
        f" * Flash: {flash} bytes of tables, and about 1 kB of code. RAM: {ram} bytes of stack.",
        f" * One prediction: {operations}.",
    ]
    source = [
        "/*",
        *about,
        " */",
        "",
        f'#include "{included}"',
        "",
        "#include <math.h>",
        "",
        *table(
            f"static const {real.name} vectors[{max(m, 1)}][{d}]",
            numbers(_at_least_one(arrays["vectors"]), real),
        ),
        "",
        *table(
            f"static const {real.name} coefficients[{max(m, 1)}][{k}]",
            numbers(_at_least_one(arrays["coefficients"]), real),
        ),
        "",
        *table(f"static const {real.name} intercepts[{k}]", numbers(arrays["intercepts"], real)),
        "",
        *kernel_function(machine.kernel, real, prefix),
        "",
        *_outputs_function(name, real, m, k),
        "",
        *reading_functions(exported, name, real),
    ]
    header = _header(exported, name, real, about)
    return CSource(name, header, "\n".join(source) + "\n", flash, ram, operations)


def _at_least_one(array: Any) -> Any:
    """C has no arrays of length 0; a machine without vectors gets one that is never read."""
    return array if len(array) else np.zeros((1, array.shape[1]), dtype=array.dtype)


def _outputs_function(name: str, real: Real, m: int, k: int) -> list[str]:
    prefix = name.upper()
    return [
        f"static void outputs(const {real.name} *x, {real.name} *values)",
        "{",
        "    int j, o;",
        "",
        f"    for (o = 0; o < {k}; o++)",
        "        values[o] = intercepts[o];",
        f"    for (j = 0; j < {prefix}_VECTORS; j++) {{",
        f"        const {real.name} value = kernel(x, vectors[j]);",
        "",
        f"        for (o = 0; o < {k}; o++)",
        "            values[o] += coefficients[j][o] * value;",
        "    }",
        "}",
    ]


def _header(exported: ExportedModel, name: str, real: Real, about: list[str]) -> str:
    prefix = name.upper()
    machine = exported.machine
    lines = [
        "/*",
        *about,
        " */",
        "",
        f"#ifndef KERNELET_{prefix}_H",
        f"#define KERNELET_{prefix}_H",
        "",
        "#include <stddef.h>",
        "",
        f"#define {prefix}_FEATURES {machine.n_features}",
        f"#define {prefix}_VECTORS {machine.n_vectors}",
    ]
    if exported.feature_names is not None:
        listed = ", ".join(exported.feature_names)
        lines += ["", f"/* Features: {comment(listed)} */"]
    lines += [
        *reading_declarations(exported, name, real.name),
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"
