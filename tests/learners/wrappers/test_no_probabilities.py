"""Classifiers without `predict_proba` say how to get it, and what they say works."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

import kernelet
from kernelet import learners
from kernelet.datasets import make_banana
from kernelet.learners import CalibratedClassifier, RelevanceVectorClassifier, SparseSVC

X, y = make_banana(120, random_state=0)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
HAVE = (CalibratedClassifier, RelevanceVectorClassifier)
CLASSIFIERS = [
    kind
    for kind in map(vars(learners).get, learners.__all__)
    if inspect.isclass(kind) and hasattr(kind, "fit") and is_classifier(kind())
]


def advice(model):
    """What is said of `predict_proba`."""
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    return str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind not in HAVE])
def test_all_classifiers_name_both_ways(kind):
    said = advice(kind())
    assert said.startswith(f"{kind.__name__} has no predict_proba")
    assert "kernelet.calibrate(model, X, y)" in said
    assert f"CalibratedClassifierCV({kind.__name__}())" in said
    assert not hasattr(kind, "predict_proba")


def test_there_are_many_classifiers_and_two_have_probabilities():
    assert len(CLASSIFIERS) >= 9
    for kind in HAVE:
        assert hasattr(kind(), "predict_proba")


def test_fitted_models_say_it_too():
    model = SparseSVC(5, random_state=0).fit(X, y)
    assert advice(model) == advice(SparseSVC())


def test_what_is_said_works():
    model = SparseSVC(5, random_state=0).fit(X, y)
    for expression in re.findall(r"kernelet\.calibrate\([^)]*\)", advice(model)):
        calibrated = eval(expression, {"kernelet": kernelet, "model": model, "X": X, "y": y})
        assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    names = {"CalibratedClassifierCV": CalibratedClassifierCV, "SparseSVC": SparseSVC}
    (text,) = re.findall(r"CalibratedClassifierCV\(\w+\(\)\)", advice(model))
    shares = eval(text, names).fit(X, y).predict_proba(X)
    assert shares.shape == (120, 2)
    assert np.mean(shares.argmax(axis=1) == (y == np.unique(y)[1])) > 0.8


def test_compressed_models():
    two = kernelet.compress(SVC().fit(X, y), 5)
    assert "kernelet.calibrate(model, X, y)" in advice(two)
    assert "CalibratedClassifierCV" not in advice(two)  # which would fit it
    pairs = kernelet.compress(SVC().fit(X, THREE), 10)
    (text,) = re.findall(r"kernelet\.cal\S* X, y\)", advice(pairs))
    fitted = eval(text, {"kernelet": kernelet, "model": pairs, "X": X, "y": THREE})
    assert fitted.predict_proba(X).shape == (120, 3)
