"""The command line: the demo's figures, its forms of output, and how it fails.

Methods that choose their size themselves take longest and are left out here; `make test-browser`
runs the demo as it is.
"""

import contextlib
import io
import json
import subprocess
import sys

import pytest

from documents import printed_rows
from kernelet.cli import output as tables
from kernelet.cli.main import COMMANDS, build_parser, main
from kernelet.report import comparison, methods

# The demo is made, several times.
pytestmark = pytest.mark.slow

QUICK = ("SparseSVC", "compress", "KernelFisherClassifier", "ReducedSVC")


@pytest.fixture(scope="module")
def few_methods():
    with pytest.MonkeyPatch.context() as patch:
        chosen = tuple(method for method in methods._ALL if method.name in QUICK)
        patch.setattr(methods, "_ALL", chosen)
        yield


@pytest.fixture
def one_method(monkeypatch):
    monkeypatch.setattr(methods, "_ALL", tuple(m for m in methods._ALL if m.name == "ReducedSVC"))


@pytest.fixture(scope="module")
def report(few_methods):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["demo", "--json", "--no-html"]) == 0
    return json.loads(printed.getvalue())


def test_report_compares_the_svm_with_the_sizes_asked_for(report):
    svc, *small = report["models"]
    assert [model["method"] for model in small] == [name for name in QUICK for _ in range(2)]
    assert [model["vectors"] for model in small] == [20, 50] * len(QUICK)
    for model in small:
        assert model["kernel_values_per_row"] == model["vectors"] == model["budget"]
        # 64 pixels and a coefficient for each output, an intercept for each, in float64
        outputs = 45 if model["method"] == "compress" else 10
        assert model["model_bytes"] == 8 * (model["vectors"] * (64 + outputs) + outputs)
        assert model["model_bytes"] < svc["model_bytes"] / 5
        assert model["microseconds_per_row"] > 0
        assert model["fit_seconds"] > 0
    assert report["kernel"]["name"] == "rbf"
    assert report["data"] == {"name": "digits", "train_rows": 1197, "test_rows": 600, "columns": 64}
    assert report["page"] is None and report["warnings"] == []


def test_demo_is_worth_showing(report):
    """More vectors, fewer errors; learned vectors beat centres; the SVM's accuracy is in reach."""
    errors = {model["model"]: model["test_error"] for model in report["models"]}
    svc = errors[comparison.SVM]
    assert svc < errors["ReducedSVC, 50"] < errors["ReducedSVC, 20"] < 0.08
    assert errors["SparseSVC, 20"] < errors["ReducedSVC, 20"] / 2
    assert errors["SparseSVC, 50"] < min(errors["ReducedSVC, 50"] / 1.5, svc + 0.006)


def test_the_site_shows_the_demo(report):
    shown = printed_rows("docs/choosing.md")
    for model in report["models"]:
        _, error, vectors, _, _, size, _ = shown[model["model"]]
        # Another version of a library may move a few of the 600 test rows.
        assert float(error.removesuffix(" %")) == pytest.approx(100 * model["test_error"], abs=0.5)
        assert int(vectors) == pytest.approx(model["vectors"], rel=0.02)
        assert int(size) == pytest.approx(model["model_bytes"], rel=0.02)


def test_table_without_a_terminal_is_plain(one_method, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--vectors", "7", "--no-html"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    out = captured.out
    assert out.isascii()
    assert "ReducedSVC, 7 " in out
    assert "ReducedSVC with 7 vectors in place of" in out
    assert max(map(len, out.splitlines())) <= 80
    assert not list(tmp_path.iterdir())


def test_page_is_written_as_a_whole(one_method, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--vectors", "7"]) == 0
    out = capsys.readouterr().out
    assert "demo.html" in out
    assert "ReducedSVC, 7 " in out and "ReducedSVC, 50" not in out
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert "ReducedSVC, 50" in page  # the frontier has more sizes than the table
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"]


def test_a_bar_moves_on_a_terminal(one_method, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(tables.importlib.util, "find_spec", lambda name: None)
    assert main(["demo", "--vectors", "3", "--no-html"]) == 0
    assert "ReducedSVC, 3: 1 steps" in capsys.readouterr().err


def test_table_on_a_terminal_with_and_without_rich(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    tables.print_table(["model", "error"], [["a", "1"]])
    assert "─" in capsys.readouterr().out
    monkeypatch.setattr(tables.importlib.util, "find_spec", lambda name: None)
    tables.print_table(["model", "error"], [["a", "1"]])
    assert capsys.readouterr().out == "model  error\n-----  -----\na          1\n"


@pytest.mark.parametrize(
    ("arguments", "reason", "code"),
    [
        (["--vectors", "0"], "--vectors must lie between 1 and the 1197 training rows", 2),
        (["--vectors", "5000"], "--vectors must lie between 1 and the 1197 training rows", 2),
        (
            ["-o", "no-such-folder/demo.html"],
            "the folder no-such-folder does not exist; make it, or choose another",
            5,
        ),
    ],
)
def test_failure_is_one_line(arguments, reason, code, capsys):
    assert main(["demo", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"kernelet demo: {reason}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no-such-command"],
        ["demo", "--vectors", "many"],
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "4294967296"],
        ["demo", "--no-html", "-o", "page.html"],
    ],
)
def test_wrong_command_line_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: kernelet" in capsys.readouterr().err


def test_interruption_is_exit_code_130(monkeypatch, capsys, tmp_path):
    def interrupt(seed):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparison, "digits_task", interrupt)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "kernelet demo: interrupted\n"
    assert not list(tmp_path.iterdir())


def test_a_reader_that_leaves_early_gets_no_traceback():
    code = (
        "import sys\nfrom kernelet.cli import main\nfrom kernelet.report import methods\n"
        "methods._ALL = tuple(m for m in methods._ALL if m.name == 'ReducedSVC')\n"
        "sys.exit(main(['demo', '--vectors', '2', '--no-html']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_help_names_every_command():
    text = build_parser().format_help()
    assert all(name in text for name in COMMANDS)
