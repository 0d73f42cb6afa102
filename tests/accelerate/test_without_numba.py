"""kernelet without numba, as the core dependencies install it, and the same answers with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

HERE = Path(__file__).resolve().parents[1]
HIDDEN = str(HERE / "without_numba")


def answers():
    """Values that the loops which are compiled with numba lead to, by what they are solved to."""
    from kernelet import NormSVC, SparseOneClassSVM, SparseSVC, SparseSVR
    from kernelet._accelerate import accelerated
    from kernelet.datasets import make_banana
    from kernelet.solvers import hinge_ridge

    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(80, 5))
    y = np.where(Phi.sum(axis=1) + rng.normal(size=80) > 0, 1.0, -1.0)
    X, labels = make_banana(200, random_state=0)
    iris, species = load_iris(return_X_y=True)
    solution = hinge_ridge(Phi, y, 10.0, tol=1e-9)
    return {
        "loops": accelerated("hinge_ridge") is not None,
        "llvm": "llvmlite" in sys.modules,
        "gap": solution.gap,
        "hinge_ridge": solution.primal_value,
        "SparseSVC": SparseSVC(5, random_state=0).fit(X, labels).objective_,
        "three classes": SparseSVC(4, random_state=0).fit(iris, species).objective_,
        "SparseSVR": SparseSVR(4, random_state=0).fit(X[:, :1], X[:, 1]).objective_,
        "SparseOneClassSVM": SparseOneClassSVM(4, random_state=0).fit(X).objective_,
        "NormSVC": NormSVC(n_vectors=8).fit(X, labels).decision_function(X).tolist(),
    }


def answers_of_a_process(*path: str) -> dict[str, object]:
    """Those of a new process, with folders in front of its path."""
    program = f"import json, runpy\nprint(json.dumps(runpy.run_path({__file__!r})['answers']()))"
    paths = os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def without():
    return answers_of_a_process(HIDDEN)


def test_nothing_of_it_is_needed(without):
    assert not without["loops"]
    assert not without["llvm"]
    assert without["gap"] <= 1e-9


def test_answers_are_those_of_this_process(without):
    """Which has numba where the extra `fast` is installed; the solvers stop at tolerances."""
    here = answers()
    assert_allclose(without["hinge_ridge"], here["hinge_ridge"], rtol=2e-9)
    # searches that are not convex stop where a step gains less than `tol`, 3e-3
    for name in ("SparseSVC", "three classes", "SparseSVR", "SparseOneClassSVM"):
        assert_allclose(without[name], here[name], rtol=3e-3, err_msg=name)
    assert_allclose(without["NormSVC"], here["NormSVC"], atol=1e-3)
