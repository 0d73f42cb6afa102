"""Logits in integer arithmetic: what probabilities are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernelet.export.model import ExportedModel
from kernelet.export.to_c.pieces import Table, integers
from kernelet.machine import SigmoidCalibration, TemperatureCalibration
from kernelet.machine.reading import Reading

_OCTAVES = math.log2(math.e)  # exp(t) = 2^(t _OCTAVES)


@dataclass(frozen=True)
class FixedLogits:
    """Logits in base 2, with 16 binary digits after the point.

    t = score * multiplier / 2^shift + offset, of each score.

    Attributes
    ----------
    multipliers, offsets : list of int
    shift : int
    """

    multipliers: list[int]
    offsets: list[int]
    shift: int


def fixed_logits(exported: ExportedModel, score_unit: float, dtype: str) -> FixedLogits | None:
    """The logits of a model with probabilities, None of any other.

    Parameters
    ----------
    exported : ExportedModel
    score_unit : float
        What a score is a multiple of.
    dtype : str
        For messages.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    calibration, k = exported.calibration, exported.machine.n_outputs
    if calibration is None:
        return None
    if exported.reading is Reading.PAIRS:
        raise ValueError(
            f'dtype="{dtype}" has no probabilities of votes of pairs of classes; use float32.'
        )
    if isinstance(calibration, SigmoidCalibration):
        slopes, offsets = -np.asarray(calibration.slopes), -np.asarray(calibration.offsets)
    elif isinstance(calibration, TemperatureCalibration):
        # one score f stands for -f and f, whose softmax is the sigmoid of 2 f
        factor = calibration.inverse_temperature * (2.0 if k == 1 else 1.0)
        slopes, offsets = np.full(k, factor), np.zeros(k)
    else:
        raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")
    rates = slopes * score_unit * _OCTAVES * 2.0**16
    steepest = float(np.abs(rates).max())
    # multipliers of 31 bits: times a score of 32 bits, sign included, that fits 64
    shift = 30 - math.floor(math.log2(steepest)) if steepest > 0.0 else 0
    bits = offsets * _OCTAVES * 2.0**16
    if not 0 <= shift <= 62 or not np.abs(bits).max() < 2.0**61:
        raise ValueError(f'the calibration is out of the range of dtype="{dtype}"; use float32.')
    multipliers = [round(rate * 2.0**shift) for rate in rates]
    return FixedLogits(multipliers, [round(bit) for bit in bits], shift)


def logits_tables(logits: FixedLogits | None) -> list[Table]:
    """Multiplier and offset of each score."""
    if logits is None:
        return []
    return [
        integers("int64_t", "multipliers", logits.multipliers),
        integers("int64_t", "offsets", logits.offsets),
    ]
