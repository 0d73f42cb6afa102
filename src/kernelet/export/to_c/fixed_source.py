"""Gaussian machines in 16-bit integers, for processors without floating point."""

from __future__ import annotations

from dataclasses import replace

from kernelet._hooks import hooks
from kernelet.export.model import ExportedModel
from kernelet.export.projection import Projection, counted_features
from kernelet.export.to_c.columns import category_tables, column_values
from kernelet.export.to_c.cost import Cost, flash_bytes
from kernelet.export.to_c.fixed_answers import FLOAT, answer_values, powers_table, stacked_bytes
from kernelet.export.to_c.fixed_logits import logits_tables
from kernelet.export.to_c.fixed_point import FixedPoint, fixed_point
from kernelet.export.to_c.fixed_projection import fixed_projection
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import Table, integers
from kernelet.export.to_c.projection import projection_arithmetic, projection_values
from kernelet.export.to_c.quantize import quantize_tables, quantize_values
from kernelet.export.to_c.source import FilledTemplate

# Bytes that functions keep on the stack beside arrays, measured as in float_source.py.
_FRAMES = 144


def fixed_source(exported: ExportedModel, name: str) -> FilledTemplate:
    """A Gaussian machine in C, in 16-bit integers."""
    # Scores of pairs are given as they are: votes with their shares are no integers.
    exported = replace(exported, votes=False)
    projection, machine, by_matrix = fixed_projection(exported.machine)
    fixed = fixed_point(replace(exported, machine=machine))
    interface, columns = Interface(exported, name, projection), exported.columns or ()
    tables = [
        integers("int16_t", "vectors", fixed.vectors),
        integers("int16_t", "coefficients", fixed.coefficients),
        integers("int64_t", "intercepts", fixed.intercepts),
        *quantize_tables(exported, fixed, projection),
        powers_table(),
        *logits_tables(fixed.logits),
        *category_tables(columns, name),
        *interface.labels(),
    ]
    cost = _cost(interface, tables)
    about = _about(exported, fixed, cost)
    if projection is not None:
        about += _about_projection(projection, by_matrix)
    values = {
        **interface.values(),
        **column_values(columns, name),
        **projection_values(projection, FLOAT),
        **quantize_values(exported, fixed, projection),
        **answer_values(interface, fixed.score_unit, fixed.logits),
        "takes_powers": True,
        "long_powers": True,
        "score_shift": fixed.score_shift,
        "pre_shift": fixed.pre_shift,
        "multiplier": fixed.multiplier,
        "post_shift": fixed.post_shift,
    }
    return FilledTemplate("fixed.c", about, tables, values, cost)


def _cost(interface: Interface, tables: list[Table]) -> Cost:
    machine = interface.exported.machine
    m, d, k = machine.n_vectors, machine.n_features, machine.n_outputs
    combinations = interface.n_combinations
    stacked = 8 * k + stacked_bytes(interface)  # sums, and what becomes of them
    if combinations:  # before that, the arrays of quantize
        stacked = max(stacked, 4 * combinations + (4 * d if interface.exported.columns else 0))
    arithmetic = m * (3 * (combinations or d) + 2 * k)
    arithmetic += projection_arithmetic(interface.projection)
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
