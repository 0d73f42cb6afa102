"""The features in use, and combinations of them, in C."""

from __future__ import annotations

import numpy as np

from kernelet.export.projection import Projection
from kernelet.export.to_c.pieces import Real, Table, integers

_LARGEST_SHORT = 2**15 - 1  # that C promises


def projection_tables(projection: Projection | None, real: Real) -> list[Table]:
    """Features in use; the matrix, a row for each; the point that features are measured from."""
    if projection is None:
        return []
    tables = []
    if projection.features is not None:
        kind = "short" if projection.n_features <= _LARGEST_SHORT else "int"
        tables.append(integers(kind, "used", projection.features))
    if projection.matrix is not None:
        if projection.is_integer:
            tables.append(integers("int16_t", "matrix", projection.matrix.T.astype(np.int64)))
        else:
            tables.append(real.table("matrix", projection.matrix.T))
    if projection.origin is not None:
        tables.append(real.table("origin", projection.origin))
    return tables


def project_function(projection: Projection | None, real: Real, prefix: str) -> list[str]:
    """Lines of ``static void project(const real *x, real *combined)``."""
    if projection is None:
        return []
    zero = real.constant(0.0)
    index, n_used, start, declared, before = "f", f"{prefix}_FEATURES", zero, [], []
    if projection.features is not None:
        index, n_used, start = "used[f]", f"{prefix}_USED_FEATURES", "nothing"
        declared = [f"    {real.name} nothing = {zero};"]
        before = [
            f"    for (f = 0; f < {prefix}_FEATURES; f++)",
            "        if (x[f] != x[f])",
            "            nothing = x[f];",
        ]
    if projection.matrix is None:
        return [
            "/* The features that the kernel uses; NaN where any feature is NaN. */",
            f"static void project(const {real.name} *x, {real.name} *combined)",
            "{",
            *declared,
            "    int f;",
            "",
            *before,
            f"    for (f = 0; f < {n_used}; f++)",
            f"        combined[f] = x[{index}] + nothing;",
            "}",
            "",
        ]
    cast = f"({real.name})" if projection.is_integer else ""
    moved = "" if projection.origin is None else " - origin[f]"
    return [
        "/* The combinations of the features that the kernel takes. */",
        f"static void project(const {real.name} *x, {real.name} *combined)",
        "{",
        *declared,
        "    int f, i;",
        "",
        *before,
        f"    for (i = 0; i < {prefix}_COMBINATIONS; i++)",
        f"        combined[i] = {start};",
        f"    for (f = 0; f < {n_used}; f++) {{",
        f"        const {real.name} value = x[{index}]{moved};",
        "",
        f"        for (i = 0; i < {prefix}_COMBINATIONS; i++)",
        f"            combined[i] += {cast}matrix[f][i] * value;",
        "    }",
        "}",
        "",
    ]


def projection_arithmetic(projection: Projection | None) -> int:
    """Additions, subtractions and multiplications of ``project``."""
    if projection is None:
        return 0
    d, u = projection.n_features, projection.n_used
    arithmetic = 0 if projection.features is None else d  # compared with themselves
    if projection.matrix is None:
        return arithmetic + u
    arithmetic += 2 * projection.n_combinations * u
    return arithmetic + (0 if projection.origin is None else u)
