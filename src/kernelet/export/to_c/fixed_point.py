"""Gaussian machines rounded to 16-bit integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelet.export.model import ExportedModel
from kernelet.export.to_c.fixed_logits import FixedLogits, fixed_logits
from kernelet.kernels import Kernel
from kernelet.kernels.expression import Constant, FeatureSum, SumOverFeatures, exp, ordered

# Beyond this r, exp(-r^2) is below 2e-5, less than a unit of kernel values: a row that is farther
# from all vectors may be moved to the end of the range.
_VANISHING = 3.3
LARGEST = 32767  # of int16_t, whose -32768 is left out: the range is symmetric
ONE = 32768  # as which 1 is stored
OCTAVES = math.log2(math.e)  # exp(-t) = 2^(-t OCTAVES)
# Straight lines between the powers in the table are 1.5e-5 from the curve at most, and the table is
# rounded by half of 1/32768: 3.0e-5 in all.
MANTISSA_ERROR = 3.1e-5
# Rounding a value between two entries to 1/32768 as well makes 4.6e-5. (Below a half the last shift
# at least halves these errors, and what it drops is less.)
POWER_ERROR = 4.8e-5
# The steepest slope of exp(-r^2), at r = 1 / sqrt(2).
SLOPE = math.sqrt(2.0 / math.e)
# By more than this the rounding of rows and vectors must not move a kernel value. Vectors of usual
# data (spreads of a few widths, up to a thousand features) are moved by less than a fifth of it.
MOST_MOVED = 0.02


@dataclass(frozen=True)
class FixedPoint:
    """A Gaussian machine in integers.

    A feature x is q = round((x - centre) rate), 16 bits; squared distances are exact sums; and
    exp(-gamma r^2) = 2^-u, where u has 16 binary digits after the point, comes from a table.
    Scores are in units of ``score_unit``.

    Attributes
    ----------
    centres : ndarray of shape (d,)
    rates : ndarray of shape (d,)
        All the same, unless the kernel scales the features.
    vectors : ndarray of shape (m, d), int16
    coefficients : ndarray of shape (m, k), int16
    intercepts : list of int
    pre_shift, multiplier, post_shift : int
        u = ((r^2 >> pre_shift) * multiplier) >> post_shift.
    score_shift : int
        So that scores fit 32 bits.
    score_unit : float
    kernel_error : float
        Bound of the error of a kernel value, for the integers that a row is rounded to: of the
        table and of interpolation in it, of both roundings, and of the digits of r^2 and u that are
        dropped.
    moved : float
        Bound of what rounding a row and the vectors to these integers does to a kernel value.
    logits : FixedLogits or None
        For probabilities.
    """

    centres: NDArray[np.float64]
    rates: NDArray[np.float64]
    vectors: NDArray[np.int16]
    coefficients: NDArray[np.int16]
    intercepts: list[int]
    pre_shift: int
    multiplier: int
    post_shift: int
    score_shift: int
    score_unit: float
    kernel_error: float
    moved: float
    logits: FixedLogits | None

    def quantized(self, features: NDArray[np.float64]) -> NDArray[np.int16]:
        """Features as integers, those out of range at its ends."""
        scaled = np.rint((features - self.centres) * self.rates)
        return np.clip(scaled, -LARGEST, LARGEST).astype(np.int16)


def fixed_point(exported: ExportedModel) -> FixedPoint:
    """Round a machine to 16 bits.

    Raises
    ------
    ValueError
        If its kernel is not Gaussian, or its numbers do not fit.
    """
    machine = exported.machine
    gamma, scales = gaussian(machine.kernel)
    Z = np.asarray(machine.vectors, dtype=np.float64)
    beta = np.asarray(machine.coefficients, dtype=np.float64)
    if machine.n_vectors == 0:  # C has no arrays of length 0; this one is never read
        Z, beta = np.zeros((1, machine.n_features)), np.zeros((1, machine.n_outputs))
    b = np.asarray(machine.intercepts, dtype=np.float64)
    centres = 0.5 * (Z.min(axis=0) + Z.max(axis=0))
    reach = float(np.abs((Z - centres) * scales).max()) + _VANISHING / math.sqrt(gamma)
    unit = reach / LARGEST
    rates = np.broadcast_to(scales / unit, centres.shape)
    pre_shift = math.ceil(math.log2(Z.shape[1])) if Z.shape[1] > 1 else 0
    # bits after the point of u, per unit of the shifted squared distance
    widths = math.sqrt(gamma) * unit
    rate = widths * widths * OCTAVES * 2.0 ** (pre_shift + 16)
    # such that the multiplier, rate 2^post_shift, has 32 bits
    post_shift = 31 - math.floor(math.log2(rate)) if 0.0 < rate < math.inf else -1
    if not 0 <= post_shift <= 63:
        raise ValueError(
            f'gamma={gamma!r} is out of the range of dtype="q15" for vectors of '
            "this spread; use float32."
        )
    # each feature of a row and of a vector by half a unit
    moved = SLOPE * widths * math.sqrt(Z.shape[1])
    if moved > MOST_MOVED:
        raise ValueError(
            'the vectors lie too far apart for dtype="q15": rounding them to 16 bits would move '
            f"kernel values by up to {min(moved, 1.0):.2g}; use float32, or train without the rows "
            "that lie far from all others."
        )
    largest = float(np.abs(beta).max()) or 1.0
    coefficients = np.rint(beta / largest * LARGEST).astype(np.int16)
    scaled = b / largest * LARGEST * ONE
    # sums are of 64 bits: the products of fewer than 2^31 vectors take no more than 2^61 of them
    if not np.abs(scaled).max() < 2.0**61:
        raise ValueError('the intercepts are too large for dtype="q15"; use float32.')
    intercepts = [round(value) for value in scaled]
    bound = int(np.abs(coefficients.astype(np.int64)).sum(axis=0).max()) * ONE
    bound += max(map(abs, intercepts))
    score_shift = max(0, bound.bit_length() - 31)
    score_unit = largest / LARGEST / ONE * 2.0**score_shift
    return FixedPoint(
        centres,
        rates,
        np.rint((Z - centres) * rates).astype(np.int16),
        coefficients,
        intercepts,
        pre_shift,
        min(round(rate * 2.0**post_shift), 2**32 - 1),
        post_shift,
        score_shift,
        score_unit,
        POWER_ERROR + math.log(2.0) * 2.0**-16 * (1.0 + (rate if pre_shift else 0.0)),
        moved,
        fixed_logits(exported, score_unit, "q15"),
    )


def gaussian(kernel: Kernel) -> tuple[float, NDArray[np.float64]]:
    """gamma, and the scales of the features, of a kernel whose formula is exp(-gamma r^2)."""
    nodes = ordered(kernel.expression())
    sums = [node for node in nodes if isinstance(node, SumOverFeatures)]
    rates = [node.value for node in nodes if isinstance(node, Constant)] or [-1.0]
    rate, squared = rates[0], sums[0]
    if squared.kind is FeatureSum.SQUARED and rate < 0.0 and nodes[-1] == exp(rate * squared):
        return -rate, np.array(squared.scales or (1.0,))
    raise ValueError(f'dtype="q15" is for Gaussian kernels, the model has {kernel!r}; use float32.')
