"""The documents tell the truth: their code runs, their figures are printed, their names exist."""

import dataclasses
import functools
import inspect
import itertools
import re
import shlex
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelet
from documents import ROOT, blocks, read, run_blocks
from kernelet import datasets, kernels, solvers
from kernelet.cli.main import COMMANDS, build_parser
from tests.export import test_registered_kernels
from tests.kernels import test_kernels
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


@pytest.fixture(scope="module")
def contributing():
    return run_blocks("CONTRIBUTING.md")[0]


def cases(function: Callable[..., None], subject: str) -> list[tuple[str, dict[str, object]]]:
    """(name of the test, parameters) for each way in which a test is run on one subject."""
    marks = dict(mark.args for mark in getattr(function, "pytestmark", []))
    marks.pop(subject, None)
    found = []
    for values in itertools.product(*marks.values()):
        parameters: dict[str, object] = {}
        for argument, value in zip(marks, values, strict=True):
            names = re.split(r",\s*", argument) if isinstance(argument, str) else argument
            parameters |= dict(zip(names, value if len(names) > 1 else [value], strict=True))
        found.append((function.__name__, parameters))
    return found


def kernel_contract() -> list[tuple[str, dict[str, object]]]:
    """Each test in test_kernels that any radial kernel passes."""
    shared = (
        test_kernels.ALL,
        test_kernels.WITH_GRADIENT,
        test_kernels.TRANSLATION_INVARIANT,
        test_kernels.PROFILES,
    )
    return [
        case
        for function in vars(test_kernels).values()
        for mark in getattr(function, "pytestmark", [])
        if mark.args[0] == "kernel" and any(mark.args[1] is examples for examples in shared)
        for case in cases(function, "kernel")
    ]


def solver_contract() -> list[tuple[str, dict[str, object]]]:
    """Each test in test_solver_contract."""
    return [
        case
        for name, function in vars(test_solver_contract).items()
        if name.startswith("test_")
        for case in cases(function, "name")
    ]


@pytest.mark.parametrize(("test", "parameters"), kernel_contract())
def test_contributed_kernel_keeps_the_contract(test, parameters, contributing, monkeypatch):
    new = contributing.InverseMultiquadric
    function = getattr(test_kernels, test)
    if "monkeypatch" in inspect.signature(function).parameters:
        function = functools.partial(function, monkeypatch=monkeypatch)
    function(new(0.7), **parameters)


def test_contributed_kernel_goes_through_files_and_exports(contributing, tmp_path):
    kernel = contributing.InverseMultiquadric(0.4)
    test_registered_kernels.test_json_and_model_files(kernel, tmp_path)
    test_registered_kernels.test_onnx(kernel, "float64", 1e-12)
    test_registered_kernels.assert_runs_in_c([kernel], "float64", 1e-12, tmp_path)


@pytest.mark.parametrize(("test", "parameters"), solver_contract())
def test_contributed_solver_keeps_the_contract(test, parameters, contributing, monkeypatch):
    def prices(m):
        return np.geomspace(0.1, 10.0, m)

    def hinge_weighted_ridge(Phi, y, C=1.0, **options):
        n_columns = solvers.rows.as_rows(Phi).shape[1]
        return contributing.hinge_weighted_ridge(Phi, y, C, prices=prices(n_columns), **options)

    name = hinge_weighted_ridge.__name__
    task = dataclasses.replace(
        test_solver_contract.SVM,
        capacity=lambda w: 0.5 * float(prices(w.size) @ w**2),
        conjugate=lambda q, rounding: 0.5 * float(q**2 @ (1.0 / prices(q.size))),
        # 1-strongly convex is what this test wants; ours is 0.1-strongly convex
        has_unique_weights=False,
    )
    monkeypatch.setattr(solvers, name, hinge_weighted_ridge, raising=False)
    monkeypatch.setitem(test_solver_contract.TASKS, name, task)
    getattr(test_solver_contract, test)(name=name, **parameters)


def test_contributed_rows_answer_as_the_scaled_array(contributing):
    rng = np.random.default_rng(0)
    Phi, scale = rng.normal(size=(7, 3)), np.array([0.5, 1.0, 3.0])
    array = solvers.ArrayRows(Phi * scale)
    rows = contributing.ScaledColumns(solvers.ArrayRows(Phi), scale)
    assert isinstance(rows, solvers.Rows)
    assert rows.shape == array.shape
    assert_allclose(rows.take_all(), array.take_all())
    assert_allclose(rows.take(np.array([4, 1])), array.take(np.array([4, 1])))
    assert_allclose(rows.weighted_gram(Phi[:, 0]), array.weighted_gram(Phi[:, 0]))
    for columns in ((), (2,)):
        weights, row_weights = rng.normal(size=(3, *columns)), rng.normal(size=(7, *columns))
        assert_allclose(rows.scores(weights), array.scores(weights))
        assert_allclose(rows.weighted_sum(row_weights), array.weighted_sum(row_weights))


def test_contributed_solver_refuses_a_price_of_nothing(contributing):
    with pytest.raises(ValueError, match="prices must be positive"):
        contributing.hinge_weighted_ridge([[1.0, 2.0]], [1], prices=[1.0, -1.0])


def test_contributed_learner_takes_weights_as_repetition(contributing):
    X, y = datasets.make_ripley(80, random_state=0)
    learn = functools.partial(contributing.learn_reweighted, kernel=kernels.Gaussian(2.0))
    machine = learn(X, 2 * y - 1, n_candidates=20)
    assert isinstance(machine, kernelet.KernelMachine)
    assert 1 <= len(machine.vectors) < 20
    # The same rows in another order, each twice at half the cost
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(80), 2))
    again = learn(X[order], 2 * y[order] - 1, n_candidates=20, C=0.5)
    assert_allclose(again.decision_function(X), machine.decision_function(X), rtol=1e-9)


def test_the_contracts_are_not_empty():
    assert len(kernel_contract()) >= 20
    assert len(solver_contract()) >= 40


def test_contributing_example_prints_what_it_shows():
    (shown,) = run_blocks("CONTRIBUTING.md")[1]
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
