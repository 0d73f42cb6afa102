"""Figures and tables of the site, read from the committed csv files while it is built.

``{figure}`frontier_usps.csv error method=sparse_svc budget=20` `` is the mean over the lines that
fit, and a link to the csv, which is part of the site; ``{paper-table}`` shows a published table
beside ours. Neither can be out of date, and one that has no line to stand on breaks the build.
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
from benchmarks.show import HEADINGS, OUTSIDE, compare
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
    """A published table, ours beside it."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "datasets": directives.unchanged,
        "methods": directives.unchanged,
        "figures": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        table = read_table(self.arguments[0])
        kept = {
            key: self.options[f"{key}s"].split() if f"{key}s" in self.options else None
            for key in ("dataset", "method", "figure")
        }
        comparisons = compare(table, table_ledger(table.name))
        lines = [
            comparison.cells()
            for comparison in (*comparisons, *summarise(table, comparisons))
            if comparison.values
            and (kept["dataset"] is None or comparison.row.dataset in kept["dataset"])
            and (kept["method"] is None or comparison.row.method in kept["method"])
            and (kept["figure"] is None or comparison.figure in kept["figure"])
        ]
        if not lines:
            raise self.error(f"no line of {table.name} is measured and fits")
        return [rendered(table, lines)]


def rendered(table: Table, lines: list[list[str]]) -> nodes.Node:
    """The lines as a table with a caption."""
    # a column that says nothing is left out
    columns = [j for j in range(len(HEADINGS)) if any(line[j] for line in lines)]
    caption = f"{table.title} ({table.paper}); python -m benchmarks show {table.name}"
    node = nodes.table("", nodes.title("", caption), classes=["paper-table"])
    group = nodes.tgroup("", cols=len(columns))
    node += group
    group += [nodes.colspec("", colwidth=1) for _ in columns]
    group += nodes.thead("", _row([HEADINGS[j] for j in columns]))
    body = nodes.tbody("")
    for line in lines:
        row = _row([line[j] for j in columns])
        if OUTSIDE in line[-1]:
            row["classes"].append("outside")
        body += row
    group += body
    return node


def _row(cells: list[str]) -> nodes.row:
    row = nodes.row("")
    for cell in cells:
        row += nodes.entry("", nodes.paragraph("", cell))
    return row


def copy_results(app: Sphinx, exception: Exception | None) -> None:
    """Make the csv files part of the site."""
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / PLACE
        target.mkdir(exist_ok=True)
        for path in FOLDER.glob("*.csv"):
            shutil.copy(path, target)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("figure", FigureRole(), override=True)
    app.add_directive("paper-table", PaperTable)
    app.connect("build-finished", copy_results)
    return {"parallel_read_safe": True}
