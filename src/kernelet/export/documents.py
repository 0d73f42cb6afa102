"""Pieces of models as values and texts that JSON and JavaScript share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.model import ExportedModel
from kernelet.machine import Calibration, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.columns import Number


def calibration_document(calibration: Calibration | None) -> dict[str, Any] | None:
    """What makes probabilities of scores, with NumPy's arrays."""
    if calibration is None:
        return None
    if isinstance(calibration, SigmoidCalibration):
        slopes, offsets = np.asarray(calibration.slopes), np.asarray(calibration.offsets)
        return {"kind": "sigmoid", "slopes": slopes, "offsets": offsets}
    if isinstance(calibration, TemperatureCalibration):
        inverse = float(calibration.inverse_temperature)
        return {"kind": "temperature", "inverse_temperature": inverse}
    raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")


def scaling_of(exported: ExportedModel) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """(shift, scale) of a pipeline of scalers, whose rows are numbers without names.

    None for other models. A table's columns of numbers have a ``fill`` for what is missing, which
    scalers leave.
    """
    columns = exported.columns or ()
    numbers = [c for c in columns if isinstance(c, Number) and np.isnan(c.fill)]
    if not columns or len(numbers) < len(columns):
        return None
    return np.array([c.shift for c in numbers]), np.array([c.scale for c in numbers])


def numbers_text(array: NDArray[Any]) -> str:
    """Numbers with as many digits as it takes to read the same again, and no more."""
    exact: Sequence[float] = array.astype(np.float64).tolist()
    if array.dtype == np.float64:
        return ", ".join(map(_shortest, exact))
    short = [str(number) for number in array]
    # Readers round twice, to 64 and to 32 bits: hardly ever is that not the same.
    return ", ".join(
        _without_point(text) if np.float32(float(text)) == number else _shortest(number)
        for text, number in zip(short, exact, strict=True)
    )


def _shortest(number: float) -> str:
    return _without_point(repr(number))


def _without_point(text: str) -> str:
    # some readers take "-0" for the integer, which has no sign
    return text if text == "-0.0" else text.removesuffix(".0")
