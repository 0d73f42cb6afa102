"""Gaussian machines in few bits, in integer arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernelet.export.model import ExportedModel
from kernelet.export.to_c.compact_sums import Sums, score_errors, sums_of
from kernelet.export.to_c.fixed_answers import POWERS
from kernelet.export.to_c.fixed_point import (
    LARGEST,
    MANTISSA_ERROR,
    MOST_MOVED,
    OCTAVES,
    SLOPE,
)
from kernelet.kernels import Gaussian
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import CompactForm, VectorGrid
from kernelet.machine.powers import PER_OCTAVE
from kernelet.machine.storage import length_bytes

# A row that is this many factors of 2 from all vectors has kernel values below 1.6e-5, as which 0
# counts.
_VANISHING = 16.0
# The exponents of 32 bits are kept where rounding the weights of the codes moves them by less than
# this, which moves kernel values by 0.5 %, if all roundings agree. Where they do not, a hundredth
# of it is usual. It is enough for 8 bits and a thousand features, or 12 bits and sixty.
_MOST_ROUNDED = 2.0**-7
# Bits after the point of an exponent: those that `mantissa` in power.c takes, at least; at most as
# many as leave 63 bits room for the exponents of rows and vectors a thousand widths apart.
_FEWEST_DIGITS, _MOST_DIGITS = 16, 36
# A weight is a power of 2^(-1/8) from the table of powers, times a shift; the shift is 15 where
# the power is 1, as which the table has 32768.
_POWER_DIGITS = 15
_STEPS_PER_CODE = (len(POWERS) - 1) // PER_OCTAVE
# float32 has 24 digits: each operation moves a number by this share of it.
_FLOAT = 2.0**-24


@dataclass(frozen=True, eq=False)
class Weights:
    """u, by which the codes of a vector are multiplied: q times a power of 2^(-1/8).

    u = round(q powers[code % 8] 2^(left - code // 8)), where code is that of the feature's step,
    plus ``plus``.

    Attributes
    ----------
    plus, left : int
    largest_shift : int
        What ``code // 8`` may be.
    is_limited : bool
        Whether it is larger in a feature, and has to be cut.
    unit : float
        Of q, in what the kernel sees.
    """

    plus: int
    left: int
    largest_shift: int
    is_limited: bool
    unit: float

    def factor_and_shift(self, code: int) -> tuple[int, int]:
        """u = q factor 2^(left - shift) for features whose steps have this code."""
        shift, eighth = divmod(code + self.plus, PER_OCTAVE)
        return POWERS[_STEPS_PER_CODE * eighth], min(shift, self.largest_shift)

    def values(self, codes: NDArray[np.uint8]) -> FloatArray:
        """u / q, but for rounding."""
        factors = [self.factor_and_shift(int(code)) for code in codes]
        return np.array([math.ldexp(factor, self.left - shift) for factor, shift in factors])


@dataclass(frozen=True, eq=False)
class CompactArithmetic:
    r"""A Gaussian machine in few bits, as C computes it.

    With g = gamma / ln 2, a row p measured from the centres, q = round(p / unit) in 16 bits, and
    e = c - h,

    .. math:: -\log_2 k(x, z_j) = g |p|^2 - \sum_f u_f e_{jf} + g \sum_f (a_f e_{jf})^2,
        \qquad u_f = 2 g a_f p_f,

    all three in units of 2^-digits and modulo 2^word: sums may wrap around, since the exponent
    itself is between 0 and 2^(word - 1). (It is at most (sqrt(N) + sqrt(L))^2, N and L being the
    first and the last term; a row with N above ``far`` is not compared with the vectors.) The
    scale of a vector's coefficients is a part of L.

    Attributes
    ----------
    form : CompactForm
    word : int
        Bits of an exponent: 32 or 64.
    digits : int
        How many of them are after the point.
    unit : float
        Of q, in what the kernel sees.
    weights : Weights or None
        None if the vectors differ in no feature.
    lengths : ndarray of shape (m,)
        L, in units of length_factor 2^-digits.
    length_factor : int
    pre_shift, multiplier, post_shift : int
        N = ((|q|^2 >> pre_shift) * multiplier) >> post_shift.
    far : int
    sums : Sums
        Of coefficients times kernel values.
    kernel_error : float
        Bound of the error of a kernel value (times its vector's scale, the largest being 1), for
        the integers that a row is rounded to.
    score_error : float
        What that does to a score at most.
    moved, moved_scores : float
        Bounds of what rounding a row to integers does to a kernel value, and to a score.
    """

    form: CompactForm
    word: int
    digits: int
    unit: float
    weights: Weights | None
    lengths: NDArray[np.int64]
    length_factor: int
    pre_shift: int
    multiplier: int
    post_shift: int
    far: int
    sums: Sums
    kernel_error: float
    score_error: float
    moved: float
    moved_scores: float


def compact_arithmetic(exported: ExportedModel) -> CompactArithmetic:
    """The arithmetic of a machine in few bits.

    Raises
    ------
    ValueError
        If the machine is not in few bits, its kernel is not Gaussian, or its numbers do not fit.
    """
    form = compact_form_of(exported)
    for word in (32, 64):
        exponents = _exponents(form, word)
        if exponents is not None and (word == 64 or exponents.rounded <= _MOST_ROUNDED):
            return _arithmetic(form, exponents)
    raise ValueError(
        f'gamma={_gamma(form.grid)!r} is out of the range of dtype="q7" for vectors of this '
        "spread; use float32."
    )


def compact_form_of(exported: ExportedModel) -> CompactForm:
    """The integers of a machine with a Gaussian kernel."""
    machine = exported.machine
    if machine.compact is None:
        raise ValueError(
            'dtype="q7" is for machines in few bits; fit with vector_bits=5, or use '
            'compress(model, ..., vector_bits=5), or choose dtype="q15" or "float32".'
        )
    if not isinstance(machine.compact.grid.kernel, Gaussian):
        raise ValueError(
            f'dtype="q7" is for Gaussian kernels, the model has {machine.kernel!r}; use float32.'
        )
    return machine.compact


@dataclass(frozen=True)
class _Exponents:
    """Digits and units of the three terms of an exponent; `CompactArithmetic` explains them."""

    word: int
    digits: int
    unit: float
    weights: Weights | None
    pre_shift: int
    rate: float  # N = (|q|^2 >> pre_shift) * rate
    farthest: float  # in octaves
    rounded: float  # what rounding the weights does to an exponent at most, in octaves

    @property
    def post_shift(self) -> int:
        """Such that the multiplier, rate 2^post_shift, has 32 bits."""
        return 31 - math.floor(math.log2(self.rate))

    @property
    def multiplier(self) -> int:
        return min(round(self.rate * 2.0**self.post_shift), 2**32 - 1)

    @property
    def fits(self) -> bool:
        return 0.0 < self.rate < 2.0**32


def _exponents(form: CompactForm, word: int) -> _Exponents | None:
    """With as many digits as words of this size have room for; None if these are too few."""
    grid, per_square = form.grid, _gamma(form.grid) * OCTAVES
    sizes = np.abs(grid.offsets * grid.steps.values)
    with np.errstate(over="ignore"):
        longest = per_square * float(np.square(sizes).sum(axis=1).max(initial=0.0))
    if not math.isfinite(longest):
        return None
    farthest = (math.sqrt(longest) + math.sqrt(_VANISHING)) ** 2
    # (sqrt(N) + sqrt(L))^2, the scales of coefficients, and a unit for all roundings
    most = (math.sqrt(farthest) + math.sqrt(longest)) ** 2
    most += float(form.scales.codes.max(initial=0)) / PER_OCTAVE + 1.0
    reach = float(sizes.max(initial=0.0)) + math.sqrt(_VANISHING / per_square)
    summed = float(np.abs(grid.offsets.astype(np.int64)).sum(axis=1).max(initial=0))
    pre_shift = (grid.centres.size - 1).bit_length()
    digits = min(math.floor(word - 1 - math.log2(most)), _MOST_DIGITS)
    for fewer in range(digits, _FEWEST_DIGITS - 1, -1):
        weights = _weights(grid, word, fewer, reach) if grid.varying.any() else None
        if weights is not None and _shifts(grid, weights).min() < 1:
            continue
        unit = reach / LARGEST if weights is None else weights.unit
        rate = per_square * unit * unit * 2.0 ** (fewer + pre_shift)
        rounded = 0.5 * summed * 2.0**-fewer
        found = _Exponents(word, fewer, unit, weights, pre_shift, rate, farthest, rounded)
        if found.fits:
            return found
    return None


def _weights(grid: VectorGrid, word: int, digits: int, reach: float) -> Weights:
    """Of a unit so large that the reach fits 16 bits, and by less than 9 % larger than needed."""
    left, largest_shift = (0, 31) if word == 32 else (32, 63)
    # w of a feature whose step is the base, in octaves, is 2 g a 2^digits times the unit
    per_unit = math.log2(2.0 * OCTAVES) + math.log2(_gamma(grid)) + math.log2(grid.steps.base)
    per_unit += digits - _POWER_DIGITS - left
    plus = math.floor(-PER_OCTAVE * (per_unit + math.log2(reach / LARGEST)))
    unit = 2.0 ** (-plus / PER_OCTAVE - per_unit)
    made = Weights(plus, left, largest_shift, False, unit)
    is_limited = bool(_shifts(grid, made).max() > largest_shift)
    return replace(made, is_limited=is_limited)


def _shifts(grid: VectorGrid, weights: Weights) -> NDArray[np.int64]:
    """Of the features in which the vectors differ."""
    codes = grid.steps.codes[grid.varying].astype(np.int64) + weights.plus
    return codes // PER_OCTAVE


def _gamma(grid: VectorGrid) -> float:
    return float(getattr(grid.kernel, "gamma", math.nan))


def _arithmetic(form: CompactForm, exponents: _Exponents) -> CompactArithmetic:
    grid, gamma, digits = form.grid, _gamma(form.grid), exponents.digits
    steps = _steps_in_c(grid, exponents)
    damping = form.scales.codes / PER_OCTAVE
    squares = np.square(grid.offsets * steps).sum(axis=1)
    exact = gamma * OCTAVES * squares + damping
    lengths, length_factor = _lengths(exact, length_bytes(form), digits)
    rate, n_dropped = exponents.rate, 1.0 + (exponents.rate if exponents.pre_shift else 0.0)
    slanted = abs(exponents.multiplier * 2.0**-exponents.post_shift / rate - 1.0)
    octaves = (
        exponents.rounded
        + float(np.abs(np.ldexp(lengths * float(length_factor), -digits) - exact).max(initial=0.0))
        + exponents.farthest * slanted
        + n_dropped * 2.0**-digits
        + 2.0**-_FEWEST_DIGITS  # digits that the table of powers does not take
    )
    misplaced = np.linalg.norm(grid.offsets * (steps - grid.steps.values), axis=1)
    sums, widths, sizes = sums_of(form), math.sqrt(gamma), 2.0**-damping
    errors = sizes * (SLOPE * widths * misplaced + 2.0**octaves - 1.0)
    # of a value between 2^-n and 2^(1 - n), the table is exact to this times 2^(1 - n)
    errors += MANTISSA_ERROR * np.minimum(1.0, 2.0 * sizes) + 2.0**-sums.digits
    errors = np.maximum(errors, sizes * 2.0**-_VANISHING)
    moved = SLOPE * widths * exponents.unit * float(np.linalg.norm(_row_errors(grid, exponents)))
    if moved > MOST_MOVED:
        raise ValueError(
            'the vectors lie too far apart for dtype="q7": rounding a row to 16 bits would move '
            f"kernel values by up to {min(moved, 1.0):.2g}; use float32, or train without the rows "
            "that lie far from all others."
        )
    return CompactArithmetic(
        form,
        exponents.word,
        digits,
        exponents.unit,
        exponents.weights,
        lengths,
        length_factor,
        exponents.pre_shift,
        exponents.multiplier,
        exponents.post_shift,
        math.ceil(exponents.farthest * 2.0**digits),
        sums,
        float(errors.max(initial=0.0)),
        score_errors(form, errors) + (sums.score_unit if sums.score_shift else 0.0),
        moved,
        score_errors(form, moved * sizes),
    )


def _steps_in_c(grid: VectorGrid, exponents: _Exponents) -> FloatArray:
    """The steps as the weights have them: powers of 16 bits are exact to 3e-5."""
    steps = grid.steps.values
    if exponents.weights is not None:
        per_unit = 2.0 * _gamma(grid) * OCTAVES * exponents.unit * 2.0**exponents.digits
        own = exponents.weights.values(grid.steps.codes[grid.varying]) / per_unit
        steps[grid.varying] = own
    return steps


def _lengths(exact: FloatArray, n_bytes: int, digits: int) -> tuple[NDArray[np.int64], int]:
    """L of all vectors, in the least unit in which integers of that many bytes hold them.

    With a power of two for it, up to half of these integers would be left out.
    """
    most, largest = 2 ** (8 * n_bytes) - 1, math.ldexp(float(exact.max(initial=0.0)), digits)
    factor = max(1, math.ceil(largest / most))
    return np.rint(np.ldexp(exact, digits) / factor).astype(np.int64), factor


def _row_errors(grid: VectorGrid, exponents: _Exponents) -> FloatArray:
    """How far q may be from a row, in units: half of one, and what floating point adds.

    The latter is left out where there is a matrix in front of the kernel.
    """
    half = np.full(grid.centres.size, 0.5)
    if grid.matrix is not None:
        return half
    # q = x rate - offset: four roundings of the product, five of the offset, two of the result
    offsets = np.abs(grid.centres * grid.steps.values) / exponents.unit
    errors: FloatArray = half + _FLOAT * (4.0 * (offsets + LARGEST) + 5.0 * offsets + 2.0 * LARGEST)
    return errors
