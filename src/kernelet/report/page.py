"""The demo as one page: texts, figures, code and data in a single file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from kernelet._hooks import hooks
from kernelet.export.documents import script_json
from kernelet.export.javascript import runtime
from kernelet.machine.texts import visible
from kernelet.report.comparison import Compared, Measured
from kernelet.report.digits import digits_document

# In the order in which they are one script; that of the exporter comes first.
_SCRIPTS = ("common.js", "frontier.js", "vectors.js", "digit.js", "board.js", "main.js")
HEADINGS = (
    "model",
    "test error",
    "vectors",
    "kernel values per row",
    "microseconds per row",
    "bytes",
    "fit, seconds",
)


@dataclass(frozen=True, eq=False)
class Demo:
    """What the page is made of.

    Attributes
    ----------
    compared : list of Compared
        On the digits, the full SVM first.
    sizes : sequence of int
        Numbers of vectors that were asked for.
    examples : sequence of 64 pixels
        Test rows to begin with, as whole numbers from 0 to 16.
    board : dict
        As `board_document` makes it.
    facts : dict
        Of the data: "train_rows", "test_rows", "columns", "kernel", "C".
    """

    compared: Sequence[Compared]
    sizes: Sequence[int]
    examples: Sequence[Sequence[int]]
    board: Mapping[str, Any]
    facts: Mapping[str, Any]


def demo_page(demo: Demo) -> str:
    """The text of the page.

    Parameters
    ----------
    demo : Demo

    Returns
    -------
    str
        A document of HTML. Its content security policy allows its own style and script and
        nothing else, so that no browser loads anything for it.
    """
    style = _asset("page.css")
    script = "\n".join(["", runtime(), *map(_asset, _SCRIPTS)])
    svm, best = demo.compared[0].figures, best_small([entry.figures for entry in demo.compared])
    parts = {
        "title": _html(f"{best.vectors} vectors do the work of {svm.vectors}"),
        "lead": _html(_lead(svm, best)),
        "tiles": "".join(_tiles(svm, best)),
        "board_rows": str(len(demo.board["points"])),
        "data": _html(_data_text(demo.facts)),
        "table": figures_table([entry.figures for entry in demo.compared]),
        "remarks": "Times are those of one thread, of predictions in batches. No fit time includes "
        "the compilation of the training loops, which comes once.",
        "version": _html(hooks.version),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "document": script_json(page_document(demo), allow_nan=False, separators=(",", ":")),
    }
    # one pass, so that what is put in is not searched again
    return re.sub(r"@@(\w+)@@", lambda found: parts[found.group(1)], _asset("page.html"))


def page_document(demo: Demo) -> dict[str, Any]:
    """The data that the page's code reads."""
    return {
        **digits_document(demo.compared, demo.sizes, demo.examples),
        "test_rows": demo.facts["test_rows"],
        "board": demo.board,
    }


def best_small(models: Sequence[Measured]) -> Measured:
    """The machine that the page is about: the fewest vectors within a point of the SVM's error.

    Where there is none, the one with the least error.
    """
    svm, *small = models
    near = [model for model in small if model.test_error <= svm.test_error + 0.01]
    if near:
        return min(near, key=lambda model: (model.vectors, model.test_error))
    return min(small, key=lambda model: (model.test_error, model.vectors))


def figures_table(models: Sequence[Measured]) -> str:
    """The figures as a table of HTML, which needs no JavaScript."""
    head = "".join(f'<th scope="col">{_html(heading)}</th>' for heading in HEADINGS)
    rows = "".join(_row(model, place == 0) for place, model in enumerate(models))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(model: Measured, is_full: bool) -> str:
    name, *figures = model.cells
    kind = ' class="full"' if is_full else ""
    data = "".join(f"<td>{figure}</td>" for figure in figures)
    return f'<tr{kind}><th scope="row">{_html(name)}</th>{data}</tr>'


def _lead(svm: Measured, best: Measured) -> str:
    points = 100 * (best.test_error - svm.test_error)
    # less than 0.05 would be printed as 0.0
    cost = "at the same error" if abs(points) < 0.05 else f"for {points:+.1f} points of error"
    return (
        f"On handwritten digits, {best.method} with {best.vectors} vectors needs "
        f"{svm.vectors / best.vectors:.0f} times fewer kernel values a row than the full support "
        f"vector machine, {cost}. Everything on this page was trained by one command."
    )


def _tiles(svm: Measured, best: Measured) -> list[str]:
    def tile(name: str, value: str, before: str) -> str:
        texts = (_html(name), _html(value), _html(before))
        return "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>".format(*texts)

    speed = svm.microseconds_per_row / best.microseconds_per_row
    size = svm.model_bytes / best.model_bytes
    return [
        tile("vectors", best.cells[2], f"in place of {svm.vectors}"),
        tile("faster", f"{speed:.0f} times", f"{best.microseconds_per_row:.2f} µs a row"),
        tile("smaller", f"{size:.0f} times", f"{best.model_bytes / 1000:.1f} kB"),
        tile("test error", best.cells[1], f"full SVM: {svm.cells[1]}"),
    ]


def _data_text(facts: Mapping[str, Any]) -> str:
    return (
        f"scikit-learn's digits: {facts['train_rows']} rows to train, {facts['test_rows']} to "
        f"test, {facts['columns']} pixels, 10 classes. Kernel: {facts['kernel']}; C = "
        f"{facts['C']:g}."
    )


def _html(text: str) -> str:
    """A text in HTML, escaped and with visible characters only."""
    return escape(visible(text))


def _asset(name: str) -> str:
    folder = importlib.resources.files("kernelet.report").joinpath("assets")
    return folder.joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
