"""Gaussian machines in 16-bit integers, for processors without floating point."""

from __future__ import annotations

from dataclasses import replace

from kernelet._hooks import hooks
from kernelet.export.model import ExportedModel, Reading
from kernelet.export.projection import Projection, counted_features
from kernelet.export.to_c.columns import category_function, category_tables, column_declarations
from kernelet.export.to_c.cost import Cost, flash_bytes
from kernelet.export.to_c.fixed_point import ONE, FixedPoint, fixed_point
from kernelet.export.to_c.fixed_projection import fixed_projection
from kernelet.export.to_c.fixed_reading import (
    logits_function,
    logits_tables,
    predict_function,
    probabilities_function,
)
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import REALS, Table, block_comment, included, integers
from kernelet.export.to_c.projection import projection_arithmetic
from kernelet.export.to_c.quantize import quantize_function, quantize_head, quantize_tables

# 2^(-i/64) for i = 0, ..., 64 and straight lines in between: (ln 2 / 64)^2 / 8 = 1.5e-5 from the
# curve at most, which is half of what 1 / ONE is.
_STEPS = 64
# Of what functions keep on the stack beside arrays: measured as in float_source.py.
_FRAMES = 144


class FixedSource:
    """A model in C.

    Attributes
    ----------
    cost : Cost
    """

    def __init__(self, exported: ExportedModel, name: str) -> None:
        # Scores of pairs are given as they are: votes with their shares are no integers.
        self._exported = exported = replace(exported, votes=False)
        self._projection, machine, by_matrix = fixed_projection(exported.machine)
        self._fixed = fixed = fixed_point(replace(exported, machine=machine))
        self._interface = Interface(
            exported, name, "int16_t", "q", "", "int32_t", "uint16_t", self._projection
        )
        self._interface = replace(self._interface, row_length=self._interface.kernel_length)
        columns, labels = exported.columns, self._interface.labels()
        self._tables = [
            integers("int16_t", "vectors", fixed.vectors),
            integers("int16_t", "coefficients", fixed.coefficients),
            integers("int64_t", "intercepts", fixed.intercepts),
            *quantize_tables(exported, fixed, self._projection),
            _powers(),
            *([] if fixed.logits is None else logits_tables(fixed.logits)),
            *([] if columns is None else category_tables(columns, name)),
            *([] if labels is None else [labels]),
        ]
        self.cost = _cost(self._interface, self._tables, self._projection)
        self._about = _about(exported, fixed, self.cost)
        if self._projection is not None:
            self._about += _about_projection(self._projection, by_matrix)

    def header(self) -> list[str]:
        """Lines of the header."""
        declared = _declared(self._interface, self._fixed)
        return self._interface.header(self._about, declared, _meanings(self._interface))

    def source(self, header: str) -> list[str]:
        """Lines of the source; ``header`` is the name of the other file."""
        interface, fixed, columns = self._interface, self._fixed, self._exported.columns
        logits = fixed.logits
        return [
            *block_comment(self._about[:3]),
            "",
            f"#include {included(header)}",
            "",
            *(line for table in self._tables for line in table.lines()),
            *([] if columns is None else category_function(columns, interface.name)),
            *_power_function(),
            *_kernel_function(fixed, interface.kernel_length),
            *quantize_function(interface, fixed, self._projection),
            *_decision_function(interface, fixed),
            *([] if logits is None else logits_function(logits)),
            *(predict_function(interface) if interface.has_labels else []),
            *([] if logits is None else probabilities_function(interface)),
            *interface.batches(),
        ]


def _cost(interface: Interface, tables: list[Table], projection: Projection | None) -> Cost:
    machine = interface.exported.machine
    m, d, k = machine.n_vectors, machine.n_features, machine.n_outputs
    combinations = interface.n_combinations
    stacked = 12 * k  # sums and scores
    if interface.has_probabilities:
        stacked += 12 * k  # logits and shares
    if interface.exported.reading is Reading.PAIRS:
        stacked += (12 if interface.exported.break_ties else 4) * interface.n_classes  # votes
    if combinations:  # before that, the arrays of quantize
        stacked = max(stacked, 4 * combinations + (4 * d if interface.exported.columns else 0))
    arithmetic = m * (3 * (combinations or d) + 2 * k) + projection_arithmetic(projection)
    return Cost(flash_bytes(tables), stacked + _FRAMES, arithmetic, 0)


def _about(exported: ExportedModel, fixed: FixedPoint, cost: Cost) -> list[str]:
    machine = exported.machine
    return [
        f"A kernel machine in integers. Vectors: {machine.n_vectors}, features: "
        f"{counted_features(machine)}, outputs: {machine.n_outputs}.",
        repr(machine.kernel),
        f"Made by kernelet {hooks.version}.",
        "",
        *cost.lines(),
        f"Kernel values are exact to {fixed.kernel_error:.1e} for the integers that a row becomes;",
        f"rounding a row and the vectors to these moves them by {fixed.moved:.1e} at most.",
        "There is no state: any number of threads and interrupts may call the functions at once.",
    ]


