"""Our figures and the paper's, with standard errors, differences and what exceeds the tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import datasets, methods
from benchmarks.results import Ledger, Record, canonical, figures_of
from benchmarks.runner import n_units, row_parameters
from benchmarks.runner_tables import Row, Table

HEADINGS = ("data set", "method", "parameters", "figure", "paper", "ours", "difference", "")
OUTSIDE = "OUTSIDE"


@dataclass(frozen=True)
class Comparison:
    """One published figure and ours."""

    row: Row
    figure: str
    published: float
    values: tuple[float, ...]
    remark: str

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        """Of the mean over the training/test pairs; nan for a single one."""
        return self._error_of_a_mean(len(self.values))

    @property
    def paper_error(self) -> float:
        """Of the paper's mean over its draws, by our standard deviation; nan if not known.

        No paper prints its own. Draws that are ours as well add no error, and times of another
        computer have another one.
        """
        known = not self.row.same_draws and "seconds" not in self.figure
        return self._error_of_a_mean(self.row.paper_draws) if known else float("nan")

    def _error_of_a_mean(self, n_draws: int) -> float:
        if len(self.values) < 2 or not n_draws:
            return float("nan")
        return float(np.std(self.values, ddof=1) / np.sqrt(n_draws))

    @property
    def outside(self) -> bool:
        if not self.values:
            return False
        # of the difference between two independent means
        error = np.hypot(*np.nan_to_num([self.standard_error, self.paper_error]))
        return self.row.is_outside(self.figure, self.mean, float(error))

    def cells(self) -> list[str]:
        """Return the cells of a line."""
        ours = difference = ""
        published = f"{self.published:g}"
        if self.values:
            digits = _digits(self.published)
            ours = f"{self.mean:.{digits}f}" + _plus_minus(self.standard_error, digits)
            published += _plus_minus(self.paper_error, digits)
            difference = f"{self.mean - self.published:+.{digits}f}"
        mark = ", ".join(text for text in (OUTSIDE if self.outside else "", self.remark) if text)
        parameters = " ".join(f"{k}={_brief(v)}" for k, v in self.row.parameters.items())
        row = self.row
        return [
            *(row.dataset, row.method, parameters),
            *(self.figure, published, ours, difference, mark),
        ]


def compare(table: Table, ledger: Ledger) -> list[Comparison]:
    """Return every published figure of a table with ours."""
    lines: dict[tuple[str, str, str], list[Record]] = {}
    for record in ledger.read():
        key = (record["dataset"], record["method"], record["parameters"])
        lines.setdefault(key, []).append(record)
    comparisons = []
    for row in table.rows:
        key = (row.dataset, row.method, canonical(row_parameters(row)))
        records = lines.get(key, [])
        measured = [figures_of(record) for record in records]
        for figure, published in (*row.published.items(), *row.goal.items()):
            values = tuple(f[figure] for f in measured if figure in f)
            comparisons.append(
                Comparison(row, figure, published, values, _remark(row, records, values))
            )
    return comparisons


def _remark(row: Row, records: Sequence[Record], values: Sequence[float]) -> str:
    """Say what a reader has to know of ours: missing, incomplete, another split."""
    if not records:
        missing_data = datasets.describe(row.dataset).unavailable
        return methods.get(row.method).why_unavailable() or missing_data or "not run"
    remarks = []
    if not values:
        remarks.append("not measured")
    if len(records) < n_units(row):
        remarks.append(f"{len(records)} of {n_units(row)} runs")
    remarks += sorted({r["split"] for r in records if r["split"].startswith("random by seed")})
    return ", ".join(remarks)


def render(table: Table, comparisons: Iterable[Comparison]) -> str:
    """Return the table as aligned text."""
    lines = [list(HEADINGS), *(comparison.cells() for comparison in comparisons)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = [f"{table.name}: {table.title}", f"({table.paper})", ""]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        text.append("  ".join(cells).rstrip())
    return "\n".join([*text, *errors_explained(table)])


def errors_explained(table: Table) -> list[str]:
    """Say which standard errors the tolerances of a table take."""
    if any(row.same_draws for row in table.rows):
        return ["", "±: of the mean over our draws. The paper's are the same, so it counts once."]
    draws = sorted({row.paper_draws for row in table.rows if row.paper_draws})
    if not draws:
        return []
    numbers = " or ".join(map(str, draws))
    return [
        "",
        f"±: of the mean over our draws, and over the paper's {numbers} by our standard deviation, "
        "as it prints none; a tolerance in standard errors takes both.",
    ]


def _plus_minus(error: float, digits: int) -> str:
    return "" if np.isnan(error) else f" ± {error:.{digits}f}"


def _digits(published: float) -> int:
    """Return as many decimals as the paper prints, and one more."""
    _, _, decimals = f"{published:g}".partition(".")
    return len(decimals) + 1


def _brief(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
