"""Gaussian machines in 16-bit integers, for processors without floating point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet._hooks import hooks
from kernelet.export.c_reading import labels, labels_type
from kernelet.export.c_source import comment, table
from kernelet.export.model import ExportedModel
from kernelet.kernels import Gaussian

# Rows may lie outside the box of the vectors by this share of its size before they saturate.
_ROOM = 0.5
_LARGEST = 32767
# 2^(-i/64) for i = 0, ..., 64 and straight lines in between: 2e-5 from the curve at most.
_STEPS = 64
_ONE = 32768


@dataclass(frozen=True)
class FixedPoint:
    """A Gaussian machine in integers.

    A feature x is q = round((x - centre) / unit), 16 bits; squared distances are exact sums; and
    exp(-gamma r^2) = 2^-u, where u has 16 binary digits after the point, comes from a table.
    Scores are in units of ``score_unit``.

    Attributes
    ----------
    centres : ndarray of shape (d,)
    unit : float
    vectors : ndarray of shape (m, d), int16
    coefficients : ndarray of shape (m, k), int16
    intercepts : list of int
    pre_shift, multiplier, post_shift : int
        u = ((r^2 >> pre_shift) * multiplier) >> post_shift.
    score_shift : int
        So that scores fit 32 bits.
    score_unit : float
    """

    centres: NDArray[np.float64]
    unit: float
    vectors: NDArray[np.int16]
    coefficients: NDArray[np.int16]
    intercepts: list[int]
    pre_shift: int
    multiplier: int
    post_shift: int
    score_shift: int
    score_unit: float


def fixed_point(exported: ExportedModel) -> FixedPoint:
    """Round a machine to 16 bits."""
    machine = exported.machine
    if not isinstance(machine.kernel, Gaussian):
        raise ValueError(
            f'dtype="q15" is for Gaussian kernels, the model has {machine.kernel!r}; use float32.'
        )
    if exported.calibration is not None:
        raise ValueError('dtype="q15" has no probabilities; export the model without calibration.')
    if machine.n_vectors == 0:
        raise ValueError('dtype="q15" needs a machine with vectors.')
    Z = np.asarray(machine.vectors, dtype=np.float64)
    beta = np.asarray(machine.coefficients, dtype=np.float64)
    b = np.asarray(machine.intercepts, dtype=np.float64)
    centres = 0.5 * (Z.min(axis=0) + Z.max(axis=0))
    reach = (1.0 + _ROOM) * float(np.abs(Z - centres).max()) or 1.0
    unit = reach / _LARGEST
    pre_shift = math.ceil(math.log2(Z.shape[1])) if Z.shape[1] > 1 else 0
    # bits after the point of u, per unit of the shifted squared distance
    rate = machine.kernel.gamma * unit**2 * math.log2(math.e) * 2.0 ** (pre_shift + 16)
    post_shift = 31 - math.floor(math.log2(rate))
    if not 0 <= post_shift <= 63:
        raise ValueError(
            f'gamma={machine.kernel.gamma!r} is out of the range of dtype="q15" for vectors of '
            "this spread; use float32."
        )
    largest = float(np.abs(beta).max()) or 1.0
    coefficients = np.rint(beta / largest * _LARGEST).astype(np.int16)
    intercepts = [round(value / largest * _LARGEST * _ONE) for value in b]
    bound = int(np.abs(coefficients.astype(np.int64)).sum(axis=0).max()) * _ONE
    bound += max(map(abs, intercepts))
    if bound >= 2**62:
        raise ValueError('the intercepts are too large for dtype="q15"; use float32.')
    score_shift = max(0, bound.bit_length() - 31)
    return FixedPoint(
        centres,
        unit,
        np.rint((Z - centres) / unit).astype(np.int16),
        coefficients,
        intercepts,
        pre_shift,
        min(round(rate * 2.0**post_shift), 2**32 - 1),
        post_shift,
        score_shift,
        largest / _LARGEST / _ONE * 2.0**score_shift,
    )


def fixed_point_source(
    exported: ExportedModel, name: str, included: str
) -> tuple[str, str, int, int, str]:
    """Header, source, bytes of flash and of RAM, and the operations of a prediction."""
    fixed = fixed_point(exported)
    (m, d), k = fixed.vectors.shape, fixed.coefficients.shape[1]
    prefix = name.upper()
    flash = fixed.vectors.nbytes + fixed.coefficients.nbytes + 8 * k + 2 * (_STEPS + 1) + 4 * d
    ram = 8 * k + 64
    operations = f"{m * d} integer multiplications of features and {m * k} of coefficients"
    about = [
        f" * A kernel machine in integers. Vectors: {m}, features: {d}, outputs: {k}.",
        f" * {comment(repr(exported.machine.kernel))}",
        f" * Made by kernelet {hooks.version}.",
        " *",
        f" * Flash: {flash} bytes of tables, and about 1 kB of code. RAM: {ram} bytes of stack.",
        f" * One prediction: {operations}.",
        " * Kernel values are exact to 6e-5.",
    ]
    return (
        "\n".join(_header(exported, fixed, name, prefix, about)) + "\n",
        "\n".join(_source(exported, fixed, name, prefix, included, about)) + "\n",
        flash,
        ram,
        operations,
    )


def _header(
    exported: ExportedModel, fixed: FixedPoint, name: str, prefix: str, about: list[str]
) -> list[str]:
    (m, d), k = fixed.vectors.shape, fixed.coefficients.shape[1]
    lines = [
        "/*",
        *about,
        " */",
        "",
        f"#ifndef KERNELET_{prefix}_H",
        f"#define KERNELET_{prefix}_H",
    ]
    lines += ["", "#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [f"#define {prefix}_FEATURES {d}", f"#define {prefix}_VECTORS {m}"]
    lines += [f"#define {prefix}_SCORES {k}"]
    if exported.classes is not None:
        lines.append(f"#define {prefix}_CLASSES {len(exported.classes)}")
    lines += [
        "",
        "/* A score times this is the value of the decision function. */",
        f"#define {prefix}_SCORE_UNIT {fixed.score_unit!r}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* A row in floating point as the integers that the other functions take. */",
        f"void {name}_quantize(const float x[{prefix}_FEATURES], int16_t q[{prefix}_FEATURES]);",
        "",
        f"void {name}_decision_function({_arguments(prefix)});",
    ]
    if exported.reading != "values":
        meaning = "1, or -1 for an outlier" if exported.reading == "outliers" else "A class number"
        lines += [
            "",
            f"/* {meaning}. */",
            f"int {name}_predict(const int16_t q[{prefix}_FEATURES]);",
            f"void {name}_predict_batch(const int16_t *q, size_t n, int *classes);",
        ]
    if exported.classes is not None:
        lines += [
            "",
            "/* What the classes are called. */",
            f"extern {labels_type(exported, name)};",
        ]
    return [*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]


def _source(
    exported: ExportedModel,
    fixed: FixedPoint,
    name: str,
    prefix: str,
    included: str,
    about: list[str],
) -> list[str]:
    (m, d), k = fixed.vectors.shape, fixed.coefficients.shape[1]
    arguments = _arguments(prefix)
    powers = [str(round(_ONE * 2.0 ** (-i / _STEPS))) for i in range(_STEPS + 1)]
    lines = [
        "/*",
        *about,
        " */",
        "",
        f'#include "{included}"',
        "",
        *table(f"static const int16_t vectors[{m}][{d}]", _rows(fixed.vectors)),
        "",
        *table(f"static const int16_t coefficients[{m}][{k}]", _rows(fixed.coefficients)),
        "",
        *table(
            f"static const int64_t intercepts[{k}]", [f"INT64_C({b})" for b in fixed.intercepts]
        ),
        "",
        *table(
            f"static const float centres[{d}]",
            [f"{np.float32(centre)!s}f" for centre in fixed.centres],
        ),
        "",
        f"/* 2^(-i/{_STEPS}), 1 being {_ONE}. */",
        *table(f"static const uint16_t powers[{_STEPS + 1}]", powers),
        "",
    ]
    if exported.classes is not None:
        lines += [*table(labels_type(exported, name), labels(exported)), ""]
    lines += [
        "/* exp(-gamma r^2) as 2^-u, 1 being 32768. */",
        "static int32_t kernel(const int16_t *q, const int16_t *z)",
        "{",
        "    uint64_t squared = 0, u;",
        "    uint32_t fraction, value, next;",
        "    int i;",
        "",
        f"    for (i = 0; i < {prefix}_FEATURES; i++) {{",
        "        const int32_t difference = (int32_t)q[i] - (int32_t)z[i];",
        "        const uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);",
        "",
        "        squared += (uint64_t)(size * size);",
        "    }",
        f"    u = (squared >> {fixed.pre_shift}) * UINT64_C({fixed.multiplier});",
        f"    u >>= {fixed.post_shift};",
        "    if (u >= UINT64_C(16) << 16)",
        "        return 0;",
        "    fraction = (uint32_t)(u & 0xffffu);",
        "    value = powers[fraction >> 10];",
        "    next = powers[(fraction >> 10) + 1];",
        "    value -= ((value - next) * (fraction & 0x3ffu)) >> 10;",
        "    return (int32_t)(value >> (u >> 16));",
        "}",
        "",
        f"void {name}_quantize(const float x[{prefix}_FEATURES], int16_t q[{prefix}_FEATURES])",
        "{",
        "    int i;",
        "",
        f"    for (i = 0; i < {prefix}_FEATURES; i++) {{",
        f"        float scaled = (x[i] - centres[i]) * {np.float32(1.0 / fixed.unit)!s}f;",
        "",
        "        scaled += scaled < 0.0f ? -0.5f : 0.5f;",
        f"        if (!(scaled > -{_LARGEST}.0f))",
        f"            scaled = -{_LARGEST}.0f;",
        f"        if (scaled > {_LARGEST}.0f)",
        f"            scaled = {_LARGEST}.0f;",
        "        q[i] = (int16_t)scaled;",
        "    }",
        "}",
        "",
        f"void {name}_decision_function({arguments})",
        "{",
        f"    int64_t sums[{k}];",
        "    int j, o;",
        "",
        f"    for (o = 0; o < {k}; o++)",
        "        sums[o] = intercepts[o];",
        f"    for (j = 0; j < {prefix}_VECTORS; j++) {{",
        "        const int32_t value = kernel(q, vectors[j]);",
        "",
        f"        for (o = 0; o < {k}; o++)",
        "            sums[o] += (int64_t)(coefficients[j][o] * value);",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        f"        scores[o] = (int32_t)(sums[o] / (INT64_C(1) << {fixed.score_shift}));",
        "}",
    ]
    if exported.reading != "values":
        lines += ["", *_predict(exported, name, k), "", *_predict_batch(name, prefix)]
    return lines


def _arguments(prefix: str) -> str:
    return f"const int16_t q[{prefix}_FEATURES], int32_t scores[{prefix}_SCORES]"


def _rows(array: NDArray[Any]) -> list[list[str]]:
    return [[str(int(number)) for number in row] for row in array]


def _predict(exported: ExportedModel, name: str, k: int) -> list[str]:
    head = [
        f"int {name}_predict(const int16_t q[{name.upper()}_FEATURES])",
        "{",
        f"    int32_t scores[{k}];",
    ]
    evaluate = ["", f"    {name}_decision_function(q, scores);"]
    if exported.reading == "outliers":
        return [*head, *evaluate, "    return scores[0] >= 0 ? 1 : -1;", "}"]
    if exported.reading == "pairs":
        n = len(exported.classes or ())
        return [
            *head,
            f"    int votes[{n}] = {{0}};",
            "    int i, j, pair = 0, best = 0;",
            *evaluate,
            f"    for (i = 0; i < {n}; i++)",
            f"        for (j = i + 1; j < {n}; j++, pair++)",
            "            votes[scores[pair] > 0 ? i : j]++;",
            f"    for (i = 1; i < {n}; i++)",
            "        if (votes[i] > votes[best])",
            "            best = i;",
            "    return best;",
            "}",
        ]
    if k == 1:
        return [*head, *evaluate, "    return scores[0] > 0;", "}"]
    return [
        *head,
        "    int o, best = 0;",
        *evaluate,
        f"    for (o = 1; o < {k}; o++)",
        "        if (scores[o] > scores[best])",
        "            best = o;",
        "    return best;",
        "}",
    ]


def _predict_batch(name: str, prefix: str) -> list[str]:
    return [
        f"void {name}_predict_batch(const int16_t *q, size_t n, int *classes)",
        "{",
        "    size_t i;",
        "",
        "    for (i = 0; i < n; i++)",
        f"        classes[i] = {name}_predict(q + i * {prefix}_FEATURES);",
        "}",
    ]
