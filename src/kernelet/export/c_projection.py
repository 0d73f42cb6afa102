"""Combinations of the features in C, for kernels that take these."""

from __future__ import annotations

import numpy as np

from kernelet.export.c_source import Real, Table, integers
from kernelet.export.projection import Projection


def projection_tables(projection: Projection | None, real: Real) -> list[Table]:
    """The matrix, a row for each feature, and the point that features are measured from."""
    if projection is None:
        return []
    if projection.is_integer:
        tables = [integers("int16_t", "matrix", projection.matrix.T.astype(np.int64))]
    else:
        tables = [real.table("matrix", projection.matrix.T)]
    return (
        tables if projection.origin is None else [*tables, real.table("origin", projection.origin)]
    )


def project_function(projection: Projection | None, real: Real, prefix: str) -> list[str]:
    """Lines of ``static void project(const real *x, real *combined)``."""
    if projection is None:
        return []
    cast = f"({real.name})" if projection.is_integer else ""
    moved = "" if projection.origin is None else " - origin[f]"
    return [
        "/* The combinations of the features that the kernel takes. */",
        f"static void project(const {real.name} *x, {real.name} *combined)",
        "{",
        "    int f, i;",
        "",
        f"    for (i = 0; i < {prefix}_COMBINATIONS; i++)",
        f"        combined[i] = {real.constant(0.0)};",
        f"    for (f = 0; f < {prefix}_FEATURES; f++) {{",
        f"        const {real.name} value = x[f]{moved};",
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
    r, d = projection.matrix.shape
    return int(2 * r * d + (0 if projection.origin is None else d))