def _about_projection(projection: Projection, moved: float | None) -> list[str]:
    what = "features in use" if projection.matrix is None else "combinations of the features"
    lines = [
        f"quantize takes the {what} that the kernel has: "
        f"{projection_arithmetic(projection)} of the",
        "additions and multiplications, which are in floating point.",
    ]
    if moved is None:
        return lines
    return [
        *lines,
        f"Rounding the matrix to 16 bits moves kernel values by {moved:.1e} at most, of rows as",
        "far from the vectors as these may be from each other.",
    ]


def _declared(interface: Interface, fixed: FixedPoint) -> list[str]:
    columns = interface.exported.columns
    projection = interface.projection
    counted = "features" if projection is None else "combinations of features"
    if projection is not None and projection.matrix is None:
        counted = "features in use"
    said = [
        "The integers that stand for a row, which the other functions take. It returns how many",
        f"{counted} are NaN or out of range, where all kernel values are 0 but for rounding.",
    ]
    if projection is not None and projection.features is not None:
        said += ["NaN in a feature that is not in use counts as NaN in all that are."]
    return [
        "/* A score times this is the value of the decision function. */",
        f"#define {interface.prefix}_SCORE_UNIT {REALS['float32'].constant(fixed.score_unit)}",
        "",
        *([] if columns is None else column_declarations(columns, interface.name)),
        *block_comment(said),
        f"{quantize_head(interface)};",
        "",
    ]


def _meanings(interface: Interface) -> dict[str, str]:
    is_sign = interface.exported.reading is Reading.OUTLIERS
    pairs = (
        " of the pairs (0, 1), (0, 2), ..." if interface.exported.reading is Reading.PAIRS else ""
    )
    return {
        "decision_function": f"The scores{pairs} of a row, and of n rows that follow each other.",
        "predict": "1 for a row like those of the training, -1 for an outlier."
        if is_sign
        else "The number of the class of a row, from 0.",
        "predict_proba": f"Probabilities of the classes; 1 is {ONE}.",
    }


def _powers() -> Table:
    powers = [round(ONE * 2.0 ** (-i / _STEPS)) for i in range(_STEPS + 1)]
    return integers("uint16_t", "powers", powers)


def _power_function() -> list[str]:
    return [
        f"/* 2^-u, 1 being {ONE}; u has 16 binary digits after the point. */",
        "static uint32_t power(uint64_t u)",
        "{",
        "    uint32_t fraction, value, next;",
        "",
        "    if (u >= UINT64_C(16) << 16)",
        "        return 0;",
        "    fraction = (uint32_t)(u & 0xffffu);",
        "    value = powers[fraction >> 10];",
        "    next = powers[(fraction >> 10) + 1];",
        "    value -= ((value - next) * (fraction & 0x3ffu) + 0x200u) >> 10;",
        "    return value >> (u >> 16);",
        "}",
        "",
    ]


def _kernel_function(fixed: FixedPoint, length: str) -> list[str]:
    return [
        f"/* exp(-gamma r^2), 1 being {ONE}. */",
        "static int32_t kernel(const int16_t *q, const int16_t *z)",
        "{",
        "    uint64_t squared = 0;",
        "    int i;",
        "",
        f"    for (i = 0; i < {length}; i++) {{",
        "        const int32_t difference = (int32_t)q[i] - (int32_t)z[i];",
        "        const uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);",
        "",
        "        squared += (uint64_t)(size * size);",
        "    }",
        f"    squared = (squared >> {fixed.pre_shift}) * UINT64_C({fixed.multiplier});",
        f"    return (int32_t)power(squared >> {fixed.post_shift});",
        "}",
        "",
    ]


def _decision_function(interface: Interface, fixed: FixedPoint) -> list[str]:
    k = fixed.coefficients.shape[1]
    return [
        interface.head("decision_function"),
        "{",
        f"    int64_t sums[{k}];",
        "    int j, o;",
        "",
        f"    for (o = 0; o < {k}; o++)",
        "        sums[o] = intercepts[o];",
        f"    for (j = 0; j < {interface.prefix}_VECTORS; j++) {{",
        "        const int32_t value = kernel(q, vectors[j]);",
        "",
        f"        for (o = 0; o < {k}; o++)",
        "            sums[o] += (int64_t)(coefficients[j][o] * value);",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        f"        scores[o] = (int32_t)(sums[o] / (INT64_C(1) << {fixed.score_shift}));",
        "}",
        "",
    ]
