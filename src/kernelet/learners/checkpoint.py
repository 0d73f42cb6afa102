"""The vectors and the kernel of a search in a file, for a fit that may be broken off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.descent import Progress
from kernelet.learners.marginal import FloatArray
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.container import read_record, write_record
from kernelet.persistence.kernels import decode_kernel, encode_kernel

_KIND = "Checkpoint"
# Parameters that change nothing about where a search goes.
_IRRELEVANT = {"checkpoint", "verbose", "n_jobs", "warm_start"}


class Checkpoint:
    """Vectors, kernel and steps of each search, written after every step; gone when the fit ends.

    Parameters
    ----------
    path : path-like
    estimator : object
        Whose parameters, and
    shape : tuple of int
        whose rows and columns must be those of the fit that wrote the file.

    Raises
    ------
    ValueError
        If there is a file, and it is of another fit.
    ModelFileError
        If it is damaged.
    """

    def __init__(
        self, path: str | os.PathLike[str], estimator: Any, shape: tuple[int, int]
    ) -> None:
        self.path = Path(path)
        self._fit = {
            "estimator": type(estimator).__name__,
            "rows": shape[0],
            "columns": shape[1],
            "parameters": _text(estimator),
        }
        self._vectors: dict[str, FloatArray] = {}
        self._kernels: dict[str, Kernel] = {}
        self._steps: dict[str, int] = {}
        self.cost: float | None = None
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        record = read_record(self.path)
        if record.kind != _KIND:
            raise ValueError(
                f"checkpoint={str(self.path)!r} holds a {record.kind}, not the state of a fit. "
                "Give another path."
            )
        for name, value in self._fit.items():
            found = record.value(name, type(value))
            if found != value:
                raise ValueError(
                    f"checkpoint={str(self.path)!r} is of another fit ({name} there: "
                    f"{found!s:.200}; here: {value!s:.200}). Give another path, or delete the "
                    "file."
                )
        self.cost = record.optional("cost", float)
        kernels = record.value("kernels", dict)
        for name, steps in record.value("steps", dict).items():
            vectors = record.floats(name, 2, np.float64)
            if vectors.shape[1] != self._fit["columns"] or type(steps) is not int or steps < 0:
                raise ModelFileError(f"{self.path}: the vectors {name!r} are not of this fit.")
            self._vectors[name], self._steps[name] = vectors, steps
            self._kernels[name] = decode_kernel(kernels.get(name, {}), record)

    def start(self, search: int) -> tuple[FloatArray | None, Kernel | None, int]:
        """Vectors and kernel that a search got to, and its steps; None and 0 at first."""
        name = _name(search)
        return self._vectors.get(name), self._kernels.get(name), self._steps.get(name, 0)

    def write(self, search: int, step: Progress, steps_before: int) -> None:
        """Keep the best vectors of a search, and their kernel."""
        name = _name(search)
        self._vectors[name], self._kernels[name] = step.best.vectors, step.best.kernel
        self._steps[name] = steps_before + step.n_iter
        arrays: dict[str, Any] = dict(self._vectors)
        values = {**self._fit, "steps": dict(self._steps)}
        values["kernels"] = {
            key: encode_kernel(kernel, f"{key}.kernel", arrays)
            for key, kernel in self._kernels.items()
        }
        if self.cost is not None:
            values["cost"] = self.cost
        write_record(Record(_KIND, values, arrays), self.path)

    def remove(self) -> None:
        """The fit is at its end."""
        self.path.unlink(missing_ok=True)


def checkpoint_of(estimator: Any, shape: tuple[int, int]) -> Checkpoint | None:
    """The checkpoint that an estimator's parameter of this name asks for."""
    path = getattr(estimator, "checkpoint", None)
    if path is None:
        return None
    if getattr(estimator, "n_init", 1) != 1:
        raise ValueError(f"checkpoint= goes with n_init=1, got n_init={estimator.n_init}.")
    return Checkpoint(path, estimator, shape)


def _name(search: int) -> str:
    return f"vectors_{search}"


def _text(estimator: Any) -> str:
    """Parameters that matter, as text that is the same in another process."""
    given = estimator.get_params(deep=False)
    shown = {name: _shown(value) for name, value in given.items() if name not in _IRRELEVANT}
    return json.dumps(shown, sort_keys=True)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.ravel().tolist()}"
    return repr(value)
