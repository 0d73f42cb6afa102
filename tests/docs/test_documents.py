"""The documents tell the truth: their code runs, their figures are printed, their names exist."""

import builtins
import dis
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
import types

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import contributed
import kernelet
from documents import ROOT, blocks, read, run_blocks
from kernelet import datasets, kernels, solvers
from kernelet.cli.main import COMMANDS, build_parser
from tests.export import test_formats, test_registered_kernels
from tests.kernels import test_kernels
from tests.learners import test_estimators
from tests.learners.direct import test_losses
from tests.solvers import test_solver_contract

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "MODEL_FILE.md", "NOTATION.md", "CHANGELOG.md")
MADE = ("docs/_build/", "docs/gallery/", "docs/start/", "docs/reference/made/")
PAGES = [
    page
    for path in sorted(ROOT.glob("docs/**/*.md"))
    if not (page := path.relative_to(ROOT).as_posix()).startswith(MADE)
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def assert_shown(printed: str, shown: str) -> None:
    """Equal texts; numbers may differ by half a point, as other versions of libraries make them."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.5)


def test_contributed_examples_go_through_the_contracts():
    """By being registered, or among those that the contract tests are about."""
    assert contributed.KERNEL in test_kernels.EXAMPLES
    assert contributed.KERNEL in map(type, test_registered_kernels.LEAVES)
    assert contributed.LOSS in test_losses.LOSSES
    assert contributed.SOLVER.__name__ in test_solver_contract.SOLVERS
    assert contributed.FORMAT in test_formats.FORMATS
    for name in contributed.LEARNERS:
        assert f"{name}()" in test_estimators.ESTIMATORS
        assert name in test_formats.MODELS


# One for each kind of thing; the other block of code uses the learner.
EXAMPLES = [
    block.code
    for block in blocks("CONTRIBUTING.md")
    if block.language == "python" and re.search(r"^(?:class|def) ", block.code, re.MULTILINE)
]


def names_in(code: types.CodeType, *operations: str) -> set[str]:
    """What a piece of code and all pieces within it load or store by name."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return found.union(*(names_in(one, *operations) for one in inner))


@pytest.mark.parametrize("code", EXAMPLES, ids=["kernel", "loss", "solver", "learner", "exporter"])
def test_an_example_is_one_file(code):
    """It uses no name but those that it imports or defines itself."""
    compiled = compile(code, "CONTRIBUTING.md", "exec")
    known = names_in(compiled, "STORE_NAME") | {*dir(builtins), "__name__", "__annotations__"}
    assert names_in(compiled, "LOAD_NAME", "LOAD_GLOBAL") - known == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--no-incremental"]]
)
def test_examples_pass_make_lint(check, tmp_path):
    if importlib.util.find_spec(check[0]) is None:
        pytest.skip(f"{check[0]} comes with the extra lint")
    for number, code in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(f'"""An example."""\n\n{code}')
    files = sorted(map(str, tmp_path.glob("*.py")))
    config = {"ruff": "--config", "mypy": "--config-file"}[check[0]]
    done = subprocess.run(
        [sys.executable, "-m", *check, config, str(ROOT / "pyproject.toml"), *files],
        capture_output=True,
        text=True,
        cwd=ROOT,  # where ruff finds which imports are ours
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_contracts_that_are_named_exist():
    contracts = re.findall(r"`(tests/[\w/]+\.py)`", read("CONTRIBUTING.md"))
    assert len(contracts) >= 7
    assert all((ROOT / path).exists() for path in contracts)


def test_layers_are_those_of_the_import_contract():
    section = read("CONTRIBUTING.md").split("## Where things are")[1].split("\n## ")[0]
    names = re.findall(r"^ {4}(\w+(?:, \w+)*)  ", section, re.MULTILINE)
    listed = [name.split(", ") for name in names]
    contracts = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = [re.split(r" [:|] ", layer) for layer in contracts[0]["layers"]]
    assert listed == [layer for layer in layers if layer != ["__main__"]]


def test_contributed_rows_answer_as_the_scaled_array():
    rng = np.random.default_rng(0)
    Phi, scale = rng.normal(size=(7, 3)), np.array([0.5, 1.0, 3.0])
    array = solvers.ArrayRows(Phi * scale)
    rows = contributed.MODULE.ScaledColumns(solvers.ArrayRows(Phi), scale)
    assert isinstance(rows, solvers.Rows)
    assert rows.shape == array.shape
    assert_allclose(rows.take_all(), array.take_all())
    assert_allclose(rows.take(np.array([4, 1])), array.take(np.array([4, 1])))
    assert_allclose(rows.weighted_gram(Phi[:, 0]), array.weighted_gram(Phi[:, 0]))
    for columns in ((), (2,)):
        weights, row_weights = rng.normal(size=(3, *columns)), rng.normal(size=(7, *columns))
        assert_allclose(rows.scores(weights), array.scores(weights))
        assert_allclose(rows.weighted_sum(row_weights), array.weighted_sum(row_weights))


def test_contributed_solver_refuses_a_price_of_nothing():
    with pytest.raises(ValueError, match="prices must be positive"):
        contributed.SOLVER([[1.0, 2.0]], [1], prices=[1.0, -1.0])


def test_contributed_learner_takes_weights_as_repetition():
    X, y = datasets.make_ripley(80, random_state=0)
    learner = contributed.MODULE.ReweightedSVC(20, kernel=kernels.Gaussian(2.0))
    machine = learner.fit(X, y).machine_
    assert 1 <= machine.n_vectors < 20
    # The same rows in another order, each twice at half the cost
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(80), 2))
    again = learner.set_params(C=0.5).fit(X[order], y[order]).machine_
    assert_allclose(again.decision_function(X), machine.decision_function(X), rtol=1e-9)


