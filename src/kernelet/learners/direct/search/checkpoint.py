"""Where a search got to in a file, for a fit that may be broken off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.learners.direct.search.learn import SearchStart
from kernelet.learners.direct.search.objective import JointEvaluation
from kernelet.learners.direct.search.result import Progress
from kernelet.persistence import ModelFileError, Record
from kernelet.persistence.container import read_record, write_record
from kernelet.persistence.errors import one_line
from kernelet.persistence.kernels import decode_kernel, encode_kernel
from kernelet.persistence.record import checked

_KIND = "Checkpoint"
# Parameters that change nothing about where a search goes.
_IRRELEVANT = {"checkpoint", "verbose", "n_jobs", "warm_start"}


class Checkpoint:
    """Where each search got to, written after every step; gone when the fit ends.

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
        self._kept: dict[str, SearchStart] = {}
        self.cost: float | None = None
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no file in a folder that exists; give another "
                "path."
            )
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
        try:
            self._take(record)
        except ValueError as error:  # a ModelFileError, or what a kernel says of its parameters
            reason = one_line(error).rstrip(".")
            raise ModelFileError(
                f"{self.path}: {reason}. Delete the file to begin the fit anew."
            ) from error

    def _take(self, record: Record) -> None:
        self.cost = record.optional("cost", float)
        if self.cost is not None and self.cost <= 0.0:
            raise ModelFileError(f"the cost is {self.cost:g}, not a number above 0")
        kernels = record.value("kernels", dict)
        is_preliminary = record.value("is_preliminary", dict)
        units = record.value("units", dict)
        rows = record.value("rows_in_use", dict)
        for name, steps in record.value("steps", dict).items():
            vectors = record.floats(name, 2, np.float64)
            kernel = decode_kernel(kernels[name], record) if name in kernels else None
            n_features = None if kernel is None else kernel.n_features
            if (
                vectors.shape[0] == 0
                or vectors.shape[1] != self._fit["columns"]
                or n_features not in (None, vectors.shape[1])
                or checked(steps, int, "a number of steps") < 0
            ):
                raise ModelFileError(f"the search {name!r} is not of this fit")
            flag = checked(is_preliminary.get(name), bool, f"is_preliminary of {name!r}")
            unit = checked(units[name], float, f"the unit of {name!r}") if name in units else None
            if unit is not None and unit < 0.0:
                raise ModelFileError(f"the unit of {name!r} is {unit:g}, not a number above 0")
            n_rows = checked(rows.get(name), int, f"the rows of {name!r}")
            coefficients = record.floats(f"{name}.coefficients", 2, np.float64)
            intercepts = record.floats(f"{name}.intercepts", 1, np.float64)
            if n_rows < 1 or coefficients.shape != (vectors.shape[0], intercepts.size):
                raise ModelFileError(f"the machine of {name!r} is not of this fit")
            self._kept[name] = SearchStart(
                vectors,
                kernel,
                n_steps=steps,
                is_preliminary=flag,
                unit=unit,
                n_rows=n_rows,
                solution=(coefficients, intercepts),
            )

    def start(self, search: int) -> SearchStart | None:
        """Where a search got to; None where it has not begun."""
        return self._kept.get(_name(search))

    def write(self, search: int, step: Progress, given: Kernel) -> None:
        """Keep the best vectors of a search, and their kernel if it is not the one given."""
        best = step.best
        kernel = None if best.kernel == given else best.kernel
        unit = best.unit if isinstance(best, JointEvaluation) else None
        self._kept[_name(search)] = SearchStart(
            best.vectors,
            kernel,
            n_steps=step.n_iter,
            is_preliminary=step.is_preliminary,
            unit=unit,
            n_rows=step.n_used,
            solution=(best.coefficients, best.intercepts),
        )
        arrays: dict[str, Any] = {}
        for name, kept in self._kept.items():
            assert kept.solution is not None
            arrays[name] = kept.vectors
            arrays[f"{name}.coefficients"], arrays[f"{name}.intercepts"] = kept.solution
        values = {
            **self._fit,
            "steps": {name: kept.n_steps for name, kept in self._kept.items()},
            "is_preliminary": {name: kept.is_preliminary for name, kept in self._kept.items()},
            "units": {
                name: kept.unit for name, kept in self._kept.items() if kept.unit is not None
            },
            "rows_in_use": {name: kept.n_rows for name, kept in self._kept.items()},
            "kernels": {
                name: encode_kernel(kept.kernel, f"{name}.kernel", arrays)
                for name, kept in self._kept.items()
                if kept.kernel is not None
            },
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
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, or None; got {path!r}.")
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
    if isinstance(value, Kernel) and value.is_serializable:  # its repr may leave numbers out
        return json.dumps(value.specification(), sort_keys=True)
    return repr(value)
