"""The integers of a machine in few bits as tables of C, and what its templates ask of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelet.export.to_c.compact_arithmetic import CompactArithmetic
from kernelet.export.to_c.fixed_answers import FLOAT, MANTISSA_DIGITS, POWERS
from kernelet.export.to_c.pieces import Table, integers
from kernelet.machine import VectorGrid
from kernelet.machine.packing import MOST_PACKED_BITS, packed
from kernelet.machine.powers import PER_OCTAVE
from kernelet.machine.storage import centre_bytes, integer_bytes, length_bytes

_KINDS = {1: "int8_t", 2: "int16_t", 4: "int32_t"}
_UNSIGNED = {2: "uint16_t", 4: "uint32_t"}


def compact_tables(arithmetic: CompactArithmetic) -> list[Table]:
    """All that belongs to the machine: as many bytes as `kernelet.machine.stored_bytes` counts."""
    form, grid = arithmetic.form, arithmetic.form.grid
    tables = []
    if grid.varying.any():
        tables.append(_codes("vectors", grid.codes[:, grid.varying], grid.bits))
    tables += [*_feature_tables(grid), *_matrix_tables(grid)]
    if len(grid.codes):
        kind = _UNSIGNED[length_bytes(form)]
        tables.append(integers(kind, "lengths", arithmetic.lengths))
        bits, coefficients = form.coefficient_bits, form.coefficients.ravel()
        if bits < MOST_PACKED_BITS:
            tables.append(_codes("coefficients", coefficients + 2 ** (bits - 1), bits))
        else:
            tables.append(integers(_KINDS[bits // 8], "coefficients", coefficients))
    kind = _KINDS[integer_bytes(form.intercepts, least=2)]
    tables.append(integers(kind, "intercepts", form.intercepts))
    return tables


def common_tables(
    arithmetic: CompactArithmetic, has_probabilities: bool, takes_eighths: bool
) -> list[Table]:
    """Tables that are the same for all machines."""
    tables = []
    if len(arithmetic.form.grid.codes) or has_probabilities:
        tables.append(integers("uint16_t", "powers", POWERS))
    if takes_eighths:
        eighths = 2.0 ** (-np.arange(PER_OCTAVE) / PER_OCTAVE)
        tables.append(FLOAT.table("eighths", eighths))
    return tables


def _feature_tables(grid: VectorGrid) -> list[Table]:
    tables = []
    if grid.used.size < grid.n_features:
        tables.append(_bits("used", grid.n_features, grid.used))
    if 0 < int(grid.varying.sum()) < grid.centres.size:
        tables.append(_bits("varying", grid.centres.size, np.flatnonzero(grid.varying)))
    if centre_bytes(grid):
        tables.append(integers(_KINDS[centre_bytes(grid)], "centres", grid.centres))
    if not grid.steps.is_one:
        tables.append(integers("uint8_t", "step_codes", grid.steps.codes))
    if grid.scales is not None and not grid.scales.is_one:
        tables.append(integers("uint8_t", "scale_codes", grid.scales.codes))
    return tables


def _matrix_tables(grid: VectorGrid) -> list[Table]:
    if grid.matrix is None:
        return []
    # a column after the other, as `quantize` takes a feature after the other
    tables = [_codes("matrix", grid.matrix.codes.T + np.int32(grid.half), grid.bits)]
    if not grid.matrix.steps.is_one:
        tables.append(integers("uint8_t", "matrix_codes", grid.matrix.steps.codes))
    return tables


def _codes(name: str, codes: np.ndarray[tuple[int, ...], np.dtype[np.integer]], bits: int) -> Table:
    if bits > MOST_PACKED_BITS:
        return integers("uint16_t", name, codes.ravel())
    return integers("uint8_t", name, packed(codes, bits))


def _bits(name: str, n: int, chosen: Sequence[int] | np.ndarray) -> Table:
    """A bit for each of n, 1 for those chosen; the first is the lowest of the first byte."""
    mask = np.zeros(n, dtype=np.uint8)
    mask[chosen] = 1
    return integers("uint8_t", name, np.packbits(mask, bitorder="little"))


def compact_values(arithmetic: CompactArithmetic) -> dict[str, object]:
    """What compact.c asks of the machine."""
    grid = arithmetic.form.grid
    n_varying, bits = int(grid.varying.sum()), grid.bits
    is_paired = bits == 4
    return {
        "vectors": bool(len(grid.codes)),
        "varying": n_varying > 0,
        "some_vary": 0 < n_varying < grid.centres.size,
        "n_varying": n_varying,
        "steps": not grid.steps.is_one,
        "code_type": "uint16_t" if bits > MOST_PACKED_BITS else "uint8_t",
        "pairs_of_codes": is_paired,
        "odd_codes": is_paired and n_varying % 2 == 1,
        "reads_codes": bits < MOST_PACKED_BITS and not is_paired,
        "bits": bits,
        "half": grid.half,
        "largest_code": 2**bits - 1,
        **_coefficient_values(arithmetic),
        **_exponent_values(arithmetic),
        **_weight_values(arithmetic),
    }


def _coefficient_values(arithmetic: CompactArithmetic) -> dict[str, object]:
    bits, sums = arithmetic.form.coefficient_bits, arithmetic.sums
    is_read = bits < MOST_PACKED_BITS
    return {
        "coefficient_type": "uint8_t" if is_read else _KINDS[bits // 8],
        "reads_coefficients": is_read,
        "coefficient_bits": bits,
        "largest_coefficient": 2**bits - 1,
        "half_coefficient": 2 ** (bits - 1),
        "wide_sums": sums.is_wide,
        "sums": "sums" if sums.is_wide else "scores",
        "sum_type": "int64_t" if sums.is_wide else "int32_t",
        "intercept_factor": sums.intercept_factor,
        "score_shift": sums.score_shift,
    }


def _exponent_values(arithmetic: CompactArithmetic) -> dict[str, object]:
    digits, value_digits = arithmetic.digits, arithmetic.sums.digits
    return {
        "word": f"uint{arithmetic.word}_t",
        "wide_words": arithmetic.word == 64,
        "sign": arithmetic.word - 1,
        "digits": digits,
        "dropped_digits": digits - 16,
        "value_digits": value_digits,
        "lowered": MANTISSA_DIGITS - value_digits,
        "length_factor": arithmetic.length_factor,
        "pre_shift": arithmetic.pre_shift,
        "multiplier": arithmetic.multiplier,
        "post_shift": arithmetic.post_shift,
        "far": arithmetic.far,
    }


def _weight_values(arithmetic: CompactArithmetic) -> dict[str, object]:
    weights, codes = arithmetic.weights, arithmetic.form.grid.steps.codes
    if weights is None:
        return dict.fromkeys(("limited_steps", "plus", "largest_shift", "factor", "shift"), 0)
    factor, shift = weights.factor_and_shift(int(codes[0]))
    return {
        "limited_steps": weights.is_limited,
        "plus": weights.plus,
        "largest_shift": weights.largest_shift,
        # where all steps are the same
        "factor": factor,
        "shift": shift,
    }


def row_values(arithmetic: CompactArithmetic) -> dict[str, object]:
    """What compact_quantize.c asks of the machine."""
    grid, unit = arithmetic.form.grid, arithmetic.unit
    selects = grid.used.size < grid.n_features
    place = "n" if selects else "f"
    matrix = grid.matrix
    powers, table = (
        (grid.scales, "scale_codes") if matrix is None else (matrix.steps, "matrix_codes")
    )
    if powers is None:
        rate = FLOAT.constant(1.0 / unit)
    elif powers.is_one:
        rate = FLOAT.constant(float(powers.values[0]) / unit)
    else:
        rate = f"{FLOAT.constant(powers.base / unit)} * power_of({table}[{place}])"
    return {
        "rate": rate,
        "place": place,
        "counts_features": selects and (matrix is None or not matrix.steps.is_one),
        "offset": _offset(grid, unit, place if matrix is None else "i"),
        "matrix_type": "uint16_t" if grid.bits > MOST_PACKED_BITS else "uint8_t",
        "reads_matrix": grid.bits < MOST_PACKED_BITS,
    }


def _offset(grid: VectorGrid, unit: float, place: str) -> str:
    """What is subtracted from a number of a row, in units: the centre, times its step."""
    factors, known = [], 1.0
    if centre_bytes(grid):
        factors.append(f"(float)centres[{place}]")
    else:
        known = float(grid.centres[0])
    if known == 0.0:
        return ""
    if grid.steps.is_one:
        known *= float(grid.steps.values[0]) / unit
    else:
        known *= grid.steps.base / unit
        factors.append(f"power_of(step_codes[{place}])")
    return f" - {' * '.join([FLOAT.constant(known), *factors])}"


def has_eighths(arithmetic: CompactArithmetic) -> bool:
    """Whether scales or steps are powers that differ between features."""
    grid = arithmetic.form.grid
    powers = grid.scales if grid.matrix is None else grid.matrix.steps
    has_centres = bool(grid.centres.any())
    return (powers is not None and not powers.is_one) or (has_centres and not grid.steps.is_one)
