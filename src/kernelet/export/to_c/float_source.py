"""Models in C's floating-point types."""

from __future__ import annotations

import numpy as np

from kernelet._hooks import hooks
from kernelet.export.model import ExportedModel, Reading
from kernelet.export.projection import Projection, counted_features, projected
from kernelet.export.rounding import (
    has_rounding_bound,
    has_taxicab_distances,
    rounding_units,
)
from kernelet.export.to_c.columns import (
    category_function,
    category_tables,
    column_declarations,
    column_tables,
    encode_function,
)
from kernelet.export.to_c.cost import Cost, flash_bytes
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.kernel import KernelSource
from kernelet.export.to_c.pieces import Real, Table, block_comment, included
from kernelet.export.to_c.probabilities import (
    calibration_tables,
    logits_function,
    probabilities_function,
)
from kernelet.export.to_c.projection import (
    project_function,
    projection_arithmetic,
    projection_tables,
)
from kernelet.export.to_c.reading import reading_functions
from kernelet.kernels.input_stage import input_stage
from kernelet.machine import KernelMachine

# Of what functions keep on the stack beside arrays, math.h's among them: measured on a Cortex-M4,
# where `make test-cortex` measures again.
_FRAMES = {"float": 128, "double": 272}

# Of the bound, where the kernel takes combinations.
_COMBINED = [
    "  A being the matrix of the kernel, x stands for |A| |x - origin| there, and z_j for",
    "  |A| |z_j - origin|.",
]


class FloatSource:
    """A model in C.

    Attributes
    ----------
    cost : Cost
    """

    def __init__(self, exported: ExportedModel, name: str, real: Real) -> None:
        self._exported, self._real = exported, real
        columns = exported.columns
        length = f"{name.upper()}_{'FEATURES' if columns is None else 'COLUMNS'}"
        self._projection, machine = projected(exported.machine, real.dtype.name)
        self._interface = Interface(
            exported,
            name,
            real.name,
            "x",
            length,
            real.name,
            real.name,
            self._projection,
        )
        labels = self._interface.labels()
        self._kernel = KernelSource(machine.kernel, real, self._interface.kernel_length)
        self._tables = [
            *([] if columns is None else column_tables(columns, real)),
            *projection_tables(self._projection, real),
            *_machine_tables(machine, real),
            *self._kernel.tables,
            *calibration_tables(self._interface, real),
            *([] if columns is None else category_tables(columns, name)),
            *([] if labels is None else [labels]),
        ]
        self.cost = _cost(self._interface, real, self._kernel, self._tables, self._projection)
        self._about = _about(exported, real, self.cost)

    def header(self) -> list[str]:
        """Lines of the header."""
        columns = self._exported.columns
        declared = [] if columns is None else column_declarations(columns, self._interface.name)
        return self._interface.header(self._about, declared, {})

    def source(self, header: str) -> list[str]:
        """Lines of the source; ``header`` is the name of the other file."""
        interface, real, columns = self._interface, self._real, self._exported.columns
        lines = [
            *block_comment(self._about[:3]),
            "",
            f"#include {included(header)}",
            "",
            "#include <math.h>",
            "",
            *(line for table in self._tables for line in table.lines()),
        ]
        if columns is not None:
            lines += encode_function(columns, real, interface.prefix)
            lines += category_function(columns, interface.name)
        lines += project_function(self._projection, real, interface.prefix)
        lines += [*self._kernel.lines, *_outputs_function(interface, real)]
        lines += [*logits_function(interface, real), *reading_functions(interface, real)]
        if interface.has_probabilities:
            lines += probabilities_function(interface, real)
        return [*lines, *interface.batches()]


def _machine_tables(machine: KernelMachine, real: Real) -> list[Table]:
    parts = ("vectors", "coefficients", "intercepts")
    arrays = [np.asarray(getattr(machine, part)) for part in parts]
    # C has no arrays of length 0; a machine without vectors gets one that is never read
    filled = [a if len(a) else np.zeros((1, *a.shape[1:])) for a in arrays]
    return [real.table(part, array) for part, array in zip(parts, filled, strict=True)]


