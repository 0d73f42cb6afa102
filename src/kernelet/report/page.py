"""The demo as one page: texts, figures, code and data in a single file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from kernelet._hooks import hooks
from kernelet.export.documents import script_json
from kernelet.export.javascript import runtime
from kernelet.machine.texts import visible
from kernelet.report.comparison import Compared, Measured
from kernelet.report.digits import digits_document
from kernelet.report.documents import document_list
from kernelet.report.headline import Headline, headline

# In the order in which they are one script; that of the exporter comes first.
_SCRIPTS = ("common.js", "frontier.js", "ink.js", "vectors.js", "digit.js", "board.js", "main.js")
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
    folder : Path or None
        Where the page will be: it leads to documents that are there.
    """

    compared: Sequence[Compared]
    sizes: Sequence[int]
    examples: Sequence[Sequence[int]]
    board: Mapping[str, Any]
    facts: Mapping[str, Any]
    folder: Path | None = None


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
    figures = [entry.figures for entry in demo.compared]
    about = headline(figures, demo.facts["test_rows"])
    parts = {
        "title": _html(about.title),
        # a figure and its sign stay in one line
        "lead": _html(_lead(about)).replace(" %", "&nbsp;%"),
        "tiles": "".join(_tiles(about)),
        "board_rows": str(len(demo.board["points"])),
        "data": _html(_data_text(demo.facts)),
        "table": figures_table(figures),
        "remarks": "Times are those of one thread, of predictions in batches. No fit time includes "
        "the compilation of the training loops, which comes once.",
        "documents": document_list(demo.folder),
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


def figures_table(models: Sequence[Measured]) -> str:
    """The figures as a table of HTML, which needs no JavaScript."""
    head = "".join(f'<th scope="col">{_html(heading)}</th>' for heading in HEADINGS)
    rows = "".join(_row(model, place == 0) for place, model in enumerate(models))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(model: Measured, is_full: bool) -> str:
    name, *figures = model.cells
    kind = ' class="full"' if is_full else ""
    data = "".join(f"<td>{figure}</td>" for figure in figures)
    # on a phone a long name may go on in the next line at a capital
    broken = re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", _html(name))
    return f'<tr{kind}><th scope="row">{broken}</th>{data}</tr>'


def _lead(about: Headline) -> str:
    return (
        f"On handwritten digits, {about.small.method} with {about.small.vectors} vectors needs "
        f"{about.fewer} times fewer kernel values a row than the full support vector machine. "
        f"{about.verdict}."
    )


def _tiles(about: Headline) -> list[str]:
    def tile(name: str, value: str, before: str) -> str:
        texts = (_html(name), _html(value), _html(before))
        return "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>".format(*texts)

    svm, small = about.svm, about.small
    times = (svm.shown_microseconds, small.shown_microseconds)
    return [
        tile("vectors", str(small.vectors), f"in place of {svm.vectors}"),
        tile("faster", f"{about.faster} ×", "{1:.2f} µs a row, not {0:.2f}".format(*times)),
        tile(
            "smaller",
            f"{about.smaller} ×",
            f"{small.model_bytes:,} bytes, not {svm.model_bytes:,}",
        ),
        tile("test error", f"{small.percent_wrong:.1f} %", f"the SVM: {svm.percent_wrong:.1f} %"),
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
