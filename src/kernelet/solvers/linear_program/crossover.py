"""From a point near the optimum of a linear program to a vertex of its optimal face.

An interior point ends inside that face, where nothing is exactly zero. Which variables are between
their bounds at a nearby vertex (its basis) can be guessed from how far they are from them. Where
the optimum is not degenerate the guess is right, and two linear systems give the vertex to the
last digit. Otherwise the simplex method of HiGHS takes a few pivots from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import BoolArray, FloatArray

# Bounds, signs and margins that are missed by no more than this are met. It is the tightest
# tolerance that HiGHS accepts without complaint about scaled problems, so that what it returns
# passes.
ROUNDING = 1e-9
# Rounding errors of a vertex, relative to its largest variable or multiplier: some hundred units in
# the last place, for systems that are not well conditioned.
_SLIGHT = 1e-13
# Pivots for each row and column after which the simplex method is taken to go in circles; from a
# nearby basis it takes a few in all.
_PIVOTS = 50


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """min cost'x subject to lower <= K x <= upper, 0 <= x <= bound, all bounds finite."""

    cost: FloatArray
    K: FloatArray
    lower: FloatArray
    upper: FloatArray
    bound: FloatArray


@dataclass(frozen=True, eq=False)
class Vertex:
    """Variables and row multipliers where as many bounds are met as there are variables."""

    x: FloatArray
    multipliers: FloatArray


@dataclass(frozen=True, eq=False)
class SimplexBasis:
    """Which variables and rows are between their bounds, and at which bound the others are."""

    columns: BoolArray
    rows: BoolArray
    columns_at_bound: BoolArray
    rows_at_upper: BoolArray


def nearest_vertex(
    program: LinearProgram, x: FloatArray, multipliers: FloatArray, *, pivots: bool = True
) -> Vertex | None:
    """An optimal vertex near (x, multipliers), or None if there is none in reach.

    Without ``pivots`` only the first guess of its basis is tried.

    Examples
    --------
    >>> import numpy as np
    >>> program = LinearProgram(  # the most x_1 + x_2 with x_1 <= 1, x_2 <= 3, x_1 + 2 x_2 <= 4
    ...     np.array([-1.0, -1.0]), np.array([[1.0, 2.0]]), np.zeros(1), np.array([4.0]),
    ...     np.array([1.0, 3.0]))
    >>> vertex = nearest_vertex(program, np.array([0.99, 1.51]), np.array([-0.49]))
    >>> print(vertex.x, vertex.multipliers)
    [1. 1.5] [-0.5]
    """
    unit = float(np.max(np.abs(x), initial=0.0))
    basis = guess_basis(program, x, multipliers)
    return vertex_from(program, basis, unit=unit if unit > 0.0 else 1.0, pivots=pivots)


def vertex_from(
    program: LinearProgram, basis: SimplexBasis, *, unit: float | None = None, pivots: bool = True
) -> Vertex | None:
    """An optimal vertex: that of a basis or, by pivots, one from there; None if there is none.

    Variables are counted in units, the largest bound if none is given.
    """
    vertex = vertex_at(program, basis)
    if vertex is not None and is_optimal(program, vertex):
        return vertex
    if not pivots:
        return None
    return _simplex(program, basis, float(program.bound.max()) if unit is None else unit)


def guess_basis(program: LinearProgram, x: FloatArray, multipliers: FloatArray) -> SimplexBasis:
    """As many variables and rows as the program has rows, those farthest from their bounds.

    Far, that is, in comparison with their multipliers: of the two one is zero at the optimum.
    """
    K, lower, upper, bound = program.K, program.lower, program.upper, program.bound
    value = K @ x
    # a multiplier may be 1e-310, and a distance in its units overflow
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        columns = np.minimum(x, bound - x) / bound / np.abs(program.cost - multipliers @ K)
        rows = np.minimum(value - lower, upper - value) / (upper - lower) / np.abs(multipliers)
    distance = np.append(columns, rows)
    # 0 / 0 of a row that is an equation, or of a variable without room: never basic by choice
    distance = np.where(np.isnan(distance), -1.0, distance)
    chosen = np.zeros(distance.size, dtype=bool)
    chosen[np.argsort(-distance, kind="stable")[: lower.size]] = True
    return SimplexBasis(
        columns=chosen[: x.size],
        rows=chosen[x.size :],
        columns_at_bound=x > 0.5 * bound,
        rows_at_upper=value > 0.5 * (lower + upper),
    )


def vertex_at(program: LinearProgram, basis: SimplexBasis) -> Vertex | None:
    """The vertex of a basis, from the two linear systems that define it."""
    tight = ~basis.rows
    if np.count_nonzero(tight) != np.count_nonzero(basis.columns):
        return None
    K = program.K[tight]
    x = np.where(basis.columns_at_bound & ~basis.columns, program.bound, 0.0)
    level = np.where(basis.rows_at_upper, program.upper, program.lower)[tight]
    system = K[:, basis.columns]
    multipliers = np.zeros(tight.size)
    try:
        x[basis.columns] = np.linalg.solve(system, level - K @ x)
        multipliers[tight] = np.linalg.solve(system.T, program.cost[basis.columns])
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        return None
    # variables and multipliers of a degenerate vertex are at their bounds but for rounding
    slight = _SLIGHT * float(np.max(np.abs(x), initial=0.0))
    x[np.abs(x) <= slight] = 0.0
    at_bound = np.abs(x - program.bound) <= _SLIGHT * program.bound
    x[at_bound] = program.bound[at_bound]
    largest = float(np.max(np.abs(multipliers), initial=0.0))
    multipliers[np.abs(multipliers) <= _SLIGHT * largest] = 0.0
    return Vertex(x, multipliers)


