"""Tables of figures in documents, written from our csv files.

A document marks the place of a table by its name::

    <!-- figures: accuracy (python -m benchmarks quote) -->
    <!-- end of figures -->

``TABLES`` describes the table, ``python -m benchmarks quote`` writes it between the two lines, and
a test compares every document with what would be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.hardening.tables import CampaignTable
from benchmarks.results import FOLDER
from benchmarks.results_quoted import values_of

START = re.compile(r"^<!-- figures: ", re.MULTILINE)
BLOCK = re.compile(
    r"^(?P<start><!-- figures: (?P<name>[\w-]+)[^\n]*-->\n)"
    r"(?P<table>.*?)"
    r"^(?P<end><!-- end of figures -->)$",
    re.MULTILINE | re.DOTALL,
)


class FigureTable(Protocol):
    """What stands between two marks."""

    def lines(self, folder: Path = FOLDER) -> list[list[str]]:
        """Return the cells, the headings in the first line."""
        ...


@dataclass(frozen=True)
class Column:
    """A column: its heading, the form of a cell, and the lines of the csv that it averages.

    ``"{error:.1f} % ({n_vectors:.0f})"`` is a cell of two means.
    """

    heading: str
    cell: str
    filters: str


@dataclass(frozen=True)
class QuotedTable:
    """A table with one row for each data set.

    ``rows`` maps the first cell of a row to a data set; ``{row}`` in ``file`` and in the filters of
    the columns is replaced by it.
    """

    heading: str
    rows: Mapping[str, str]
    file: str
    columns: tuple[Column, ...]

    def lines(self, folder: Path = FOLDER) -> list[list[str]]:
        """Return the cells, the headings in the first line."""
        lines = [[self.heading, *(column.heading for column in self.columns)]]
        for label, row in self.rows.items():
            file = self.file.format(row=row)
            means = [_Means(file, c.filters.format(row=row), folder) for c in self.columns]
            cells = [c.cell.format_map(m) for c, m in zip(self.columns, means, strict=True)]
            lines.append([label, *cells])
        return lines


class _Means(dict[str, float]):
    """Figure -> its mean over the lines of a csv that fit; read when a cell asks for it."""

    def __init__(self, file: str, filters: str, folder: Path) -> None:
        super().__init__()
        self._source = (file, filters.split(), folder)

    def __missing__(self, figure: str) -> float:
        file, filters, folder = self._source
        values = values_of(file, figure, filters, folder)
        if not values:
            raise ValueError(f"no line of {file} has {figure} for {' '.join(filters)}")
        return float(np.mean(values))


SPARSE_SVC = "method=sparse_svc budget={}"
NYSTROEM = "method=nystroem_kmeans budget={}"

# Of the frontier of bytes.
SMALL = "method={} budget={}"
SMALL_COLUMNS = {
    "SparseSVC": "sparse_svc_bytes",
    "network": "network",
    "ProtoNN": "protonn",
    "Nyström": "nystroem",
    "boosting": "boosting",
    "forest": "forest",
    "tree": "tree",
}


SIX_SETS = ("optdigits", "pendigits", "satimage", "usps", "letter", "mnist")


def small_table(kilobytes: int, *datasets: str) -> QuotedTable:
    """Errors of small models at a number of kilobytes."""
    return QuotedTable(
        heading=f"{kilobytes} kB",
        rows={name: name for name in datasets},
        file="bytes_{row}.csv",
        columns=(
            *(
                Column(heading, "{error:.1f} %", SMALL.format(method, kilobytes))
                for heading, method in SMALL_COLUMNS.items()
            ),
            # it has one size, which is shown
            Column("linear (bytes)", "{error:.1f} % ({n_bytes:.0f})", "method=linear"),
        ),
    )


# What C is made of: templates, and the kernel's formula.
GENERATED = (
    *("answers.c", "batch.c", "category.c", "compact.c", "compact_quantize.c", "encode.c"),
    *("fixed.c", "float.c", "kernel.py", "power.c", "project.c", "rounded.c"),
)
# Of the labels that exports give: what each is called, and its line for a set.
EXPORTS = {
    "C, `float64`": "machine=float format=c dtype=float64",
    "C, `float32`": "machine=float format=c dtype=float32",
    "C, `q15`": "machine=float format=c dtype=q15",
    "C, `q7`": "machine=few_bits format=c",
    "ONNX, `float64`": "machine=float format=onnx dtype=float64",
    "ONNX, `float32`": "machine=float format=onnx dtype=float32",
    "ONNX, 4 bits": "machine=few_bits format=onnx",
    "JavaScript": "machine=float format=javascript",
    "JavaScript, 4 bits": "machine=few_bits format=javascript",
    "JSON": "machine=float format=json",
    "JSON, 4 bits": "machine=few_bits format=json",
    "model file": "machine=float format=file",
    "model file, 4 bits": "machine=few_bits format=file",
}


TABLES: Mapping[str, FigureTable] = {
    "accuracy": QuotedTable(
        heading="data",
        rows={name: name for name in ("usps", "optdigits", "pendigits", "satimage", "letter")},
        file="frontier_{row}.csv",
        columns=(
            Column("SparseSVC, 20", "{error:.1f} %", SPARSE_SVC.format(20)),
            Column("Nyström, 20", "{error:.1f} %", NYSTROEM.format(20)),
            Column("SparseSVC, 50", "{error:.1f} %", SPARSE_SVC.format(50)),
            Column("Nyström, 50", "{error:.1f} %", NYSTROEM.format(50)),
            Column("Nyström, 200", "{error:.1f} %", NYSTROEM.format(200)),
            Column("full SVM", "{error:.1f} % ({n_vectors:.0f})", "method=svc_ovr"),
        ),
    ),
    "bytes-two-classes": small_table(
        1, "banana", "breast_cancer", "german", "image", "titanic", "waveform"
    ),
    "bytes-2": small_table(2, "optdigits", "pendigits", "satimage", "usps", "letter"),
    "bytes-8": small_table(8, *SIX_SETS),
    "bytes-32": small_table(32, *SIX_SETS),
    "exports": QuotedTable(
        heading="export",
        rows=EXPORTS,
        file="exports/mismatches.csv",
        columns=tuple(
            Column(name, "{mismatches:.0f} ({of_test:.0f})", f"dataset={name} {{row}}")
            for name in ("usps", "optdigits", "pendigits", "satimage", "letter", "mnist")
        ),
    ),
    "generated-c": QuotedTable(
        heading="template",
        rows={f"`{name}`": name for name in GENERATED},
        file="hardening/generated_c.csv",
        columns=(
            Column("branches", "{branches:.0f}", "template={row}"),
            Column("taken", "{taken:.0f}", "template={row}"),
            Column("lines with a reason", "{explained:.0f}", "template={row}"),
            Column("without", "{unexplained:.0f}", "template={row}"),
        ),
    ),
    "campaigns": CampaignTable(),
    "campaign-fits": CampaignTable(("fits",), by_group=True),
}


def render(lines: list[list[str]]) -> str:
    """Return a table in Markdown with columns of equal width, which reads well as plain text."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    headings, *rows = (
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |\n"
        for line in lines
    )
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|\n"
    return "".join([headings, rule, *rows])


def quote(text: str, tables: Mapping[str, FigureTable] = TABLES, folder: Path = FOLDER) -> str:
    """Return a document with its tables as the csv files have them."""

    def written(block: re.Match[str]) -> str:
        if block["name"] not in tables:
            raise ValueError(f"no table is named {block['name']!r}; known are {', '.join(tables)}")
        return block["start"] + render(tables[block["name"]].lines(folder)) + block["end"]

    if len(START.findall(text)) != len(BLOCK.findall(text)):
        raise ValueError("a table has no line '<!-- end of figures -->'")
    return BLOCK.sub(written, text)
