"""The checkerboard: a machine of every method and size, as numbers that a page evaluates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import SVC

from kernelet.datasets import checkerboard_grid, make_checkerboard
from kernelet.kernels import Gaussian
from kernelet.report.comparison import SVM, clocked
from kernelet.report.digits import plain_document
from kernelet.report.methods import DemoTask, methods

N_TRAIN = 400  # 25 points a square
# Of gamma from 0.5 to 8 and C from 1 to 1000 in powers, among the best for the full SVM: 7.3 % with
# the seed 0, where the least is 7.1 %.
GAMMA = 2.0
C = 100.0
# From too few for 16 squares to three a square.
SIZES = (4, 8, 12, 16, 24, 32, 48)


def board_task(seed: int, n_train: int = N_TRAIN) -> DemoTask:
    """Points of a board of 4 by 4 squares; judged on a grid of 99 by 99."""
    X, y = make_checkerboard(n_train, random_state=seed)
    X_test, y_test = checkerboard_grid(n_points=99)
    svm, seconds = clocked(lambda: SVC(C=C, gamma=GAMMA).fit(X, y))
    return DemoTask(X, y, X_test, y_test, Gaussian(GAMMA), C, seed, svm, seconds)


def board_document(
    task: DemoTask,
    sizes: tuple[int, ...] = SIZES,
    begun: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """All that the page draws of the board, in types of JSON.

    Parameters
    ----------
    task : DemoTask
    sizes : tuple of int
        Numbers of vectors, for the methods that take one.
    begun : callable
        Called with the name of each method before its machines are learned.

    Returns
    -------
    dict
        "points" and "labels" of the training rows, and "methods", each with its machines.
    """
    entries = [_entry(SVM, "all the support vectors", [_machine(task, task.svm, None)])]
    for method in methods():
        begun(f"checkerboard: {method.name}")
        wanted = sizes if method.has_budget else (None,)
        machines = [_machine(task, method.learn(task, size), size) for size in wanted]
        entries.append(_entry(method.name, method.summary, machines))
    return {
        "points": np.round(task.X_train, 3).tolist(),
        "labels": task.y_train.tolist(),
        "side": 4,
        "methods": entries,
    }


def _entry(name: str, summary: str, machines: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "summary": summary, "machines": machines}


def _machine(task: DemoTask, model: Any, budget: int | None) -> dict[str, Any]:
    return {
        "budget": budget,
        "error": float(np.mean(model.predict(task.X_test) != task.y_test)),
        "model": plain_document(model),
    }
