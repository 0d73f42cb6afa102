"""Models in few bits: machines made at once, for which any grid will do, and fitted models."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kernelet
from export_models import flowers, table
from kernelet import KernelMachine
from kernelet.kernels import Kernel, Matern32
from kernelet.machine.rounding import coefficient_scales, compact_form, vector_grid

# What an entry of a vector may have, and what coefficients that go with it have.
BITS = {2: 4, 3: 4, 4: 4, 5: 5, 6: 6, 7: 6, 8: 8, 9: 8, 11: 16, 16: 16}


def compact_machine(
    kernel: Kernel,
    Z: np.ndarray,
    coefficients: np.ndarray,
    intercepts: np.ndarray,
    bits: int,
    droppable: np.ndarray | None = None,
) -> KernelMachine:
    """A machine near these numbers, whose own numbers are in few bits."""
    grid = vector_grid(kernel, Z, bits, droppable=droppable)
    own = BITS[bits]
    scales = coefficient_scales(coefficients, intercepts, own)
    codes = np.rint(coefficients / scales.values[:, np.newaxis])
    return KernelMachine.from_compact(compact_form(grid, codes, scales, intercepts, own))


def random_machine(
    kernel: Kernel, shape: tuple[int, int, int], bits: int, seed: int
) -> tuple[KernelMachine, np.ndarray]:
    """A machine of m vectors with d features and k outputs, and rows for it.

    Vectors differ more in some features than in others, and not at all in a fifth of them, half of
    which the kernel does not use.
    """
    m, d, k = shape
    rng = np.random.default_rng(seed)
    spread = np.exp(rng.normal(size=d))
    spread[rng.random(d) < 0.2] = 0.0
    middle = rng.normal(size=d)
    Z = middle + spread * rng.normal(size=(m, d))
    X = middle + rng.normal(size=(12, d))
    droppable = rng.random(d) < 0.5
    beta = rng.normal(size=(m, k)) * np.exp(rng.normal(size=(m, 1)))
    return compact_machine(kernel, Z, beta, rng.normal(size=k), bits, droppable), X


def _columns() -> np.ndarray:
    """Iris with a column that is constant, and one that is nearly so."""
    X, _ = flowers()
    rare = np.zeros(len(X))
    rare[::50] = 0.25
    return np.column_stack([X[:, :2], np.full(len(X), 3.0), X[:, 2:], rare])


def _fit(kind: type, n_classes: int = 3, **parameters: Any) -> Any:
    _, y = flowers()
    names = np.array(["a", "b", "c"])[np.minimum(y, n_classes - 1)]
    return kind(random_state=0, **parameters).fit(_columns(), names)


def _calibrated(n_classes: int) -> Any:
    X, (_, y) = _columns(), flowers()
    y = np.minimum(y, n_classes - 1)
    small = kernelet.SparseSVC(5, vector_bits=5, random_state=0).fit(X[:100], y[:100])
    return kernelet.calibrate(small, X[100:], y[100:])


def _scaled() -> Any:
    _, y = flowers()
    small = kernelet.SparseSVC(5, vector_bits=4, random_state=0)
    return make_pipeline(StandardScaler(), small).fit(_columns(), y)


MODELS: dict[str, Callable[[], Any]] = {
    "two classes": lambda: _fit(kernelet.SparseSVC, 2, n_vectors=4, vector_bits=3),
    "three classes": lambda: _fit(kernelet.SparseSVC, n_vectors=6, vector_bits=5),
    "per class": lambda: _fit(
        kernelet.SparseSVC, n_vectors=3, vectors="per_class", vector_bits=7, C=10.0
    ),
    "Matern": lambda: _fit(
        kernelet.SparseSVC, n_vectors=6, kernel=Matern32(0.5), vector_bits=5, learn_kernel=False
    ),
    "combinations": lambda: _fit(
        kernelet.SparseSVC, n_vectors=5, learn_kernel="projection", rank=2, vector_bits=8
    ),
    "rows as vectors": lambda: _fit(kernelet.ReducedSVC, n_vectors=6, vector_bits=16),
    "calibrated": lambda: _calibrated(3),
    "two classes, calibrated": lambda: _calibrated(2),
    "pipeline": _scaled,
    "table": lambda: kernelet.TableModel.fit(
        table(), "species", kernelet.SparseSVC(6, vector_bits=6, random_state=0)
    ),
    "pairs": lambda: kernelet.compress(SVC().fit(_columns(), flowers()[1]), 6, vector_bits=5),
    "outliers": lambda: kernelet.SparseOneClassSVM(5, vector_bits=5, random_state=0).fit(
        _columns()
    ),
    "regression": lambda: kernelet.SparseSVR(5, vector_bits=6, random_state=0).fit(
        _columns(), flowers()[1].astype(float)
    ),
    "several targets": lambda: kernelet.SparseKernelRidge(5, vector_bits=5, random_state=0).fit(
        _columns(), np.eye(3)[flowers()[1]]
    ),
    "compressed values": lambda: kernelet.compress(
        SVR().fit(_columns(), flowers()[1]), 6, vector_bits=9
    ),
}


@functools.cache
def fitted(name: str) -> Any:
    """The model of that name; tests must not change it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MODELS[name]()


def rows_for(model: Any) -> Any:
    """Forty rows that the model takes, or a table of them."""
    if isinstance(model, kernelet.TableModel):
        return {name: column[:40] for name, column in table().items()}
    return _columns()[:40]


def machine_of(model: Any, rows: Any) -> tuple[KernelMachine, np.ndarray]:
    """The machine inside of a model, and what it is given."""
    if isinstance(model, kernelet.TableModel):
        return model.estimator.machine_, model.encoder.transform(rows)
    if isinstance(model, Pipeline):
        return model[-1].machine_, model[:-1].transform(rows)
    inner = getattr(model, "estimator_", model)
    return inner.machine_, rows
