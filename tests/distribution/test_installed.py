"""The wheel where little else is installed."""

from __future__ import annotations

import json
import sys
import venv

import pytest

import kernelet
from numpy_alone import METHODS
from tests.distribution.conftest import run
from tests.package.test_numpy_alone import PROGRAM, assert_answers_of, written


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of an environment with kernelet, NumPy and safetensors."""
    folder = tmp_path_factory.mktemp("small")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    # the two commands of MODEL_FILE.md
    run(*pip, "--no-deps", wheel)
    run(*pip, "numpy", "safetensors")
    return python


def test_nothing_else_is_installed(python):
    listed = json.loads(
        run(sys.executable, "-m", "pip", "--python", python, "list", "--format=json")
    )
    assert {entry["name"] for entry in listed} == {"kernelet", "numpy", "safetensors"}


def test_all_models_answer_as_they_do_here(python, tmp_path, monkeypatch):
    made = written(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    printed = json.loads(run(python, PROGRAM, tmp_path))
    assert printed["others"] == []
    assert set(printed["answers"]) == set(made)
    for name, (model, rows) in made.items():
        assert_answers_of(model, rows, printed["answers"][name], rtol=1e-4)


def test_estimators_say_what_they_need(python, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    code = "import kernelet\ntry: kernelet.SparseSVC\nexcept ImportError as error: print(error)"
    printed = run(python, "-c", code)
    assert "needs scikit-learn, which is not installed: install kernelet with" in printed


def test_installing_the_wheel_does_not_bring_a_compiler(wheel, tmp_path):
    """numba is in the extra `fast`; what is listed is what pip would install."""
    report = tmp_path / "report.json"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed")
    run(*pip, "--report", report, wheel)
    planned = json.loads(report.read_text(encoding="utf-8"))["install"]
    names = {entry["metadata"]["name"].lower() for entry in planned}
    assert {"kernelet", "numpy", "scipy", "scikit-learn", "safetensors"} <= names
    assert names.isdisjoint({"numba", "llvmlite", "pandas", "matplotlib"})


def test_methods_are_those_of_a_predictor():
    assert all(callable(getattr(kernelet.machine.Predictor, name)) for name in METHODS)
