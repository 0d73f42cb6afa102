"""The command line: the demo's figures, its two forms of output, and how it fails."""

import json
import subprocess
import sys

import pytest

from documents import read
from kernelet.cli import demo, tables
from kernelet.cli.main import COMMANDS, build_parser, main


@pytest.fixture(scope="module")
def report():
    done = subprocess.run(
        [sys.executable, "-m", "kernelet", "demo", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_report_compares_the_svm_with_the_sizes_asked_for(report):
    svc, *small = report["models"]
    assert [model["vectors"] for model in small] == [20, 50, 20, 50]
    for model in small:
        assert model["kernel_values_per_row"] == model["vectors"]
        # vectors of 64 pixels, ten coefficients each, ten intercepts, in float64
        assert model["model_bytes"] == 8 * (model["vectors"] * (64 + 10) + 10)
        assert model["model_bytes"] < svc["model_bytes"] / 5
        assert model["microseconds_per_row"] > 0
        assert model["fit_seconds"] > 0
    assert report["kernel"]["name"] == "rbf"


def test_demo_is_worth_showing(report):
    """More vectors, fewer errors; learned vectors beat centres; the SVM's accuracy is in reach."""
    svc, few, more, few_learned, more_learned = (m["test_error"] for m in report["models"])
    assert svc < more < few < 0.08
    assert few_learned < few / 2
    assert more_learned < min(more / 2, svc + 0.006)


def test_readme_quotes_the_demo(report):
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in read("README.md").splitlines()
        if line.startswith(("| SVC of scikit-learn |", "| k-means + SVM, ", "| SparseSVC, "))
    ]
    assert len(rows) == len(report["models"])
    for (name, error, vectors, size), model in zip(rows, report["models"], strict=True):
        assert name == model["model"]
        # Another version of a library may move a few of the 600 test rows.
        assert float(error.removesuffix(" %")) == pytest.approx(100 * model["test_error"], abs=0.5)
        assert int(vectors) == pytest.approx(model["vectors"], rel=0.02)
        assert int(size) == pytest.approx(model["model_bytes"], rel=0.02)


def test_table_without_a_terminal_is_plain(capsys):
    assert main(["demo", "--vectors", "7"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert "SparseSVC, 7 " in out
    assert "7 vectors in place of" in out
    assert max(map(len, out.splitlines())) <= 80


def test_table_on_a_terminal_with_and_without_rich(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    tables.print_table(["model", "error"], [["a", "1"]])
    assert "─" in capsys.readouterr().out
    monkeypatch.setattr(tables.importlib.util, "find_spec", lambda name: None)
    tables.print_table(["model", "error"], [["a", "1"]])
    assert capsys.readouterr().out == "model  error\n-----  -----\na          1\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["demo", "--vectors", "0"], "--vectors must lie between 1 and the 1197 training rows"),
        (["demo", "--vectors", "5000"], "--vectors must lie between 1 and the 1197 training rows"),
        (["demo", "--seed", "-1"], "--seed must lie between 0 and 4294967295"),
    ],
)
def test_failure_is_one_line_and_exit_code_1(arguments, reason, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"kernelet demo: {reason}\n"


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["demo", "--vectors", "many"]])
def test_wrong_command_line_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: kernelet" in capsys.readouterr().err


def test_interruption_is_exit_code_130(monkeypatch, capsys):
    def interrupt(seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "load", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "kernelet demo: interrupted\n"


def test_a_reader_that_leaves_early_gets_no_traceback():
    code = "import sys; from kernelet.cli import main; sys.exit(main(['demo', '--vectors', '2']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_help_names_every_command():
    text = build_parser().format_help()
    assert all(name in text for name in COMMANDS)
