"""A choice that has to end in time: what has done best until then, with a search of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelet.datasets import make_ripley
from kernelet.learners import SparseKernelRidge, SparseSVC, SparseSVR
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct import learn as direct_learn
from kernelet.learners.direct.budgets.choice import BudgetChoice
from kernelet.learners.direct.budgets.estimator import choosing_within
from kernelet.learners.direct.budgets.kernel import worth_it
from kernelet.learners.direct.budgets.tried import Tried

ROWS, CLASSES = make_ripley(200, random_state=0)
RNG = np.random.default_rng(0)
VALUES = np.sin(2.0 * ROWS[:, 0]) + 0.1 * RNG.normal(size=len(ROWS))
KINDS = [(SparseSVC, CLASSES), (SparseKernelRidge, VALUES), (SparseSVR, VALUES)]


@pytest.mark.parametrize(("kind", "target"), KINDS)
def test_time_enough_changes_nothing(kind, target):
    usual = kind("auto", learn_kernel="features", random_state=0).fit(ROWS, target)
    limited = kind("auto", learn_kernel="features", random_state=0)
    with choosing_within(limited, 1e6) as choice:
        limited.fit(ROWS, target)
    assert not choice.is_late
    assert_array_equal(limited.machine_.vectors, usual.machine_.vectors)
    assert_array_equal(limited.path_["n_vectors"], usual.path_["n_vectors"])


@pytest.mark.parametrize(("kind", "target"), KINDS)
def test_no_time_leaves_the_usual_number(kind, target):
    model = kind("auto", random_state=0)
    with choosing_within(model, 1e-9) as choice:
        model.fit(ROWS, target)
    assert choice.is_late and choice.kernels == [] and not model.interrupted_
    assert model.n_vectors_ == 20 and model.path_["n_vectors"].size == 0
    # the limit is that of the block, and the next fit has all the time
    assert model.score(ROWS, target) > 0.4
    model.fit(ROWS, target)
    assert model.path_["n_vectors"].size > 1


def test_kernels_are_compared_in_folds():
    """The default stays, unless another is better by a standard error."""
    model = SparseSVC("auto", random_state=0)
    with choosing_within(model, 1e6) as choice:
        model.fit(ROWS, CLASSES)
    default, *others = choice.kernels
    assert default.parameter == "projection"  # few features, and many rows for each
    assert {one.parameter for one in others} == {True, "features"}
    best = max(choice.kernels, key=lambda one: one.score)
    is_better = best.score > default.score + default.standard_error
    assert [one for one in choice.kernels if one.is_chosen] == [best if is_better else default]


@pytest.mark.parametrize(
    ("scores", "place"), [([0.8, 0.85, 0.91], 2), ([0.8, 0.84, 0.7], 0), ([0.8], 0)]
)
def test_a_kernel_has_to_be_worth_it(scores, place):
    assert worth_it([Tried(20, score, 0.05, 100.0) for score in scores]) == place


def test_a_kernel_that_is_asked_for_is_not_compared():
    for options in ({"learn_kernel": True}, {"kernel": "linear"}, {"rank": 2}):
        model = SparseSVC("auto", random_state=0, **options)
        with choosing_within(model, 1e6) as choice:
            model.fit(ROWS, CLASSES)
        assert choice.kernels == [] and model.path_["n_vectors"].size > 1


@pytest.mark.parametrize("n_tried", [1, 2])
def test_the_best_so_far_is_taken(n_tried, monkeypatch):
    """A clock that stops the choice once so many numbers have been tried."""
    scored, choices = BudgetChoice._scored, []

    def counted(self, *arguments):
        choices.append(arguments[0])
        return scored(self, *arguments)

    monkeypatch.setattr(BudgetChoice, "_scored", counted)
    monkeypatch.setattr(Loop, "has_time_to_choose", lambda self, share=1.0: len(choices) < n_tried)
    model = SparseSVC("auto", learn_kernel="features", random_state=0)
    with choosing_within(model, 1e6) as choice:
        model.fit(ROWS, CLASSES)
    assert choice.is_late
    assert model.path_["n_vectors"].tolist() == choices == [5, 10][:n_tried]
    best = model.path_["score"].max()
    errors = model.path_["standard_error"][model.path_["score"].argmax()]
    enough = model.path_["n_vectors"][model.path_["score"] >= best - errors]
    assert model.n_vectors_ == enough.min()


def test_a_cost_that_there_is_no_time_for_is_that_of_the_path(monkeypatch):
    """The last fit chooses C anew, and does without where time ends that."""
    choose_cost, costs = direct_learn.choose_cost, []

    def counted(*arguments):
        chosen = choose_cost(*arguments)
        costs.append(chosen.cost if not costs else 1e4)  # which a search cut short may come to
        return replace(chosen, cost=costs[-1])

    monkeypatch.setattr(direct_learn, "choose_cost", counted)
    monkeypatch.setattr(Loop, "has_time_to_choose", lambda self, share=1.0: len(costs) < 2)
    model = SparseSVC("auto", learn_kernel="features", random_state=0)
    with choosing_within(model, 1e6) as choice:
        model.fit(ROWS, CLASSES)
    assert len(costs) == 2 and costs[0] == model.C_
    assert not choice.is_late  # the number itself was chosen in time
