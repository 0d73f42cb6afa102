"""Tables that a command writes into our documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as command_line
from benchmarks.results_blocks import BLOCK, TABLES, Column, QuotedTable, quote
from benchmarks.results_quoted import documents

START, END = "<!-- figures: tiny (a command) -->", "<!-- end of figures -->"
EMPTY = f"Before.\n{START}\n{END}\nAfter.\n"
WRITTEN = f"""Before.
{START}
| data   | error  | both       |
|--------|--------|------------|
| Banana | 12.3 % | 12.30 (40) |
| O      | 20.0 % | 20.00 (7)  |
{END}
After.
"""
TINY = QuotedTable(
    heading="data",
    rows={"Banana": "banana", "O": "other"},
    file="x.csv",
    columns=(
        Column("error", "{error:.1f} %", "dataset={row} C=1"),
        Column("both", "{error:.2f} ({n_vectors:.0f})", "dataset={row}"),
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "dataset,C,error,n_vectors\nbanana,1,12.0,39\nbanana,1,12.6,41\nother,1,20.0,7\n"
    (tmp_path / "x.csv").write_text(lines, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", [EMPTY, WRITTEN, EMPTY.replace(END, f"| stale |\n{END}")])
def test_a_table_is_written_between_its_markers(text: str, folder: Path) -> None:
    assert quote(text, {"tiny": TINY}, folder) == WRITTEN


def test_an_indented_marker_is_an_example() -> None:
    assert quote(f"    {START}\n", {}) == f"    {START}\n"


def test_a_block_that_cannot_be_written_is_an_error(folder: Path) -> None:
    with pytest.raises(ValueError, match="no table is named 'tiny'"):
        quote(EMPTY, {}, folder)
    with pytest.raises(ValueError, match="has no line '<!-- end of figures -->'"):
        quote(f"{START}\n{EMPTY}", {"tiny": TINY}, folder)
    lacking = replace(TINY, rows={"None": "none"})
    with pytest.raises(ValueError, match=r"no line of x\.csv has error for dataset=none C=1"):
        quote(EMPTY, {"tiny": lacking}, folder)


def test_the_tables_in_our_documents_are_up_to_date() -> None:
    quoted = set()
    for path in documents():
        text = path.read_text(encoding="utf-8")
        assert quote(text) == text, f"{path.name}: run python -m benchmarks quote"
        quoted |= {block["name"] for block in BLOCK.finditer(text)}
    assert quoted == set(TABLES)


def test_the_command_writes_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figures: accuracy -->\n{END}\n", encoding="utf-8")
    monkeypatch.setattr(command_line, "documents", lambda: [page])
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    for printed in ("page.md: written\n", ""):
        assert command_line.main(["quote"]) == 0
        assert capsys.readouterr().out == printed
    assert "| usps " in page.read_text(encoding="utf-8")
