"""The published tables, read from their TOML files in ``tables/``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "tables"
LARGE_IS_GOOD = (
    *("accuracy", "correctness", "nested_correctness"),
    *("vectors_reduction", "test_time_reduction"),
    *("accuracy_ratio", "speedup_over_rvm"),
)


@dataclass(frozen=True)
class Row:
    """One group of published figures: a method on a data set."""

    dataset: str
    method: str
    parameters: Mapping[str, Any]
    published: Mapping[str, float]
    tolerance: Mapping[str, float | str] = field(default_factory=dict)
    side: str = "both"
    standard_errors: float = 0.0
    repeats: int = 1
    goal: Mapping[str, float] = field(default_factory=dict)
    paper_parameters: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    paper_draws: int = 0
    same_draws: bool = False

    def allowed(self, figure: str, standard_error: float) -> float | None:
        """Return how far ours may be from the published figure, None if anything goes.

        The standard error is that of the difference.
        """
        stated = self.tolerance.get(figure)
        if stated is None:
            return None
        if isinstance(stated, str):
            number = float(stated.rstrip("%")) / 100.0 * abs(self.published[figure])
        else:
            number = float(stated)
        return max(number, self.standard_errors * standard_error)

    def is_outside(self, figure: str, ours: float, standard_error: float) -> bool:
        """Tell whether ours is farther from the published figure, or the goal, than is allowed."""
        wanted, allowed, side = self.goal.get(figure), 0.0, "worse"
        if wanted is None:
            stated = self.allowed(figure, standard_error)
            if stated is None:
                return False
            wanted, allowed, side = self.published[figure], stated, self.side
        worse_by = wanted - ours if figure in LARGE_IS_GOOD else ours - wanted
        distance = worse_by if side == "worse" else abs(worse_by)
        # published figures are decimal fractions: 11.9 - 11.8 is a little more than 0.1
        return distance > allowed + 1e-9


@dataclass(frozen=True)
class Table:
    """A published table."""

    name: str
    paper: str
    title: str
    metric: str
    protocol: str
    rows: tuple[Row, ...]
    summaries: tuple[Row, ...] = ()
    mean_tolerance: Mapping[str, float] = field(default_factory=dict)


def table_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all tables."""
    return sorted(path.stem.replace("_", "-") for path in folder.glob("*.toml"))


def read_table(name: str, folder: Path = FOLDER) -> Table:
    """Return a table by its name."""
    path = folder / f"{name.replace('-', '_')}.toml"
    if not path.is_file():
        raise KeyError(f"No table {name!r}; there are: {', '.join(table_names(folder))}.")
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    known = ("name", "paper", "title", "metric", "protocol")
    of_all_rows = {key: raw[key] for key in ("paper_draws", "same_draws") if key in raw}
    return Table(
        **{key: raw[key] for key in known},
        rows=tuple(Row(**(of_all_rows | row)) for row in raw["row"]),
        summaries=tuple(Row(dataset="all", parameters={}, **row) for row in raw.get("summary", [])),
        mean_tolerance=raw.get("mean_tolerance", {}),
    )
