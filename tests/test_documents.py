"""The documents tell the truth: their code runs, their figures are printed, their names exist."""

import functools
import inspect
import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

import kernelet
import references
import test_kernels
from documents import ROOT, blocks, read, run_blocks
from kernelet import datasets, kernels, solvers
from kernelet.cli.main import COMMANDS

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "NOTATION.md", "CHANGELOG.md")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def assert_shown(printed: str, shown: str) -> None:
    """Equal texts; numbers may differ by half a point, as other versions of libraries make them."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.5)


@pytest.fixture(scope="module")
def contributing():
    return run_blocks("CONTRIBUTING.md")[0]


def kernel_contract() -> list[tuple[str, dict[str, object]]]:
    """(test, its other parameters), for each test in test_kernels that any radial kernel passes."""
    shared = (test_kernels.ALL, test_kernels.WITH_GRADIENT, test_kernels.TRANSLATION_INVARIANT)
    contract = []
    for name, function in vars(test_kernels).items():
        marks = dict(mark.args for mark in getattr(function, "pytestmark", []) if mark.args)
        if not any(marks.get("kernel") is examples for examples in shared):
            continue
        del marks["kernel"]
        for values in itertools.product(*marks.values()):
            parameters: dict[str, object] = {}
            for argument, value in zip(marks, values, strict=True):
                pairs = (
                    [(argument, value)]
                    if isinstance(argument, str)
                    else [*zip(argument, value, strict=True)]
                )
                parameters.update(pairs)
            contract.append((name, parameters))
    return contract


@pytest.mark.parametrize(("test", "parameters"), kernel_contract())
def test_contributed_kernel_keeps_the_contract(test, parameters, contributing, monkeypatch):
    new = contributing.InverseMultiquadric
    # The places that CONTRIBUTING.md names.
    monkeypatch.setattr(kernels, new.__name__, new, raising=False)
    monkeypatch.setitem(kernels.specification._BY_NAME, new.name, new)
    monkeypatch.setitem(references._VALUES, new.name, contributing._inverse_multiquadric)
    function = getattr(test_kernels, test)
    if "monkeypatch" in inspect.signature(function).parameters:
        function = functools.partial(function, monkeypatch=monkeypatch)
    function(new(0.7), **parameters)


def test_the_contract_is_not_empty():
    assert len(kernel_contract()) >= 20


@pytest.fixture
def problem():
    """Features of which one column repeats another, labels with noise, and unequal costs."""
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(60, 5))
    Phi[:, 4] = Phi[:, 0]
    y = np.where(Phi[:, 0] + rng.normal(size=60) > 0.5, 1, -1)
    return Phi, y, 10.0 ** rng.uniform(-2, 2, size=60)


def test_contributed_solver_is_optimal(contributing, problem):
    Phi, y, C = problem
    solution = contributing.least_squares_ridge(Phi, y, C)
    assert isinstance(solution, solvers.Solution)
    oracle = Ridge(alpha=1.0).fit(Phi, y, sample_weight=C)
    assert_allclose(solution.weights, oracle.coef_, atol=1e-9)
    assert_allclose(solution.intercept, oracle.intercept_, atol=1e-9)
    assert_allclose(y @ solution.multipliers, 0.0, atol=1e-9 * C.sum())
    loss = 0.5 * C @ (y - oracle.predict(Phi)) ** 2
    assert_allclose(solution.primal_value, 0.5 * oracle.coef_ @ oracle.coef_ + loss, rtol=1e-9)
    assert abs(solution.gap) < 1e-9


def test_contributed_learner_takes_weights_as_repetition(contributing):
    X, y = datasets.make_ripley(80, random_state=0)
    learn = functools.partial(contributing.learn_least_squares, kernel=kernels.Gaussian(2.0))
    machine = learn(X, 2 * y - 1, n_vectors=8)
    assert isinstance(machine, kernelet.KernelMachine)
    assert machine.vectors.shape == (8, 2)
    # The same rows in another order, each twice at half the cost
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(80), 2))
    again = learn(X[order], 2 * y[order] - 1, n_vectors=8, C=0.5)
    assert_allclose(again.decision_function(X), machine.decision_function(X), rtol=1e-9)


def test_contributing_example_prints_what_it_shows():
    (shown,) = run_blocks("CONTRIBUTING.md")[1]
    assert_shown(*shown)


def test_readme_example_prints_what_it_shows():
    module, shown = run_blocks("README.md")
    assert len(shown) == 1
    assert_shown(*shown[0])
    assert isinstance(module.small.machine_, kernelet.KernelMachine)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_commands_exist(document):
    text = read(document)
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    quoted = "\n".join([*re.findall(r"`([^`\n]+)`", text), *(b.code for b in blocks(document))])
    for target in re.findall(r"^make ([a-z-]+)", quoted, re.MULTILINE):
        assert target in targets, target
    for command in re.findall(r"^kernelet ([a-z]+)", quoted, re.MULTILINE):
        assert command in COMMANDS, command


def methods() -> list[tuple[str, str]]:
    """(name, there) of the README's table of methods."""
    table = read("README.md").split("## What is there, and what is not yet")[1]
    rows = re.findall(r"^\| .* \| (`.*`) \| .*\| (yes|not yet) \|$", table, re.MULTILINE)
    return [(name, there) for names, there in rows for name in re.findall(r"`([^`]+)`", names)]


@pytest.mark.parametrize(("name", "there"), methods())
def test_table_of_methods(name, there):
    public, _, member = name.removeprefix("kernelet.").partition(".")
    exists = public in kernelet.__all__
    if member:
        exists = member in getattr(kernelet, public).__all__
    assert exists == (there == "yes")


def test_every_public_name_is_in_the_table_of_methods():
    public = set(kernelet.__all__) - {"__version__"}
    listed = {name.removeprefix("kernelet.").partition(".")[0] for name, _ in methods()}
    assert public <= listed
