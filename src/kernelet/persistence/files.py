"""save, load and load_predictor."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from kernelet.machine import Predictor
from kernelet.persistence.container import read_record, write_record
from kernelet.persistence.errors import ModelFileError, one_line
from kernelet.persistence.predictors import predictor_of
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record, to_record

T = TypeVar("T")


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
    if isinstance(model, str | os.PathLike):
        raise TypeError("the model comes first and the path second: kernelet.save(model, path).")
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
    ImportError
        If the file holds an estimator, and scikit-learn is not installed: `kernelet.load_predictor`
        needs NumPy and safetensors alone.

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
    return _read(path, from_record)


def load_predictor(path: str | os.PathLike[str]) -> Predictor:
    """Read what a model predicts with, from any file that `kernelet.save` has written.

    This needs NumPy and safetensors and nothing else: where a model is only used, kernelet can be
    installed without its other dependencies (``pip install --no-deps``).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Predictor
        Its ``predict``, ``decision_function``, ``predict_proba`` and ``transform`` are those of the
        model, bit for bit; ``machine`` is the model's machine, and ``classes`` are its labels.

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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = kernelet.ReducedSVC(n_vectors=5, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.kernelet")
    ...     kernelet.save(model, path)
    ...     predictor = kernelet.load_predictor(path)
    >>> bool((predictor.predict(X) == model.predict(X)).all())
    True
    """
    return _read(path, predictor_of)


def _read(path: str | os.PathLike[str], model_of: Callable[[Record], T]) -> T:
    try:
        return model_of(read_record(path))
    # A well-formed file can still hold values that a constructor refuses; its message is passed on.
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {one_line(error).rstrip('.')}.") from error
