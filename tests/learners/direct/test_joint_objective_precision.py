"""Distances of the search over vectors and scales, where rounding could make noise of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import kernelet
from kernelet.kernels import Gaussian
from kernelet.learners.direct.kernel_learning.input_stage import are_distances_precise
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.samples import SampleInMemory, extent_of


def clusters(n, gamma):
    """Rows that are near to one of three places, by this gamma, and far from the others."""
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    code = rng.integers(3, size=n)
    X = places[code] + rng.normal(size=(n, 2)) * 0.3 / np.sqrt(gamma)
    return places, X, np.where(code == 1, 1.0, -1.0)


@pytest.mark.parametrize("gamma", [1.0, 1e7, 1e11])
def test_many_rows_of_a_narrow_kernel(gamma):
    """Single precision, which is used for this many rows, has 7 digits."""
    places, X, y = clusters(40_000, gamma)
    problem = SVMProblem(y[:, None], np.ones(len(y)), "squared_hinge", 1e-6)
    source = SampleInMemory(X, problem, 0)
    objective = JointObjective(source, Gaussian(gamma), "nothing", 3, n_first=len(y))
    found = objective(places)
    assert_allclose(found.value, objective.proven(found).value, rtol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_what_is_precise(make):
    X = np.random.default_rng(0).normal(size=(100, 3))
    answers = {
        (gamma, dtype): are_distances_precise(extent_of(make(X)), Gaussian(gamma), dtype)
        for gamma in (1.0, 1e9, 1e18, 1e300)
        for dtype in (np.float32, np.float64)
    }
    precise = {(1.0, np.float32), (1.0, np.float64), (1e9, np.float64)}
    assert {case for case, is_precise in answers.items() if is_precise} == precise
    # far from 0 nothing is lost where rows are centred, and CSR rows are not
    far = extent_of(make(X + 1e9))
    assert are_distances_precise(far, Gaussian(1.0), np.float64) == (make is np.asarray)


@pytest.mark.parametrize("learn_kernel", ["auto", False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_vectors_are_found_where_the_joint_search_cannot_go(learn_kernel, loss):
    """Each of three rows that are repeated is far from the others by any gamma."""
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    y = np.repeat([0, 1, 0], 20)
    model = kernelet.SparseSVC(
        3, C=1.0, gamma=1e20, loss=loss, learn_kernel=learn_kernel, random_state=0
    ).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.kernel_gain_ == 0.0