def is_optimal(program: LinearProgram, vertex: Vertex) -> bool:
    """Whether a vertex obeys all bounds, and its multipliers all signs, but for rounding."""
    x, multipliers = vertex.x, vertex.multipliers
    size = float(np.max(np.abs(x), initial=0.0))
    outside = np.maximum(-x, x - program.bound)
    value = program.K @ x
    beyond = np.maximum(program.lower - value, value - program.upper)
    beyond /= 1.0 + np.max(np.abs(program.K), axis=1, initial=0.0)
    if max(np.max(outside, initial=0.0), np.max(beyond, initial=0.0)) > ROUNDING * size:
        return False
    reduced = program.cost - multipliers @ program.K
    at_bound = x > 0.5 * program.bound
    wrong = np.where(at_bound, np.maximum(reduced, 0.0), np.maximum(-reduced, 0.0))
    # a variable strictly between its bounds has no reduced cost at a vertex, by construction
    wrong[(x > 0.0) & (x < program.bound)] = 0.0
    is_equation = program.lower == program.upper
    at_upper = value > 0.5 * (program.lower + program.upper)
    sign = np.where(at_upper, np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0))
    sign[is_equation] = 0.0
    largest = 1.0 + float(np.max(np.abs(multipliers), initial=0.0))
    worst = max(float(np.max(wrong, initial=0.0)), float(np.max(sign, initial=0.0)))
    return worst <= ROUNDING * largest


def _simplex(program: LinearProgram, basis: SimplexBasis, unit: float) -> Vertex | None:
    """The simplex method of HiGHS, started from a basis; x is counted in units."""
    import highspy  # only here: most optima are not degenerate, and the import takes a while

    highs = highs_of(program, unit)
    set_basis(highs, basis)
    vertex, _ = run_simplex(highs, program, unit)
    is_solved = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return vertex if is_solved else None


def run_simplex(highs: Any, program: LinearProgram, unit: float) -> tuple[Vertex, SimplexBasis]:
    """The vertex at which HiGHS ends, and its basis."""
    highs.run()
    basis = basis_of(highs)
    # HiGHS allows for its tolerances; the systems of its last basis do not
    exact = vertex_at(program, basis)
    if exact is not None and is_optimal(program, exact):
        return exact, basis
    solution = highs.getSolution()
    found = Vertex(
        unit * np.asarray(solution.col_value, dtype=np.float64),
        np.asarray(solution.row_dual, dtype=np.float64),
    )
    return found, basis


def highs_of(program: LinearProgram, unit: float) -> Any:
    """HiGHS, ready to run its simplex method on a program whose x is counted in units."""
    import highspy

    n_rows, n_columns = program.K.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n_columns, n_rows
    lp.col_cost_ = program.cost
    lp.col_lower_, lp.col_upper_ = np.zeros(n_columns), program.bound / unit
    lp.row_lower_, lp.row_upper_ = program.lower / unit, program.upper / unit
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(n_columns + 1, dtype=np.int32) * n_rows
    lp.a_matrix_.index_ = np.tile(np.arange(n_rows, dtype=np.int32), n_columns)
    lp.a_matrix_.value_ = program.K.T.ravel()
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # HiGHS has no types for it
    for name, value in (
        ("output_flag", False),
        ("solver", "simplex"),
        ("presolve", "off"),
        ("simplex_iteration_limit", _PIVOTS * (n_rows + n_columns)),
        ("primal_feasibility_tolerance", ROUNDING),
        ("dual_feasibility_tolerance", ROUNDING),
    ):
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    return highs


def set_basis(highs: Any, basis: SimplexBasis) -> None:
    """Let HiGHS start from a basis."""
    import highspy

    status = highspy.HighsBasisStatus
    start = highspy.HighsBasis()
    start.valid = True
    start.col_status = _statuses(status, basis.columns, basis.columns_at_bound)
    start.row_status = _statuses(status, basis.rows, basis.rows_at_upper)
    highs.setBasis(start)


def basis_of(highs: Any) -> SimplexBasis:
    """The basis in which HiGHS ended."""
    import highspy

    status, end = highspy.HighsBasisStatus, highs.getBasis()
    return SimplexBasis(
        columns=np.array([s == status.kBasic for s in end.col_status], dtype=bool),
        rows=np.array([s == status.kBasic for s in end.row_status], dtype=bool),
        columns_at_bound=np.array([s == status.kUpper for s in end.col_status], dtype=bool),
        rows_at_upper=np.array([s == status.kUpper for s in end.row_status], dtype=bool),
    )


def _statuses(status: object, is_basic: BoolArray, is_upper: BoolArray) -> list[Any]:
    basic, upper, lower = (getattr(status, name) for name in ("kBasic", "kUpper", "kLower"))
    return [
        basic if between else upper if high else lower
        for between, high in zip(is_basic, is_upper, strict=True)
    ]
