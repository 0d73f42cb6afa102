"""Figures and tables of the site, read from the committed csv files while it is built.

``{figure}`frontier_usps.csv error method=sparse_svc budget=20` `` is the mean over the lines that
fit, and a link to the csv, which is part of the site; ``{paper-table}`` shows a published table
next to ours. Neither can be out of date, and one without matching lines breaks the build.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.osutil import relative_uri

from benchmarks.results import FOLDER, table_ledger
from benchmarks.results_quoted import values_of
from benchmarks.runner_tables import Table, read_table
from benchmarks.show import HEADINGS, OUTSIDE, Comparison, compare
from benchmarks.show_summaries import summarise

PLACE = "results"  # of the csv files in the site


class FigureRole(SphinxRole):
    """A figure of ours; ``.2`` in front asks for two decimals."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            text, file, origin = figure(self.text)
        except ValueError as error:
            message = self.inliner.reporter.error(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        page = self.env.app.builder.get_target_uri(self.env.docname)
        uri = relative_uri(page, f"{PLACE}/{file}")
        link = nodes.reference(self.rawtext, text, refuri=uri, reftitle=origin, internal=True)
        link["classes"].append("figure-of-ours")
        return [link], []


def figure(text: str) -> tuple[str, str, str]:
    """The mean of a figure over the lines of a csv that fit, the csv, and words for both."""
    words = text.split()
    decimals = int(words.pop(0)[1:]) if words[0].startswith(".") else 1
    file, name, *filters = words
    values = values_of(file, name, filters)
    if not values:
        raise ValueError(f"no line of benchmarks/results/{file} has {name} for {filters}")
    lines = "1 line" if len(values) == 1 else f"mean of {len(values)} lines"
    origin = f"{name}, {lines} of {file}: {' '.join(filters)}"
    return f"{np.mean(values):.{decimals}f}", file, origin


class PaperTable(SphinxDirective):
    """A published table next to ours.

    Line by line, or with ``:wide:`` a column for each method; ``:rows:`` then names parameters that
    distinguish lines, in addition to the data set.
    """

    required_arguments = 1
    # docutils wants a plain dict on the class
    option_spec = {  # noqa: RUF012
        "datasets": directives.unchanged,
        "methods": directives.unchanged,
        "figures": directives.unchanged,
        "wide": directives.flag,
        "rows": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        table = read_table(self.arguments[0])
        self.env.note_dependency(str(FOLDER / f"{table.name.replace('-', '_')}.csv"))
        comparisons = compare(table, table_ledger(table.name))
        kept = [c for c in (*comparisons, *summarise(table, comparisons)) if self._is_asked_for(c)]
        if not kept:
            raise self.error(f"no line of {table.name} is measured and fits")
        if "wide" in self.options:
            single = [comparison for comparison in kept if comparison in comparisons]
            return wide(table, single, self.options.get("rows", "").split())
        return long(table, [comparison.cells() for comparison in kept])

    def _is_asked_for(self, comparison: Comparison) -> bool:
        row = comparison.row
        own = {"datasets": row.dataset, "methods": row.method, "figures": comparison.figure}
        return bool(comparison.values) and all(
            value in self.options[key].split() for key, value in own.items() if key in self.options
        )


def long(table: Table, lines: list[list[str]]) -> list[nodes.Node]:
    """A line for each figure."""
    # a column that says nothing is left out
    columns = [j for j in range(len(HEADINGS)) if any(line[j] for line in lines)]
    rows = []
    for line in lines:
        row = _row([line[j] for j in columns])
        if OUTSIDE in line[-1]:
            row["classes"].append("outside")
        rows.append(row)
    return _table(table, [HEADINGS[j] for j in columns], rows)


def wide(table: Table, comparisons: list[Comparison], keys: list[str]) -> list[nodes.Node]:
    """A line for each data set, a column for each method: ours, and the paper's in brackets."""
    several = len({comparison.figure for comparison in comparisons}) > 1
    methods = list(dict.fromkeys(comparison.row.method for comparison in comparisons))
    labels = list(dict.fromkeys(_label(comparison, keys, several) for comparison in comparisons))
    # a method without the parameters, such as the full SVM, goes to all lines of its data set
    full = [label for label in labels if "" not in label]
    cells: dict[tuple[tuple[str, ...], str], Comparison] = {}
    for comparison in comparisons:
        own = _label(comparison, keys, several)
        fitting = [
            label
            for label in full
            if all(mine in ("", other) for mine, other in zip(own, label, strict=True))
        ]
        for label in fitting:
            cells.setdefault((label, comparison.row.method), comparison)
    headings = ["data set", *(["figure"] if several else []), *keys, *methods]
    rows = []
    for label in full:
        row = _row(list(label))
        for method in methods:
            entry = nodes.entry("", nodes.paragraph("", _cell(cells.get((label, method)))))
            if (label, method) in cells and cells[label, method].outside:
                entry["classes"].append("outside")
            row += entry
        rows.append(row)
    return _table(table, headings, rows)


def _label(comparison: Comparison, keys: list[str], several: bool) -> tuple[str, ...]:
    parameters = comparison.row.parameters
    values = [
        f"{parameters[key]:g}" if _is_number(parameters.get(key)) else str(parameters.get(key, ""))
        for key in keys
    ]
    return (comparison.row.dataset, *([comparison.figure] if several else []), *values)


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _cell(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    _, _, _, _, published, ours, _, _ = comparison.cells()
    return f"{ours} ({published})"


def _table(table: Table, headings: list[str], rows: list[nodes.row]) -> list[nodes.Node]:
    """A table, and above it what it shows and the command that prints it."""
    # not as its caption, which would be as wide as the table, and that wider than a page
    command = f"python -m benchmarks show {table.name}"
    above = nodes.paragraph("", f"{table.title} ({table.paper}; ", classes=["above-table"])
    above += [nodes.literal("", command), nodes.Text(")")]
    node = nodes.table("", classes=["paper-table"])
    group = nodes.tgroup("", cols=len(headings))
    node += group
    group += [nodes.colspec("", colwidth=1) for _ in headings]
    group += nodes.thead("", _row(headings))
    group += nodes.tbody("", *rows)
    return [above, node]


def _row(cells: list[str]) -> nodes.row:
    row = nodes.row("")
    for cell in cells:
        row += nodes.entry("", nodes.paragraph("", cell))
    return row


def copy_results(app: Sphinx, exception: Exception | None) -> None:
    """Make the csv files part of the site."""
    if exception is None and app.builder.format == "html":
        for path in FOLDER.rglob("*.csv"):
            target = Path(app.outdir) / PLACE / path.relative_to(FOLDER)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("figure", FigureRole(), override=True)
    app.add_directive("paper-table", PaperTable)
    app.connect("build-finished", copy_results)
    return {"parallel_read_safe": True}
