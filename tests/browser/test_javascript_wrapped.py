"""Pipelines, searches and other wrappers as JavaScript, run under node on the same raw rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from run_node import numbers, run_modules
from wrapped_models import MODELS, ROWS, VALUES, fitted, tolerance


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    tasks = []
    for name in MODELS:
        model = fitted(name)
        calls = ["decisionFunction", "predict"]
        calls += ["predictProba"] * hasattr(model, "predict_proba")
        tasks.append((model, ROWS, calls, None))
    answers = run_modules(tasks, tmp_path_factory.mktemp("models"))
    return dict(zip(MODELS, answers, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_same_answers(name, answered):
    model, answer = fitted(name), answered[name]
    if name in VALUES:
        assert_allclose(numbers(answer["predict"]), model.predict(ROWS), rtol=1e-9)
        return
    assert answer["classes"] == model.classes_.tolist()
    assert answer["predict"] == model.predict(ROWS).tolist()
    if hasattr(model, "predict_proba"):
        shares = numbers(answer["predictProba"])
        assert_allclose(shares, model.predict_proba(ROWS), atol=tolerance(name))
    if hasattr(model, "decision_function") and name != "one against one, two classes":
        wanted = model.decision_function(ROWS)
        scores = numbers(answer["decisionFunction"])
        assert_allclose(np.reshape(scores, wanted.shape), wanted, atol=1e-9)
