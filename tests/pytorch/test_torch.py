"""Machines and estimators on tensors of PyTorch: `make test-torch`.

On the processor, and on a graphics processor if there is one that PyTorch knows.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

import array_libraries
from array_libraries import (
    BIASES,
    COMPOSITES,
    IRIS,
    KERNELS,
    NAMES_OF_MODELS,
    NEW,
    VECTORS,
    WEIGHTS,
)
from kernelet.kernels import Gaussian
from kernelet.machine import KernelMachine

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(autouse=True, params=DEVICES)
def device(request):
    with torch.device(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def scipy_too(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_scores(kernel, single):
    array_libraries.check_scores(torch, kernel, single)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_formulas(kernel):
    array_libraries.check_formula(torch, kernel)


def test_shapes_and_errors():
    array_libraries.check_shapes_and_errors(torch, pytest.raises)


def test_far_from_zero():
    array_libraries.check_far_from_zero(torch)


def test_blocks(monkeypatch):
    array_libraries.check_blocks(torch, monkeypatch)


@pytest.mark.parametrize("name", NAMES_OF_MODELS)
def test_models(name):
    array_libraries.check_model(torch, name)


def test_gradients_in_the_rows():
    """Everything between rows and scores is differentiable; compared with central differences."""
    machine = KernelMachine(Gaussian(0.5), VECTORS, WEIGHTS, BIASES)
    rows = torch.asarray(NEW[40:45]).clone().requires_grad_(True)
    machine.decision_function(rows)[:, 1].sum().backward()
    step = 1e-6
    for column in range(4):
        moved = NEW[40:45] + step * np.eye(4)[column], NEW[40:45] - step * np.eye(4)[column]
        ahead, behind = (machine.decision_function(each)[:, 1] for each in moved)
        found = rows.grad[:, column].cpu().numpy()
        np.testing.assert_allclose(found, (ahead - behind) / (2 * step), atol=1e-7)


def test_without_dispatch_everything_is_in_numpy():
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    model = array_libraries.models()["classes"]
    rows = torch.asarray(IRIS, device="cpu")
    assert isinstance(model.decision_function(rows), np.ndarray)
    assert isinstance(model.predict(rows), np.ndarray)
