"""A small model of every kind that files hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR

import kernelet
from kernelet.kernels import Gaussian, Matern52, Polynomial, ProjectedFeatures, ScaledFeatures
from kernelet.machine import (
    CalibratedMachine,
    KernelMachine,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.machine.rounding import coefficient_scales, compact_form, vector_grid


def small_models() -> list[object]:
    """A small model of every kind that files hold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["no", "maybe", "yes"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    svc = kernelet.SparseSVC(4, max_iter=3, random_state=0)
    per_class = kernelet.SparseSVC(2, max_iter=3, random_state=0, vectors="per_class")
    machine = kernelet.KernelMachine(
        0.5 * Gaussian(0.3) + Matern52(1.0) * Polynomial(1.0, 1.0, 2),
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 2)),
        rng.normal(size=2),
    )
    one = kernelet.KernelMachine(Gaussian(1.0), X[:2], [1.0, -1.0])
    weights = {"no": 1.0, "maybe": 2.0, "yes": 0.5}
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down"), "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = svc.fit(X, y)
        return [
            machine,
            machine.astype(np.float32),
            kernelet.KernelMachine(Gaussian(1.0), np.zeros((0, 3)), np.zeros((0, 1)), 0.5),
            kernelet.KernelMachine(Gaussian(1.0), rng.normal(size=(500, 40)), rng.normal(size=500)),
            kernelet.KernelMachine(
                ProjectedFeatures(Gaussian(1.0), X[:2]), X[:5], rng.normal(size=5)
            ),
            kernelet.KernelMachine(
                ScaledFeatures(Gaussian(1.0), [0.0, 2.0, 0.0]), X[:5] * [0.0, 1.0, 0.0], np.ones(5)
            ),
            CalibratedMachine(one, SigmoidCalibration(np.array([-1.0]), np.array([0.1]))),
            CalibratedMachine(one, TemperatureCalibration(2.0)),
            fitted,
            per_class.fit(X, y == "yes"),
            kernelet.ReducedSVC(4, init=X[:4], class_weight=weights).fit(X, y),
            kernelet.KernelFisherClassifier(2, max_iter=3).fit(X, y),
            kernelet.KernelFisherDiscriminant(n_vectors=3, max_iter=3).fit(X, y),
            kernelet.RelevanceVectorRegressor(max_iter=20).fit(X, X[:, 0]),
            kernelet.SparseOneClassSVM(2, max_iter=3, random_state=0).fit(X),
            kernelet.SparseKernelPCA(3, max_iter=3, random_state=0).fit(X),
            kernelet.NormSVR(kernel="poly", degree=2).fit(X, X[:, 0]),
            kernelet.calibrate(fitted, X, y),
            kernelet.compress(fitted, 2),
            kernelet.TableModel.fit(table, "y", kernelet.ReducedSVC(3, random_state=0)),
            kernelet.calibrate(make_pipeline(StandardScaler(), SVC()).fit(X, y), X, y),
            make_pipeline(MinMaxScaler((1, 2)), RobustScaler(), SVR()).fit(X, X[:, 0]),
            make_pipeline(MaxAbsScaler(), SVC()).fit(X, y == "yes"),
            *in_few_bits(),
        ]


def in_few_bits() -> list[object]:
    """Small models in few bits: of every array that their files hold, and of every kind."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 9))
    y = np.array(["no", "maybe", "yes"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    scales = np.where(np.arange(9) % 4 == 2, 0.0, rng.uniform(0.1, 2.0, 9))
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down"), "y": y}
    few = {"vector_bits": 4, "max_iter": 3, "random_state": 0}
    left_out = ScaledFeatures(Gaussian(0.4), scales)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kernelet.SparseSVC(4, **few).fit(X, y)
        return [
            rounded_machine(Gaussian(0.4), X[:5], 2, 4),
            rounded_machine(left_out, X[:7], 5, 6, 3),
            rounded_machine(left_out, X[:7], 9, 16).astype(np.float32),
            rounded_machine(ProjectedFeatures(Gaussian(0.4), X[7:10] / 3.0), X[:6], 6, 5, 2),
            rounded_machine(
                ScaledFeatures(Matern52(1.0) * Polynomial(0.1, 1.0, 2), scales), X[:4], 8, 8
            ),
            rounded_machine(Gaussian(0.4), X[:0], 3, 4),
            rounded_machine(Gaussian(0.4), np.where(np.arange(9) < 7, 1.0, X[:300]), 3, 4),
            fitted,
            kernelet.SparseSVC(2, vectors="per_class", **few).fit(X, y == "yes"),
            kernelet.SparseKernelRidge(3, **few).fit(X, X[:, :2]),
            kernelet.calibrate(fitted, X, y),
            kernelet.compress(fitted, 2, vector_bits=5),
            kernelet.TableModel.fit(table, "y", kernelet.SparseSVC(3, **few)),
        ]


def rounded_machine(
    kernel: Any, vectors: Any, bits: int, coefficient_bits: int, n_outputs: int = 1
) -> KernelMachine:
    """A machine in few bits over rounded vectors."""
    rng = np.random.default_rng(bits)
    m, largest = len(vectors), 2 ** (coefficient_bits - 1) - 1
    beta, intercepts = rng.normal(size=(m, n_outputs)), rng.normal(size=n_outputs)
    scales = coefficient_scales(beta, intercepts, coefficient_bits)
    whole = np.clip(np.rint(beta / scales.values[:, np.newaxis]), -largest, largest)
    grid = vector_grid(kernel, vectors, bits)
    return KernelMachine.from_compact(
        compact_form(grid, whole, scales, intercepts, coefficient_bits)
    )