def _cost(
    interface: Interface,
    real: Real,
    kernel: KernelSource,
    tables: list[Table],
    projection: Projection | None,
) -> Cost:
    machine, columns = interface.exported.machine, interface.exported.columns
    m, d, k = machine.n_vectors, machine.n_features, machine.n_outputs
    length = interface.n_combinations or d
    stacked = max(2, k)
    if interface.exported.reading is Reading.PAIRS:
        stacked += 2 * interface.n_classes  # votes and confidence
    stacked += 0 if columns is None else d
    stacked += interface.n_combinations
    calls = m * kernel.calls + (interface.n_classes if interface.has_probabilities else 0)
    arithmetic = m * (kernel.arithmetic * length + 2 * k) + 2 * len(columns or ())
    arithmetic += projection_arithmetic(projection)
    ram = real.dtype.itemsize * stacked + _FRAMES[real.name]
    return Cost(flash_bytes(tables), ram, arithmetic, calls)


def _about(exported: ExportedModel, real: Real, cost: Cost) -> list[str]:
    machine = exported.machine
    return [
        f"A kernel machine. Vectors: {machine.n_vectors}, features: {counted_features(machine)}, "
        f"outputs: {machine.n_outputs}.",
        repr(machine.kernel),
        f"Made by kernelet {hooks.version}.",
        "",
        *cost.lines(),
        *_about_rounding(exported, real),
        "There is no state: any number of threads and interrupts may call the functions at once.",
        "NaN is found by comparing, so do not compile with -ffast-math.",
    ]


def _about_rounding(exported: ExportedModel, real: Real) -> list[str]:
    machine = exported.machine
    matrix, inner = input_stage(machine.kernel)
    if not has_rounding_bound(inner):
        return ["No bound of rounding errors is known for this kernel."]
    digits = np.finfo(real.dtype).nmant + 1
    units = rounding_units(machine, is_scaled=exported.columns is not None)
    squared = "" if inner.n_features is None else " (each times its largest squared scale)"
    encoded = "" if exported.columns is None else "; x scaled, |shift / scale| added to each |x_i|"
    taxicab = (
        "  Of a Laplacian kernel it counts with |x|_1 + max_j |z_j|_1 (and a scale, not squared)."
    )
    return [
        f"Rounding moves a score by no more than {units} * 2^-{digits}",
        "  * (1 + gamma (|x|^2 + max_j |z_j|^2)) * (sum_j |beta_j| k_j + |b|), gamma being the sum",
        f"  of the kernel's{squared}, k_j made of absolute values{encoded}.",
        *([taxicab] if has_taxicab_distances(inner) else []),
        *([] if matrix is None else _COMBINED),
    ]


def _outputs_function(interface: Interface, real: Real) -> list[str]:
    k, prefix = interface.exported.machine.n_outputs, interface.prefix
    has_columns = interface.exported.columns is not None
    point, arrays, steps = "x", [], []
    if has_columns:
        point, arrays = "row", [f"    {real.name} row[{prefix}_FEATURES];"]
        steps = ["    encode(x, row);"]
    if interface.projection is not None:
        arrays += [f"    {real.name} combined[{interface.kernel_length}];"]
        steps += [f"    project({point}, combined);"]
        point = "combined"
    return [
        f"static void outputs(const {real.name} *x, {real.name} *values)",
        "{",
        *arrays,
        "    int j, o;",
        "",
        *steps,
        f"    for (o = 0; o < {k}; o++)",
        "        values[o] = intercepts[o];",
        f"    for (j = 0; j < {prefix}_VECTORS; j++) {{",
        f"        const {real.name} value = kernel({point}, vectors[j]);",
        "",
        *(line for ends in _pieces(k) for line in _added(*ends)),
        "    }",
        "}",
        "",
    ]


def _pieces(k: int) -> list[tuple[int, int]]:
    """Outputs by fours, which compilers add at once, and the rest."""
    whole = k - k % 4
    return [(begin, end) for begin, end in ((0, whole), (whole, k)) if begin < end]


def _added(begin: int, end: int) -> list[str]:
    return [
        f"        for (o = {begin}; o < {end}; o++)",
        "            values[o] += coefficients[j][o] * value;",
    ]
