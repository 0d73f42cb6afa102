"""Names, labels and files of any content on the command line: nothing of it reaches a terminal."""

import csv
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from command_line import Called
from hostile_texts import FORGED, INJECTED
from kernelet.cli import errors, main, progress
from kernelet.cli import output as tables
from kernelet.cli.output import Output
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table

LABELS = [FORGED, "[link=https://example.org]b[/link]\r", "c\u2028d"]
NUMBER, TEXT = INJECTED, "colour\x1b]0;owned\a[red]"
MODEL = "model\x1b[2K.kernelet"
FIT = ("-t", "y\x1b[8m", "-m", "3", "--C", "10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    code = np.arange(60) % 3
    pd.DataFrame(
        {
            NUMBER: code + rng.normal(size=60) / 5,
            TEXT: np.array(["\x1b[31mred", "blue\u202e", "green"])[rng.integers(0, 3, 60)],
            "y\x1b[8m": np.array(LABELS)[code],
        }
    ).to_csv(folder / "table\x9b.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    return folder


@pytest.fixture
def call(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)

    def call(*arguments, code=0):
        try:
            found = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            found = stopped.code
        called = Called(found, *capsys.readouterr())
        assert called.code == code, called.err
        return called

    return call


@pytest.fixture
def fitted(call, folder):
    if not (folder / MODEL).exists():
        call("fit", "table\x9b.csv", *FIT, "-o", MODEL)


def assert_shown(*texts):
    """Lines of printable characters, none of which the hostile texts have begun."""
    for text in texts:
        lines = text.split("\n")
        assert all(line.isprintable() for line in lines), text
        assert not any(line.startswith("kernelet info: all is well") for line in lines)


def test_every_command_shows_what_there_is(call, fitted, folder):
    said = call("info", MODEL)
    assert_shown(said.out)
    assert "red\\x1b[31m\\nkernelet info: all is well\\r\\u202eabc" in said.out
    assert "*\\\\r/int evil(void){return 42;}" in said.out
    assert "y\\x1b[8m" in said.out and "model\\x1b[2K.kernelet" in said.out
    for arguments in (
        ("fit", "table\x9b.csv", *FIT, "-o", "again\x1b.kernelet", "--holdout", "0.3"),
        ("evaluate", MODEL, "table\x9b.csv"),
        ("compress", MODEL, "-m", "2", "-o", "small\x1b.kernelet", "--table", "table\x9b.csv"),
        ("frontier", "table\x9b.csv", *FIT[:2], "--budgets", "2", "--folds", "2", "--no-svm"),
        ("export", MODEL, "-o", "out\x1b.json"),
    ):
        said = call(*arguments)
        assert_shown(said.out, said.err)
        assert said.out
    assert "[link=https://example.org]b[/link]" in call("evaluate", MODEL, "table\x9b.csv").out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("info", "no\x1b[31m\nfile.kernelet"), 4),
        (("fit", "table\x9b.csv", "-t", "z\x1b[31m", "-o", "x.kernelet"), 3),
        (("fit", "table\x9b.csv", "-t", "y\x1b[8m", "--drop", NUMBER, "-m", "900", "-o", "x"), 2),
        (("export", MODEL, "-o", 'bad"name.c'), 4),
        (("export", MODEL, "-o", "folder\x1b[1m/x.c"), 5),
        (("predict", MODEL, "one column.csv"), 3),
        (("predict", MODEL, "half a line.csv"), 3),
        (("info", MODEL, "more\x1b[31m"), 2),
        (("predict", MODEL, "one column.csv", "--debug"), 3),
    ],
)
def test_errors_quote_nothing_raw(call, fitted, folder, arguments, code):
    (folder / "one column.csv").write_text('"\x1b[31mred\nforged",b\n1,2\n')
    (folder / "half a line.csv").write_bytes(b"a\rb,c\n1,2\n")
    said = call(*arguments, code=code)
    assert_shown(said.out, said.err)
    assert said.err


def test_tables_on_a_terminal_take_no_markup(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")  # no colours
    tables.print_table(["[red]name[/red]", ":smile:"], [["[bold]x[/bold]\x1b[2J", "[/]"]])
    shown = capsys.readouterr().out
    assert "─" in shown and "\x1b" not in shown
    for text in ("[red]name[/red]", ":smile:", "[bold]x[/bold]\\x1b[2J", "[/]"):
        assert text in shown


def test_bars_take_no_markup(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for name in ("rich", "no rich"):
        if name == "no rich":
            monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
        source = Source("[red]a[/red]\x1b[2J", "csv")
        with progress.rows_bar(Output("predict"), source) as done:
            done(Table("a.csv", {"x": np.ones(3)}))
        shown = capsys.readouterr().err
        assert "[red]a[/red]\\x1b[2J" in shown and "\x1b[2J" not in shown


def test_what_programs_read_is_as_it_was(call, fitted, folder):
    said = call("predict", MODEL, "table\x9b.csv", "--keep", TEXT)
    heading, *rows = csv.reader(io.StringIO(said.out, newline=""))
    assert heading == [TEXT, "prediction"] and len(rows) == 60
    assert {label for _, label in rows} == set(LABELS)
    call("predict", MODEL, "table\x9b.csv", "-o", "out.csv", "--scores")
    with open(folder / "out.csv", newline="", encoding="utf-8") as stream:
        heading, *rows = csv.reader(stream)
    assert set(heading) == {"prediction", *(f"score_{label}" for label in LABELS)}
    assert {row[0] for row in rows} == set(LABELS)
    said = call("predict", MODEL, "table\x9b.csv", "--json")
    found = [row["prediction"] for row in said.document["predictions"]]
    assert set(found) == set(LABELS)
    assert set(call("info", MODEL, "--json").document["classes"]) == set(LABELS)
    assert json.loads(call("evaluate", MODEL, "table\x9b.csv", "--json").out)["classes"]


def test_lists_of_names_are_quoted():
    assert errors.listed([FORGED]).isprintable()
