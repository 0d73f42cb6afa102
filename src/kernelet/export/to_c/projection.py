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


def projection_values(projection: Projection | None, real: Real) -> dict[str, object]:
    """What templates ask of ``static void project(const real *x, real *combined)``."""
    if projection is None:
        return {"projects": False, "matrix": False, "some_features": False}
    selects = projection.features is not None
    return {
        "projects": True,
        "matrix": projection.matrix is not None,
        "some_features": selects,
        "n_used": projection.n_used,
        "used": "used[f]" if selects else "f",
        "used_features": "USED_FEATURES" if selects else "FEATURES",
        # 0, or NaN where a feature that is left out is NaN
        "nothing": "nothing" if selects else real.constant(0.0),
        "from_origin": "" if projection.origin is None else " - origin[f]",
        "cast": f"({real.name})" if projection.is_integer else "",
    }


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
