"""A preliminary search and the search that continues it: they look like one search from outside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet import SparseSVC
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners.direct.kernel_learning.choice import KernelTask, LearnedPart
from kernelet.learners.direct.kernel_learning.input_stage import StandardRows
from kernelet.learners.direct.kernel_learning.scales_stage import FeatureScales
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.search.learn import SearchStart, search_vectors
from kernelet.learners.direct.search.rows import RowsInMemory
from kernelet.learners.direct.search.samples import SampleInMemory

X, LABELS = make_banana(200, random_state=0)
Y = np.where(LABELS[0] == LABELS, 1.0, -1.0)[:, None]


# Options of a search that say where it begins.
STARTS = {"n_steps", "is_preliminary", "kernel", "unit", "n_vectors"}


def search(on_step=None, **options):
    return search_vectors(
        RowsInMemory(X, np.ones(200), SVMProblem(Y, np.ones(200), "hinge")),
        KernelTask(Gaussian(0.5), LearnedPart.FEATURES),
        SearchStart(X[:6], **{name: options.pop(name) for name in STARTS & set(options)}),
        max_iter=options.pop("max_iter", 100),
        tol=options.pop("tol", 1e-3),
        on_step=on_step,
        **options,
    )


def test_steps_are_counted_through():
    steps = []
    end = search(steps.append)
    assert [step.n_iter for step in steps] == list(range(1, end.n_iter + 1))
    is_preliminary = [step.is_preliminary for step in steps]
    assert is_preliminary == sorted(is_preliminary, reverse=True)
    assert any(is_preliminary) and not all(is_preliminary)
    # the loss of the second search is the hinge, whose values are others
    assert_allclose(steps[-1].value, end.best.value)


@pytest.mark.parametrize("number", [4, 1000])
def test_a_callback_ends_both(number):
    """In the preliminary search, or at the first step of the other."""
    steps = []

    def on_step(step):
        steps.append(step)
        return step.n_iter == number or not step.is_preliminary

    end = search(on_step)
    assert end.n_iter == len(steps)
    assert end.stopped and not end.converged and not end.interrupted
    assert "a callback asked for the end" in end.message
    if number == 4:
        assert end.n_iter == 4 and steps[-1].is_preliminary


def test_max_iter_is_that_of_both():
    with pytest.warns(UserWarning, match="max_iter=5 steps taken"):
        model = SparseSVC(6, C=1.0, loss="hinge", max_iter=5, tol=1e-6).fit(X, LABELS)
    assert model.n_iter_ == 5


def test_a_search_that_goes_on_takes_its_first_steps_in_any_case():
    """They are small, as L-BFGS has no memory then; they do not look like the end."""
    at_end = search(tol=1e-4)
    steps = []
    search(steps.append, tol=0.5, n_steps=7)
    assert steps[0].n_iter == 8
    assert len(steps) >= 10
    assert len(steps) < at_end.n_iter


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_scales_at_their_bound_are_recalled(side):
    source = SampleInMemory(X, SVMProblem(Y, np.ones(200)), 0)
    rows = StandardRows(source, 200, np.float64)
    stage = FeatureScales(rows, Gaussian(0.3))
    lower, upper = stage.bounds(np.zeros(2))
    found = np.array([0.3, (lower if side < 0.0 else upper)[1]])
    again = FeatureScales(rows, Gaussian(0.3))
    again.recall(stage.kernel(found))
    assert_allclose(again.parameters, found, rtol=1e-12)
    lower, upper = again.bounds(again.parameters)
    assert (lower <= 0.0).all() and (upper >= 0.0).all()