def test_contributed_learner_finds_a_fixed_point():
    """At the end each weight is of the size that it is scaled by, or of none."""
    X, y = datasets.make_ripley(80, random_state=0)
    Phi, Y = kernels.Gaussian(2.0)(X, X[:20]), np.where(y, 1.0, -1.0)[:, None]
    *_, before, last = contributed.MODULE.reweight(Phi, Y, np.ones(80), 1e-8, 200)
    assert last.change <= 1e-8
    assert_allclose(np.abs(last.weights), np.abs(before.weights), atol=1e-6)
    hinge = np.maximum(0.0, 1.0 - Y * (Phi @ last.weights + last.intercepts)).sum()
    n_kept = np.count_nonzero(np.abs(last.weights) > 1e-4 * np.abs(last.weights).max())
    assert last.objective == pytest.approx(0.5 * n_kept + hinge, rel=1e-6)


def test_contributed_exporter_writes_all_numbers(tmp_path):
    rng = np.random.default_rng(0)
    machine = kernelet.KernelMachine(
        kernels.Gaussian(0.3), rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), [0.1, -0.2]
    )
    contributed.MODULE.csv(machine, tmp_path / "m.csv")
    first, second, *_ = (tmp_path / "m.csv").read_text().splitlines()
    assert first == "# Gaussian(gamma=0.3), 2 coefficients, 3 features"
    assert second == "# intercepts: 0.1, -0.2"
    table = np.loadtxt(tmp_path / "m.csv", delimiter=",")
    assert_array_equal(table, np.hstack([machine.coefficients, machine.vectors]))


def test_contributing_example_prints_what_it_shows():
    (shown,) = contributed.SHOWN
    assert_shown(*shown)


@pytest.mark.slow
def test_readme_example_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module, shown = run_blocks("README.md")
    assert len(shown) == 1
    assert_shown(*shown[0])
    assert isinstance(module.small.machine_, kernelet.KernelMachine)
    assert (tmp_path / "digits.c").exists()


def test_readme_reads_well_as_plain_text():
    lines = read("README.md").splitlines()
    assert len(lines) <= 150
    assert max(len(line) for line in lines if not line.startswith("![")) <= 110
    comments = [line for line in lines if "<!--" in line]
    assert all(re.fullmatch(r"<!-- (figures: .*|end of figures) -->", line) for line in comments)


def test_readme_commands_are_accepted():
    shell = "".join(block.code for block in blocks("README.md") if block.language == "sh")
    commands = re.findall(r"^kernelet (.*)$", shell, re.MULTILINE)
    assert commands
    for command in commands:
        build_parser().parse_args(shlex.split(command))  # exits if it is wrong


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", read(document)):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("document", [*DOCUMENTS, *PAGES])
def test_commands_exist(document):
    text = read(document)
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    quoted = "\n".join([*re.findall(r"`([^`\n]+)`", text), *(b.code for b in blocks(document))])
    for target in re.findall(r"^make ([a-z-]+)", quoted, re.MULTILINE):
        assert target in targets, target
    for command in re.findall(r"^kernelet ([a-z]+)", quoted, re.MULTILINE):
        assert command in COMMANDS, command


def methods() -> list[str]:
    """Names in the table of methods."""
    table = read("docs/reference/index.md").split("## Methods and papers")[1]
    rows = re.findall(r"^\| .* \| (`.*`) \| .*\|$", table, re.MULTILINE)
    return [name for names in rows for name in re.findall(r"`([^`]+)`", names)]


@pytest.mark.parametrize("name", methods())
def test_table_of_methods(name):
    public, _, member = name.removeprefix("kernelet.").partition(".")
    assert public in kernelet.__all__
    assert not member or member in getattr(kernelet, public).__all__


def test_every_public_name_is_in_the_table_of_methods():
    public = set(kernelet.__all__) - {"__version__"}
    listed = {name.removeprefix("kernelet.").partition(".")[0] for name in methods()}
    assert public <= listed
