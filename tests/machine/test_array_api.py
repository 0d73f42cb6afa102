"""Machines on arrays of another library, here the strictest: the same function, the same type.

`tests/pytorch` does the same with PyTorch.
"""

from __future__ import annotations

import copy
import pickle

import array_api_strict
import numpy as np
import pytest

import array_libraries
from array_libraries import BIASES, COMPOSITES, KERNELS, NEW, VECTORS, WEIGHTS
from kernelet.kernels import CallableKernel, Gaussian
from kernelet.machine import KernelMachine
from kernelet.machine.array_api import array_namespace


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_scores(kernel, single):
    array_libraries.check_scores(array_api_strict, kernel, single)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSITES], ids=repr)
def test_formulas(kernel):
    array_libraries.check_formula(array_api_strict, kernel)


def test_shapes_and_errors():
    array_libraries.check_shapes_and_errors(array_api_strict, pytest.raises)


def test_far_from_zero():
    array_libraries.check_far_from_zero(array_api_strict)


def test_blocks(monkeypatch):
    array_libraries.check_blocks(array_api_strict, monkeypatch)


def test_devices():
    machine = KernelMachine(Gaussian(0.5), VECTORS, WEIGHTS, BIASES)
    for name in ("CPU_DEVICE", "device1"):
        device = array_api_strict.Device(name)
        rows = array_api_strict.asarray(NEW, device=device)
        assert machine.decision_function(rows).device == device


def test_kernels_without_a_formula():
    machine = KernelMachine(CallableKernel(lambda A, B: A @ B.T), VECTORS, WEIGHTS, BIASES)
    with pytest.raises(TypeError, match="has no formula, so it is evaluated in NumPy only"):
        machine.decision_function(array_api_strict.asarray(NEW))


def test_what_was_evaluated_elsewhere_is_not_stored():
    machine = KernelMachine(Gaussian(0.5), VECTORS, WEIGHTS, BIASES)
    before = pickle.dumps(machine)
    machine.decision_function(array_api_strict.asarray(NEW))
    assert pickle.dumps(machine) == before
    assert copy.deepcopy(machine) == machine


def test_numpy_stays_numpy():
    class Rows(np.ndarray):
        pass

    machine = KernelMachine(Gaussian(0.5), VECTORS, WEIGHTS, BIASES)
    for rows in (NEW, NEW.tolist(), NEW.view(Rows), np.float64(1.0)):
        assert array_namespace(rows) is None
    assert type(machine.decision_function(NEW.view(Rows))) is np.ndarray
