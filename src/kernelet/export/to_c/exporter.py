"""Models as C99: one header and one source, no heap, nothing but math.h."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelet.export.formats import register_format
from kernelet.export.model import exported_model
from kernelet.export.rounding import warn_of_lost_digits
from kernelet.export.to_c.compact_source import compact_source
from kernelet.export.to_c.cost import Cost
from kernelet.export.to_c.fixed_source import fixed_source
from kernelet.export.to_c.float_source import float_source
from kernelet.export.to_c.pieces import REALS, identifier
from kernelet.export.to_c.source import FilledTemplate
from kernelet.persistence.atomic import write_atomically

DTYPES = (*REALS, "q15", "q7")


@dataclass(frozen=True)
class CSource:
    """The two files of an exported model, and what it costs where it runs.

    Attributes
    ----------
    name : str
        Prefix of all names in the files.
    header, source : str
    cost : Cost
        Bytes of flash and RAM, and operations; the header states them too.
    """

    name: str
    header: str
    source: str
    cost: Cost

    @property
    def flash_bytes(self) -> int:
        """Size of the tables, see `Cost`."""
        return self.cost.flash_bytes

    @property
    def ram_bytes(self) -> int:
        """Use of the stack, see `Cost`."""
        return self.cost.ram_bytes

    @property
    def operations(self) -> str:
        """What one prediction computes, in words."""
        return self.cost.operations


@register_format(endings=[".c"], dtypes=DTYPES, header=".h")
def c(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> CSource:
    """Write a model as C99, a header and a source that need nothing but math.h.

    The functions are named by the file. For ``digits.c``: ``digits_decision_function(x, scores)``,
    ``digits_predict(x)`` (a class number, an index into ``digits_labels``; with q7,
    texts are a macro instead, ``DIGITS_LABEL_NAMES``), for models with probabilities
    ``digits_predict_proba(x, probabilities)``, and each of them for many rows with ``_batch``. They
    use no heap and keep no state, so any number of threads or interrupts may call them at once.
    Tables are const and stay in flash. The header states what a row holds, and what a prediction
    costs.

    A row of a TableModel holds one number for each column: a category is the number of its text,
    which ``digits_category(column, text)`` finds; NaN is a missing value, as the model takes it.
    Scalers of scikit-learn in a pipeline are exported too. Labels and probabilities are the
    model's own; error bars of a RelevanceVectorRegressor are left out.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, TableModel or fitted estimator
        Of kernelet, or scikit-learn's SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelRidge; also in a
        pipeline after StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler, and in the other
        wrappers that `kernelet.compress` takes.
    path : path-like
        Path of the source; the header has the same name with ".h". Each file is written as a whole
        or not at all.
    dtype : {"float32", "float64", "q15", "q7"}, default="float32"
        Type of the numbers that are stored and computed with. "q15" is for Gaussian kernels:
        ``digits_quantize(x, q)`` turns a row into 16-bit integers, and nothing else uses floating
        point. "q7" is for machines with a Gaussian kernel that were fitted, or compressed, with
        ``vector_bits``: as "q15", but all numbers of the machine are stored in few bits.

    Returns
    -------
    CSource
        What was written, with its cost in flash, RAM and operations.

    Raises
    ------
    TypeError
        If the model, or a step of a pipeline, is of another kind.
    ValueError
        If its kernel is a Python function, its numbers are out of the range of ``dtype`` or lie
        too far apart for 16 bits, a name in it cannot be a text of C, or ``dtype`` is "q7" and the
        machine not in few bits.

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
    ...     written = kernelet.export.c(machine, os.path.join(folder, "bump.c"))
    ...     sorted(os.listdir(folder)), written.flash_bytes
    (['bump.c', 'bump.h'], 20)
    """
    target = Path(path)
    if target.suffix != ".c":
        raise ValueError(f'path must end in ".c", got {os.fspath(path)!r}.')
    written = c_source(model, identifier(target.stem), dtype, header=f"{target.stem}.h")
    if dtype in REALS:
        warn_of_lost_digits(exported_model(model, with_columns=True).machine, dtype)
    write_atomically(target.with_suffix(".h"), written.header.encode())
    write_atomically(target, written.source.encode())
    return written


def c_source(
    model: Any, name: str, dtype: str = "float32", *, header: str | None = None
) -> CSource:
    """The files that `c` writes; ``header`` is the name by which the source includes it."""
    made = _made(model, name, dtype)
    source = made.source(f"{name}.h" if header is None else header)
    return CSource(name, made.header(), source, made.cost)


def c_cost(model: Any, dtype: str = "float32") -> Cost:
    """What a model costs as C, without writing it.

    Parameters
    ----------
    model : object
        As in `c`.
    dtype : {"float32", "float64", "q15", "q7"}, default="float32"

    Returns
    -------
    Cost

    Examples
    --------
    >>> import kernelet
    >>> from kernelet.kernels import Gaussian
    >>> machine = kernelet.KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> c_cost(machine).operations
    '10 additions and multiplications, 2 calls of math.h'
    """
    return _made(model, "machine", dtype).cost


def _made(model: Any, name: str, dtype: str) -> FilledTemplate:
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    exported = exported_model(model, with_columns=True)
    if dtype == "q15":
        return fixed_source(exported, name)
    if dtype == "q7":
        return compact_source(exported, name)
    return float_source(exported, name, REALS[dtype])
