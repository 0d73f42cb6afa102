"""A fit that fails leaves the estimator, and the settings of the process, as they were."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_info

from estimator_checks import instances
from kernelet import BudgetSearchCV, SparseSVC
from kernelet.kernels.numerics.blocks import one_blas_thread
from kernelet.kernels.silence import silenced
from kernelet.learners.base.fit_method import fit_method

IRIS, SPECIES = load_iris(return_X_y=True)
ROWS = IRIS[::5], SPECIES[::5].astype(float)


def interrupted(kind):
    """The class, with Ctrl-C after the first fitted attribute that it sets."""

    class Interrupted(kind):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name not in type(self)._get_param_names():
                raise KeyboardInterrupt

    return Interrupted


def the_same(first, second):
    return {key: id(value) for key, value in first.items()} == {
        key: id(value) for key, value in second.items()
    }


@pytest.mark.parametrize("label", [*instances(), "BudgetSearchCV()"])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_batches"])
def test_ctrl_c_leaves_no_half_fit(label, method):
    searched = BudgetSearchCV(SparseSVC(max_iter=1, C=1.0), [2], cv=2)
    estimator = clone({**instances(), "BudgetSearchCV()": searched}[label])
    if not hasattr(estimator, method):
        assert method != "fit"
        return
    estimator.__class__ = interrupted(type(estimator))
    before = dict(vars(estimator))
    rows = ([ROWS],) if method == "fit_batches" else ROWS
    with pytest.raises(KeyboardInterrupt):
        getattr(estimator, method)(*rows)
    assert the_same(vars(estimator), before)
    # and as sklearn sees it: an attribute such as n_features_in_ would look like a fitted model
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(estimator)


def test_an_error_leaves_the_last_model():
    model = SparseSVC(3, C=1.0, max_iter=2, random_state=0).fit(IRIS, SPECIES)
    before, scores = dict(vars(model)), model.decision_function(IRIS)
    names = np.array(["yes", "no"])[(SPECIES == 0).astype(int)]
    with pytest.raises(ValueError, match="max_iter"):
        model.set_params(max_iter=-1).fit(IRIS[:, :2], names)
    assert the_same({**vars(model), "max_iter": None}, {**before, "max_iter": None})
    np.testing.assert_array_equal(model.decision_function(IRIS), scores)


class LeavesContextsOpen:
    """As Ctrl-C does that comes on the way into their ends."""

    def __init__(self, error):
        self.error = error

    @fit_method
    def fit(self):
        contexts = [
            np.errstate(all="raise"),
            one_blas_thread(),
            silenced(UserWarning, "a test"),
        ]
        for context in contexts:
            context.__enter__()
        # while these are referred to, nothing closes them
        self.contexts = contexts
        if self.error is not None:
            raise self.error
        return self


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()], ids=["a model", "Ctrl-C"])
def test_settings_are_as_before(error):
    def settings():
        threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        return np.geterr(), list(warnings.filters), threads

    before = settings()
    try:
        # what is left open inside must not undo what is open outside
        with one_blas_thread():
            LeavesContextsOpen(error).fit()
    except KeyboardInterrupt:
        assert error is not None
    assert settings() == before
    # no lock is left taken
    with one_blas_thread():
        assert settings()[1] == before[1]
