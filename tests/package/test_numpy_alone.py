"""A model file can be used where nothing but NumPy and safetensors is installed."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import compact_machines
import kernelet
import numpy_alone
from documents import read
from kernelet.kernels import CallableKernel
from kernelet.machine.reading import Reading
from numpy_alone import METHODS
from tests.kernels.test_kernels import EXAMPLES
from tests.learners.test_estimators import FRAME, MAKERS, model_of

PROGRAM = Path(numpy_alone.__file__)
rng = np.random.default_rng(0)
# Those that others register are not known to a program that does not import them.
KERNELS = [
    kernel
    for kind, examples in EXAMPLES.items()
    for kernel in examples
    if kind is not CallableKernel and kind.__module__.startswith("kernelet.")
]
ROWS = rng.normal(size=(9, 3))


def models():
    """Every kind of model, with rows that it takes, by the name of its file."""
    named = {}
    for place, kernel in enumerate(KERNELS):
        machine = kernelet.KernelMachine(kernel, ROWS[:4], rng.normal(size=(4, 2)), [0.5, -0.5])
        named[f"kernel {place}"] = (machine, ROWS)
        compact, rows = compact_machines.random_machine(kernel, (5, 3, 2), 5, seed=place)
        named[f"kernel {place} in few bits"] = (compact, rows)
    for place, label in enumerate(MAKERS):
        named[f"estimator {place}"] = (model_of(label), FRAME.to_numpy())
    for place, label in enumerate(compact_machines.MODELS):
        model = compact_machines.fitted(label)
        named[f"in few bits {place}"] = (model, compact_machines.rows_for(model))
    return {name: pair for name, pair in named.items() if hasattr(pair[0], "save")}


def asked(program):
    """What a program with the folder as its first argument prints."""
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written(folder):
    """The models, each in a file of the folder with its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = models()
        for name, (model, rows) in made.items():
            model.save(folder / f"{name}.kernelet")
            text = json.dumps(rows, default=lambda array: array.tolist())
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return made


def assert_answers_of(model, rows, found, rtol=0.0):
    """Those of the model here: bit by bit, or nearly where another NumPy computes them."""
    for method in METHODS:
        # a table model has the method even if its estimator has not
        if hasattr(getattr(model, "estimator", model), method) and hasattr(model, method):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = getattr(model, method)(rows)
            if rtol and wanted.dtype.kind == "f":
                assert_allclose(found[method], wanted, rtol, atol=rtol, err_msg=method)
            else:
                assert_array_equal(np.array(found[method]), wanted, err_msg=method)
    if type(model).__name__ in ("KernelMachine", "CalibratedMachine"):
        assert found["load"] == type(model).__name__
    else:
        assert "needs scikit-learn, which is not installed: install kernelet with" in found["load"]
        assert "kernelet.load_predictor needs NumPy and safetensors alone" in found["load"]


class TestNothingElse:
    @pytest.fixture(scope="class")
    @staticmethod
    def made_and_printed(tmp_path_factory):
        folder = tmp_path_factory.mktemp("models")
        made = written(folder)
        return made, asked([sys.executable, str(PROGRAM), str(folder), "--hide-others"])

    def test_all_models_answer_as_they_do_here(self, made_and_printed):
        made, printed = made_and_printed
        assert set(printed["answers"]) == set(made)
        assert len(made) > 2 * len(KERNELS) + len(MAKERS)
        for name, (model, rows) in made.items():
            assert_answers_of(model, rows, printed["answers"][name])

    def test_nothing_else_is_loaded(self, made_and_printed):
        assert made_and_printed[1]["others"] == []

    def test_all_readings_are_among_them(self, made_and_printed):
        readings = {found["reading"] for found in made_and_printed[1]["answers"].values()}
        assert readings == set(Reading)


def without(hidden, code):
    """What a program prints in which importing some libraries fails."""
    hiding = f"import sys\nsys.modules.update(dict.fromkeys({hidden!r}))\n"
    done = subprocess.run(
        [sys.executable, "-c", hiding + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("hidden", "name", "missing"),
    [
        (["sklearn", "scipy"], "SparseSVC", "scikit-learn"),
        (["scipy"], "subspace", "scipy"),
        (["sklearn"], "export", "scikit-learn"),
        (["matplotlib", "sklearn"], "compress", "scikit-learn"),
    ],
)
def test_what_needs_more_says_what(hidden, name, missing):
    code = f"import kernelet\ntry:\n    kernelet.{name}\nexcept ImportError as error:\n"
    printed = without([*hidden], f"{code}    print(error)")
    assert f"needs {missing}, which is not installed: install kernelet with" in printed


def test_the_page_on_model_files_says_how():
    page = read("MODEL_FILE.md")
    assert "pip install --no-deps" in page
    assert "pip install numpy safetensors" in page
