"""save, load and read_summary."""

from __future__ import annotations

import os
from typing import Any

from kernelet.persistence.container import read_record, write_record
from kernelet.persistence.errors import ModelFileError, one_line
from kernelet.persistence.registry import from_record, to_record


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `kernelet.load` reads.

    The file is in the safetensors layout: arrays, and text that describes them; nothing in it is
    code. It is written under another name and then renamed, so that neither an error nor a kill
    leaves half a file.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, TableModel or fitted estimator
        Of kernelet; or one of scikit-learn that `kernelet.compress` takes, which is saved with all
        of its vectors. The steps of a Pipeline must be StandardScaler, MinMaxScaler,
        MaxAbsScaler or RobustScaler, or a ColumnTransformer of these and OneHotEncoder.
    path : path-like
        By convention it ends in ".kernelet".

    Raises
    ------
    TypeError
        If files cannot hold models of this class.
    ValueError
        If the model is not fitted, or its kernel is a Python function.
    OSError
        If the file cannot be written; an existing file is then unchanged.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from kernelet.kernels import Gaussian
    >>> machine = kernelet.KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "small.kernelet")
    ...     kernelet.save(machine, path)
    ...     kernelet.load(path) == machine
    True
    """
    write_record(to_record(model), path)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `kernelet.save` has written.

    Nothing in a file is executed, and no file is trusted: sizes are checked before memory is
    allocated.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    object
        Of the class that was saved, or of the one that `kernelet.compress` makes of it.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or comes from a newer version; the message says so.
    OSError
        If there is no such file, or it cannot be opened.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> machine = kernelet.KernelMachine(kernelet.kernels.Gaussian(), [[0.0]], [1.0], 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "machine.kernelet")
    ...     kernelet.save(machine, path)
    ...     kernelet.load(path).decision_function([[0.0]])
    array([1.5])
    """
    try:
        return from_record(read_record(path))
    # A well-formed file can still hold values that a constructor refuses; its message is passed on.
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {one_line(error).rstrip('.')}.") from error
