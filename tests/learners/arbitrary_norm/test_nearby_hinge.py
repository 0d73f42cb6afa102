"""Hinge problems from a solution nearby, against an interior point from nowhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners.arbitrary_norm.change_of_variables import (
    REGULARIZERS,
    RidgeFeatures,
    SharedFeatures,
)
from kernelet.learners.arbitrary_norm.kept_candidates import KeptColumns, KeptGram
from kernelet.learners.arbitrary_norm.losses import HingeLoss
from kernelet.learners.arbitrary_norm.nearby_hinge import nearby_hinge
from kernelet.solvers import hinge_ridge

X, y = make_banana(150, random_state=0)
SIGNS = 2.0 * y - 1.0
CHOSEN = np.arange(0, 150, 10)
KERNEL = Gaussian(0.5)
K, GRAM = KERNEL(X, X[CHOSEN]), KERNEL(X[CHOSEN], X[CHOSEN])


def features(e, kind=RidgeFeatures):
    """Of fifteen candidates with weights e."""
    return kind(
        KeptColumns(K), REGULARIZERS["kernel"].space(KeptGram(GRAM), np.ones(15), np.full(15, e))
    )


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("e", [0.099, 0.1, 0.101])
def test_it_is_the_solution_from_nowhere(e, C):
    rows, costs = features(e), C * np.random.default_rng(0).uniform(0.5, 2.0, 150)
    last = hinge_ridge(features(0.1).take_all(), SIGNS, costs)
    found = nearby_hinge(rows, SIGNS, costs, last.multipliers, 1e-9)
    assert found is not None and abs(found.gap) < 1e-9
    exact = hinge_ridge(rows.take_all(), SIGNS, costs, tol=1e-10)
    value = found.loss + 0.5 * found.weights @ found.weights
    assert_allclose(value, exact.primal_value, rtol=1e-8)
    hinge = np.maximum(0.0, 1.0 - SIGNS * (rows.scores(found.weights) + found.intercept))
    assert_allclose(found.loss, costs @ hinge)
    # feasible for the dual, with the weights that belong to the multipliers
    assert (found.multipliers >= 0.0).all() and (found.multipliers <= costs).all()
    assert_allclose(SIGNS @ found.multipliers, 0.0, atol=1e-9 * costs.sum())
    assert_allclose(
        rows.weighted_sum(SIGNS * found.multipliers), found.weights, rtol=1e-6, atol=1e-8 * C
    )


def test_without_a_row_on_the_margin_there_is_none():
    assert nearby_hinge(features(0.1), SIGNS, np.ones(150), np.ones(150), 1e-6) is None


def test_what_it_does_not_find_is_solved_otherwise():
    """Multipliers that belong to no problem nearby do no harm."""
    rows, loss = features(0.1), HingeLoss(SIGNS, np.ones(150))
    fresh = loss(rows, None)
    start = fresh.weights, fresh.intercept
    for multipliers in (np.ones(150), np.full(150, 0.5), np.zeros(150)):
        loss._multipliers = multipliers
        again = loss(rows, start)
        norms = [0.5 * fit.weights @ fit.weights for fit in (fresh, again)]
        assert_allclose(again.loss + norms[1], fresh.loss + norms[0], rtol=1e-5)
        assert again.gap < 1e-5


def test_shared_products_are_those_of_the_features():
    index = np.array([3, 40, 7])
    Phi = features(0.1).take_all()
    for kind in (RidgeFeatures, SharedFeatures):
        assert_allclose(features(0.1, kind).products(index), Phi[index] @ Phi[index].T)
