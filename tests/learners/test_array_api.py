"""Estimators on arrays of another library, here the strictest, where scikit-learn dispatches.

`tests/pytorch` does the same with PyTorch.
"""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

import array_libraries
from array_libraries import IRIS, NAMES_OF_MODELS


@pytest.fixture(autouse=True)
def scipy_too(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it


@pytest.mark.parametrize("name", NAMES_OF_MODELS)
def test_models(name):
    array_libraries.check_model(array_api_strict, name)


def test_without_dispatch_everything_is_in_numpy():
    model = array_libraries.models()["classes"]
    rows = array_api_strict.asarray(IRIS)
    assert isinstance(model.decision_function(rows), np.ndarray)
    assert isinstance(model.predict(rows), np.ndarray)
