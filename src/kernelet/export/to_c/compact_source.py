"""Gaussian machines in few bits, in integer arithmetic, for processors without floating point."""

from __future__ import annotations

from dataclasses import replace

from kernelet._hooks import hooks
from kernelet.export.model import ExportedModel
from kernelet.export.projection import Projection, counted_features
from kernelet.export.to_c.columns import (
    column_values,
    small_column_tables,
    small_column_values,
    text_tables,
)
from kernelet.export.to_c.compact_arithmetic import CompactArithmetic, compact_arithmetic
from kernelet.export.to_c.compact_tables import (
    common_tables,
    compact_tables,
    compact_values,
    has_eighths,
    row_values,
)
from kernelet.export.to_c.cost import Cost, flash_bytes
from kernelet.export.to_c.fixed_answers import FLOAT, answer_values, stacked_bytes
from kernelet.export.to_c.fixed_logits import fixed_logits, logits_tables
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import initializer
from kernelet.export.to_c.projection import projection_arithmetic, projection_values
from kernelet.export.to_c.source import FilledTemplate
from kernelet.machine import VectorGrid

# Bytes that functions keep on the stack beside arrays, those of the compiler included: measured as
# in float_source.py, on a Cortex-M0 too. Divisions of 64 bits, for probabilities, take more there.
_FRAMES, _FRAMES_OF_PROBABILITIES = 160, 64


def compact_source(exported: ExportedModel, name: str) -> FilledTemplate:
    """A machine in few bits in C, as `CompactArithmetic` computes it."""
    # Scores of pairs are given as they are: votes with their shares are no integers.
    exported = replace(exported, votes=False)
    arithmetic = compact_arithmetic(exported)
    projection = _projection(arithmetic.form.grid)
    interface = Interface(exported, name, projection, small_labels=True)
    logits = fixed_logits(exported, arithmetic.sums.score_unit, "q7")
    columns = exported.columns or ()
    own = [
        *compact_tables(arithmetic),
        *small_column_tables(columns, FLOAT),
        *logits_tables(logits),
        *text_tables(columns),
        *interface.labels(),
    ]
    small_columns = small_column_values(columns, FLOAT)
    takes_eighths = has_eighths(arithmetic) or bool(small_columns["scales_by_eighths"])
    common = common_tables(arithmetic, logits is not None, takes_eighths)
    cost = Cost(
        flash_bytes(own),
        _stack(interface, arithmetic),
        _arithmetic_of(interface, arithmetic),
        0,
        flash_bytes(common),
    )
    values = {
        **interface.values(),
        **column_values(columns, name),
        **small_columns,
        # names are not part of a budget in bytes: nobody needs them to predict
        "column_names": initializer(f"{interface.prefix}_COLUMN_NAMES", [c.name for c in columns]),
        **projection_values(projection, FLOAT),
        **answer_values(interface, arithmetic.sums.score_unit, logits),
        **compact_values(arithmetic),
        **row_values(arithmetic),
        "takes_powers": any(table.name == "powers" for table in common),
        "long_powers": logits is not None,
        "has_eighths": takes_eighths,
    }
    about = _about(interface, arithmetic, cost)
    return FilledTemplate("compact.c", about, [*own, *common], values, cost)


def _projection(grid: VectorGrid) -> Projection | None:
    """The features in use and the matrix, as the header describes them."""
    features = None if grid.used.size == grid.n_features else grid.used
    if features is None and grid.matrix is None:
        return None
    matrix = None if grid.matrix is None else grid.matrix.values
    return Projection(matrix, None, features, grid.n_features)


def _stack(interface: Interface, arithmetic: CompactArithmetic) -> int:
    k, grid = interface.exported.machine.n_outputs, arithmetic.form.grid
    stacked = arithmetic.word // 8 * int(grid.varying.sum()) + stacked_bytes(interface)
    stacked += 8 * k if arithmetic.sums.is_wide else 0
    if grid.matrix is not None:  # before that, the array of quantize
        stacked = max(stacked, 4 * grid.centres.size)
    stacked += _FRAMES_OF_PROBABILITIES if interface.has_probabilities else 0
    return stacked + _FRAMES


def _arithmetic_of(interface: Interface, arithmetic: CompactArithmetic) -> int:
    machine, grid = interface.exported.machine, arithmetic.form.grid
    per_vector = 2 * int(grid.varying.sum()) + 2 * machine.n_outputs + 6
    # of a row: its length, and the weights
    per_row = 2 * grid.centres.size + 4 * int(grid.varying.sum())
    return machine.n_vectors * per_vector + per_row + projection_arithmetic(interface.projection)


def _about(interface: Interface, arithmetic: CompactArithmetic, cost: Cost) -> list[str]:
    machine, form = interface.exported.machine, arithmetic.form
    moved = arithmetic.moved_scores
    lines = [
        f"A kernel machine in few bits. Vectors: {machine.n_vectors}, features: "
        f"{counted_features(machine)}, outputs: {machine.n_outputs}.",
        f"Bits: {form.grid.bits} of a vector's entry, {form.coefficient_bits} of a coefficient.",
        f"Made by kernelet {hooks.version}.",
        "",
        f"Kernel: {machine.kernel!r}",
        *cost.lines(),
        f"Kernel values are exact to {arithmetic.kernel_error:.1e} for the integers that a row "
        "becomes, and scores",
        f"to {arithmetic.score_error:.1e}; rounding a row to these moves them by "
        f"{arithmetic.moved:.1e} and {moved:.1e} at most.",
    ]
    if form.grid.matrix is not None:
        lines += [
            "quantize takes combinations of the features: "
            f"{projection_arithmetic(interface.projection)} of the additions and",
            "multiplications, which are in floating point.",
        ]
    lines.append(
        "There is no state: any number of threads and interrupts may call the functions at once."
    )
    return lines
