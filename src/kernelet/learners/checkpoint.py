"""The vectors of a search in a file, for a fit that may be broken off to go on from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from kernelet.learners.descent import Progress
from kernelet.learners.marginal import FloatArray
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.container import read_record, write_record

_KIND = "Checkpoint"
# Parameters that change nothing about where a search goes.
_IRRELEVANT = {"checkpoint", "verbose", "n_jobs", "warm_start"}


class Checkpoint:
    """Vectors and steps of each search, written after every step and gone when the fit ends.

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
        self._steps: dict[str, int] = {}
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
        for name, steps in record.value("steps", dict).items():
            vectors = record.floats(name, 2, np.float64)
            if vectors.shape[1] != self._fit["columns"] or type(steps) is not int or steps < 0:
                raise ModelFileError(f"{self.path}: the vectors {name!r} are not of this fit.")
            self._vectors[name], self._steps[name] = vectors, steps

    def start(self, search: int) -> tuple[FloatArray | None, int]:
        """The vectors that a search got to, and the steps that it took; None and 0 at first."""
        return self._vectors.get(_name(search)), self._steps.get(_name(search), 0)

    def write(self, search: int, step: Progress, steps_before: int) -> None:
        """Keep the best vectors of a search."""
        self._vectors[_name(search)] = step.best.vectors
        self._steps[_name(search)] = steps_before + step.n_iter
        record = Record(_KIND, {**self._fit, "steps": dict(self._steps)}, dict(self._vectors))
        write_record(record, self.path)

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
