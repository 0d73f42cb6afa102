"""Names and labels in what people look at: the page of the demo, notebooks, the terminal."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import kernelet
from kernelet.cli import main
from kernelet.report.comparison import Compared, Measured
from kernelet.report.page import Demo, demo_page
from tests.hostile_texts import named, of_table


class _Elements(HTMLParser):
    """Tags with their attributes in order, and the data of each element that has an id or type."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[Any] = []
        self.data: dict[str, str] = {}
        self._key = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self._key = dict(attrs).get("id") or dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append("a comment")

    def handle_data(self, data: str) -> None:
        self.data[self._key] = self.data.get(self._key, "") + data


def _page(texts: Sequence[str]) -> str:
    """The demo's page of models whose names and labels are these."""
    model, _, _ = named([f"f{place}" for place in range(4)], texts[:20])
    compared = [
        Compared(Measured(text, text, 4, 0.1, 4 + place, 4, 1.0, 100, 1.0), model)
        for place, text in enumerate(texts[20:24])
    ]
    methods = [{"name": text, "summary": text, "machines": []} for text in texts[24:40]]
    board = {"points": [[0, 0]], "labels": list(texts[40:60]), "side": 4, "methods": methods}
    facts = {"train_rows": 1, "test_rows": 10, "columns": 4, "kernel": texts[60], "C": 1.0}
    return demo_page(Demo(compared, [4], [[0] * 4], board, facts))


def in_html(texts: Sequence[str], folder: Path, number: int) -> None:
    """The elements are those of harmless texts, and the data in the page are the texts."""
    text = _page(texts)
    text.encode()  # a page is written in UTF-8
    found = _Elements(text)
    harmless = _Elements(_page([f"t{place}" for place in range(len(texts))]))
    tags = [[tag for tag in page.tags if tag not in (("wbr", []),)] for page in (found, harmless)]
    assert tags[0] == tags[1]
    document = json.loads(found.data["data"])
    assert document["classes"] == list(texts[:20])
    assert document["board"]["labels"] == list(texts[40:60])
    assert [entry["model"] for entry in document["models"]] == list(texts[20:24])
    assert all(character.isprintable() or character == "\n" for character in text)


def in_terminal(texts: Sequence[str], folder: Path, number: int) -> None:
    """Lines of commands are printable and none is forged; JSON and csv hold the texts."""
    model = of_table(texts[:10], {texts[10]: texts[11:40]}, texts[40:60])
    path, table = folder / "model.kernelet", folder / "table.csv"
    kernelet.save(model, path)
    rows = [[*np.arange(10.0).tolist(), text] for text in texts[11:40]]
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow([*texts[:11], texts[60]])
        writer.writerows([*row, texts[40 + place % 20]] for place, row in enumerate(rows))
    shown = [_called("info", path), _called("evaluate", path, table, f"--target={texts[60]}")]
    for line in "\n".join(shown).split("\n"):
        assert line.isprintable() and not line.startswith("kernelet info: all is well"), line
    assert json.loads(_called("info", path, "--json"))["classes"] == list(texts[40:60])


def _called(*words: object) -> str:
    """What a command prints."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([str(word) for word in words])
    if code == 3:
        raise ValueError(error.getvalue().strip().replace("\n", " "))
    assert code == 0, error.getvalue()
    return out.getvalue() + ("" if "--json" in words else error.getvalue())
