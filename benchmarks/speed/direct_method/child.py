"""One measurement in a process of its own: JSON in the first argument, figures printed as JSON.

The process that starts it says by PYTHONPATH which sources are measured, and allows one thread.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kernelet
from benchmarks.datasets import Split, Unavailable
from benchmarks.speed.direct_method.data import load

MODELS: dict[str, Any] = {
    "SparseSVC": kernelet.SparseSVC,
    "SparseKernelRidge": kernelet.SparseKernelRidge,
    "MLPClassifier": MLPClassifier,
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier,
    "SVC": SVC,
}
Figures = dict[str, float]
# Rows of the fit that loads, or compiles, what a first fit needs.
N_WARM = 300


def model_of(asked: Mapping[str, Any]) -> Any:
    """The estimator, seeded by the unit."""
    # a support vector machine without probabilities draws nothing
    seeded = {} if asked["method"] == "SVC" else {"random_state": asked["unit"]}
    return MODELS[asked["method"]](**asked["parameters"], **seeded)


def megabytes() -> float:
    """The most memory that this process has taken so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def error(model: Any, split: Split) -> float:
    """Wrong labels in percent, or the squared error in percent of the variance."""
    predicted = model.predict(split.X_test)
    if hasattr(model, "classes_"):
        return 100.0 * float(np.mean(predicted != split.y_test))
    return 100.0 * float(np.mean((predicted - split.y_test) ** 2) / np.var(split.y_test))


def timed(work: Callable[[], Any]) -> Figures:
    """Processor seconds, which other programs do not lengthen, and those on the wall."""
    start, wall = time.process_time(), time.perf_counter()
    work()
    return {"seconds": time.process_time() - start, "wall": time.perf_counter() - wall}


def fit(asked: Mapping[str, Any]) -> Figures:
    """The second fit of a process, on all rows; the first is on a few."""
    split = load(asked["dataset"], asked["unit"], asked["inputs"])
    rows = slice(0, N_WARM)
    warm = model_of(asked)
    if "n_vectors" in asked["parameters"]:
        warm.set_params(n_vectors=5)
    warm.fit(split.X_train[rows], split.y_train[rows])
    loaded, model = megabytes(), model_of(asked)
    figures = timed(lambda: model.fit(split.X_train, split.y_train))
    figures |= {"megabytes": megabytes(), "megabytes_before": loaded}
    return {**figures, "error": error(model, split), "n_test": len(split.y_test)}


def first(asked: Mapping[str, Any]) -> Figures:
    """The first fit of a process, and the second."""
    split = load(asked["dataset"], asked["unit"], asked["inputs"])
    found = [timed(lambda: model_of(asked).fit(split.X_train, split.y_train)) for _ in range(2)]
    return {**found[0], "second": found[1]["seconds"], "second_wall": found[1]["wall"]}


def search(asked: Mapping[str, Any]) -> Figures:
    """`BudgetSearchCV` over the budgets that are asked for, its model otherwise by defaults."""
    split = load(asked["dataset"], asked["unit"], asked["inputs"])
    options = dict(asked["parameters"])
    budgets = options.pop("budgets")
    maker = model_of({**asked, "parameters": options})
    model_of({**asked, "parameters": {**options, "n_vectors": 5}}).fit(
        split.X_train[:N_WARM], split.y_train[:N_WARM]
    )
    model = kernelet.BudgetSearchCV(maker, budgets=budgets)
    figures = timed(lambda: model.fit(split.X_train, split.y_train))
    return {**figures, "error": error(model, split)}


def dask(asked: Mapping[str, Any]) -> Figures:
    """Rows on two Dask workers of one thread each."""
    import dask as dask_package
    from distributed import Client, LocalCluster

    from benchmarks.scale.child import WORKERS, on_workers

    split = load(asked["dataset"], asked["unit"], asked["inputs"])
    # else Dask moves rows to a worker that happens to be idle
    dask_package.config.set({"distributed.scheduler.work-stealing": False})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.npy")
        np.save(path, np.column_stack([split.X_train, split.y_train]))
        with (
            LocalCluster(WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            client.run(lambda: __import__("kernelet.learners"))
            X, y = on_workers(path, 4 * WORKERS)
            model_of(asked).set_params(n_vectors=5).fit(X[:N_WARM], y[:N_WARM])
            model = model_of(asked)
            figures = timed(lambda: model.fit(X, y))
    return {**figures, "error": error(model, split)}


def limit(asked: Mapping[str, Any]) -> Figures:
    """An evaluation of W, and what it cannot do without."""
    from benchmarks.speed.direct_method.limit import evaluation_and_limit

    split = load(asked["dataset"], asked["unit"], asked["inputs"])
    return evaluation_and_limit(split.X_train, split.y_train, **asked["parameters"])


TASKS = {task.__name__: task for task in (fit, first, search, dask, limit)}


def main(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The figures, or why there are none; and which sources were measured."""
    warnings.simplefilter("ignore")  # the stopping rules of defaults are part of what is compared
    try:
        with threadpool_limits(limits=1):
            figures: dict[str, Any] = {"figures": TASKS[asked["task"]](asked)}
    except Unavailable as reason:
        figures = {"unavailable": str(reason)}
    return {**figures, "sources": str(Path(kernelet.__file__).parent.parent)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
