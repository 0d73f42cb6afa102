"""Linear programs over out-of-core rows, against those over rows in memory and HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from kernelet import SubspaceLPSVC
from kernelet.datasets import make_banana, make_twonorm
from kernelet.kernels import Gaussian
from kernelet.learners.base.out_of_core import out_of_core_data
from kernelet.rows import Chunks, LabelledBlocks, open_pieces
from kernelet.rows.survey import survey
from kernelet.solvers import Status, hinge_lasso
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.margins import Point
from kernelet.solvers.blocks.norms import LinearNormPenalty
from kernelet.solvers.hinge.working_set import Subproblem
from kernelet.subspace import PrincipalMap


def out_of_core(X, y):
    """The rows in five chunks."""
    pieces = open_pieces(*(Chunks.of(np.array_split(column, 5)) for column in (X, y)))
    seen = survey(pieces)
    factors = np.ones(seen.classes.size)
    return LabelledBlocks(pieces, seen.classes, factors, seen.lengths, seen.counts, X.shape[1])


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("make", [make_twonorm, make_banana])
def test_few_rows_at_a_time_end_where_all_do(make, C, norm, monkeypatch):
    """With a sample and rows near the margin that are a part of all."""
    X, y = make(4000, random_state=0)
    monkeypatch.setattr("kernelet.solvers.blocks.hinge.NEAR_ROWS", 800)
    monkeypatch.setattr("kernelet.solvers.blocks.hinge._NEAR_ROWS_PER_FEATURE", 0)
    rows = out_of_core(X, y)
    space = PrincipalMap.from_vectors(Gaussian(1.0 / X.shape[1]), X[:100], 15)
    penalty = LinearNormPenalty(norm)
    (found,) = block_hinge(rows, space, rows.sample(1500, 0), C, tol=1e-5, penalty=penalty)
    whole = hinge_lasso(space.features(X), 2.0 * y - 1.0, C, norm=norm, tol=1e-9)
    assert found.is_optimal
    assert_allclose(found.primal_value, whole.primal_value, rtol=1e-5)
    if found.is_proven:
        assert found.dual_value <= whole.primal_value * (1.0 + 1e-9)
    scores = space.features(X) @ found.weights + found.intercept
    hinge = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * scores)
    assert_allclose(penalty.value(found.weights) + C * hinge.sum(), found.primal_value)


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("radius", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_linear_term_is_minimised_within_the_radius(norm, radius, seed):
    """Also where there would be no minimum without it."""
    rng = np.random.default_rng(seed)
    n, m = 60, 4
    Phi = rng.normal(size=(n, m)) * [1.0, 0.01, 10.0, 1.0] + [0.0, 0.0, 5.0, 0.0]
    y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    u = rng.uniform(0.5, 2.0, n)
    linear = np.append(rng.normal(size=m) * 30.0 * Phi.std(axis=0), rng.normal())
    # the bias is not held, so that it must be bounded by the rows
    linear[-1] = 0.1 * rng.normal()
    at = Point(rng.normal(size=(m, 1)), np.zeros(1))
    found = LinearNormPenalty(norm).solve_tilted(Subproblem(Phi, y, u, linear), 1e-9, at, radius)
    steps = radius / Phi.std(axis=0)
    lower, upper = at.weights[:, 0] - steps, at.weights[:, 0] + steps
    # variables w, b, slacks and sizes of the weights
    size = 1 if norm == "inf" else m
    cost = np.concatenate([-linear, u, np.ones(size)])
    hinges = np.hstack([-y[:, None] * Phi, -y[:, None], -np.eye(n), np.zeros((n, size))])
    per = np.ones((m, 1)) if norm == "inf" else np.eye(m)
    zeros = np.zeros((m, n + 1))
    sizes = np.vstack([np.hstack([s * np.eye(m), zeros, -per]) for s in (1.0, -1.0)])
    bounds = [*zip(lower, upper, strict=True), (None, None), *[(0.0, None)] * (n + size)]
    best = linprog(
        cost,
        A_ub=np.vstack([hinges, sizes]),
        b_ub=np.append(-np.ones(n), np.zeros(2 * m)),
        bounds=bounds,
    )
    assert best.status == 0
    assert_allclose(found.primal_value, best.fun, rtol=1e-5, atol=1e-5 * abs(linear).sum())
    outside = np.maximum(lower - found.weights, found.weights - upper)
    assert (outside <= 1e-5 * (steps + np.abs(found.weights))).all()


def test_out_of_passes(monkeypatch):
    """Both values still enclose the optimum, and there is a warning."""
    X, y = make_banana(4000, random_state=0)
    monkeypatch.setattr("kernelet.solvers.blocks.hinge._MAX_PASSES", 2)
    rows = out_of_core(X, y)
    space = PrincipalMap.from_vectors(Gaussian(0.5), X[:100], 15)
    (found,) = block_hinge(rows, space, rows.sample(400, 0), 50.0, penalty=LinearNormPenalty())
    assert found.status is Status.ITERATION_LIMIT
    whole = hinge_lasso(space.features(X), 2.0 * y - 1.0, 50.0)
    assert found.dual_value <= whole.primal_value <= found.primal_value
    monkeypatch.setattr("kernelet.solvers.blocks.hinge.NEAR_ROWS", 100)
    monkeypatch.setattr("kernelet.solvers.blocks.hinge._NEAR_ROWS_PER_FEATURE", 0)
    monkeypatch.setattr(out_of_core_data, "__defaults__", (None, None, 400))
    model = SubspaceLPSVC(15, landmarks=X[:100], C=50.0, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"only reached a relative gap of .*: stopped at max_iter"
    ):
        model.fit(*(Chunks.of(np.array_split(column, 5)) for column in (X, y)))
    assert model.gap_ > 1e-6
    assert model.score(X, y) > 0.85
