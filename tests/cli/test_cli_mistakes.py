"""All mistakes of a command line are reported together, and each says what to do."""

from __future__ import annotations

import pytest

from command_line import Called, kernelet, write_flowers
from kernelet.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    write_flowers(folder)
    return folder


@pytest.fixture
def call(folder, capsys, monkeypatch):
    def call(*words):
        monkeypatch.chdir(folder)
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # of argparse
            code = end.code
        return Called(code, *capsys.readouterr())

    return call


def test_the_real_command(folder):
    """Values, names, missing options, a folder and a file that do not exist: one answer."""
    words = "fit trian.csv --vectors 0 --holdout 2 --methd svc --only a --drop b -o no/x.kernelet"
    done = kernelet(*words.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    usage, heading, *mistakes = done.stderr.splitlines()
    assert usage.startswith("usage: kernelet fit TABLE")
    assert heading == "kernelet fit: 6 mistakes in this command line"
    expected = [
        "argument -m/--vectors: must be a whole number of at least 1, got '0'",
        "argument --holdout: must be a number between 0 and 1, got '2'",
        "unrecognized arguments: --methd svc; do you mean --method?",
        "the folder no does not exist",
        "say --only or --drop, not both",
        "trian.csv does not exist; do you mean train.csv?",
    ]
    for line, text in zip(mistakes, expected, strict=True):
        assert line.startswith("  " + text)


def test_a_missing_output_is_no_mistake(call):
    done = call("fit", "train.csv", "--bits", "1", "--folds", "0")
    assert "-o" not in done.err.split() and "--output" not in done.err
    assert [line.split(":")[0].strip() for line in done.err.splitlines()[2:]] == [
        "argument --bits",
        "argument --folds",
        "say which column holds the classes or numbers",
    ]


def test_a_missing_table_is_one_among_others(call):
    done = call("fit", "--bits", "1", "--test", "none.csv", "--holdout", "0.2")
    assert done.code == 2
    assert [line.strip() for line in done.err.splitlines()[2:]] == [
        "argument --bits: must be numbers of bits from 2 to 16 between commas, or float32; got '1'",
        "the following arguments are required: TABLE",
        "say --test or --holdout, not both",
        "none.csv does not exist; do you mean test.csv?",
    ]


def test_mistakes_of_options_that_cannot_be_read_are_not_guessed(call):
    """Whether --probabilities has rows of their own depends on a --holdout that is unknown."""
    done = call("fit", "train.csv", "-t", "species", "-m", 3, "--holdout", "x", "--probabilities")
    assert done.code == 2
    _, line = done.err.splitlines()
    assert line.startswith("kernelet fit: error: argument --holdout: must be a number between")


def test_an_option_without_its_value(call):
    done = call("fit", "train.csv", "-t", "species", "--bits", "1", "--kernel")
    assert [line.strip() for line in done.err.splitlines()[2:]] == [
        "argument --bits: must be numbers of bits from 2 to 16 between commas, or float32; got '1'",
        "argument --kernel: expected one argument",
    ]


def test_every_parameter_that_a_method_lacks(call):
    words = ("--method", "reduced-svc", "--max-iter", 3, "--param", "nit=3", "--param", "tol")
    done = call("fit", "train.csv", "-t", "species", *words)
    assert done.code == 2
    assert [line.strip() for line in done.err.splitlines()] == [
        "kernelet fit: 3 mistakes in this command line",
        "--max-iter means nothing to --method reduced-svc; leave it out",
        "--method reduced-svc has no parameter 'nit'; do you mean init?",
        "--param tol should be NAME=VALUE",
    ]


def test_names_from_anywhere_are_shown_on_a_line_each(call):
    done = call("fit", "a\n\x1b[2Kb.csv", "-o", "no/x\nforged: line.kernelet")
    assert len(done.err.splitlines()) == 3
    assert "\x1b" not in done.err and r"\x1b[2K" in done.err


@pytest.mark.parametrize(
    ("words", "n_mistakes", "texts"),
    [
        (
            ("predict", "none.kernelet", "none.csv", "-o", "no/p.csv"),
            3,
            ["the folder no", "none.csv", "none.kernelet"],
        ),
        (("evaluate", "none.kernelet", "none.csv"), 2, ["none.csv", "none.kernelet"]),
        (
            ("compress", "none.kernelet", "--refit", "margin", "--seed", "-1"),
            4,
            ["argument --seed", "required: -m/--vectors", "--table TABLE", "none.kernelet"],
        ),
        (
            ("export", "none.kernelet", "--dtype", "q16", "-o", "no/m.c"),
            3,
            ["q16 is not for c; say one of float32, float64, q15, q7", "the folder no", "none.ker"],
        ),
        (
            ("frontier", "none.csv", "--folds", 1, "--method", "svc", "--csv", "no/f.csv"),
            4,
            ["the folder no", "--folds must be at least 2", "chooses its number", "none.csv"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_other_commands(words, n_mistakes, texts, call):
    done = call(*words)
    assert done.code == 2
    assert f"kernelet {words[0]}: {n_mistakes} mistakes in this command line" in done.err
    lines = [line for line in done.err.splitlines() if line.startswith("  ")]
    for line, text in zip(lines, texts, strict=True):
        assert text in line


def test_mistakes_of_one_kind_have_its_exit_code(call):
    done = call("predict", "none.kernelet", "train.csv", "-o", "no/p.csv")
    assert done.code == 2  # 4 and 5: the command line is what is wrong with both
    outputs = ("--csv", "no/a.csv", "-o", "neither/b.kernelet")
    done = call("frontier", "train.csv", "-t", "species", *outputs)
    assert done.code == 5 and "kernelet frontier: 2 mistakes" in done.err


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        ("predict kept.kernelet train.csv -o train.csv", "train.csv is the table"),
        ("predict kept.kernelet train.csv -o kept.kernelet", "kept.kernelet is the model"),
        ("compress kept.kernelet -m 2 --table rest.csv -o rest.csv", "rest.csv is the table"),
        ("frontier train.csv -t species --csv ./train.csv", "./train.csv is the table"),
        ("fit train.csv -t species -m 3 --test rest.csv -o rest.csv", "rest.csv is the table for"),
    ],
)
def test_what_is_read_is_not_overwritten(words, lost, call, folder):
    text = (folder / "train.csv").read_text()
    (folder / "rest.csv").write_text(text)
    call("fit", "train.csv", "-t", "species", "-m", 3, "-o", "kept.kernelet", "--max-iter", 3)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = call(*words.split())
    assert done.code == 2
    assert lost in done.err and "would be lost; choose another file" in done.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_budget_in_bytes_counts_one_type(call):
    words = "fit train.csv -t species --max-bytes 300 --dtype float64 -o m.c"
    done = call(*words.split())
    assert done.code == 2
    assert "--max-bytes counts the integers of q7" in done.err and "leave --dtype out" in done.err
