"""Curves of error against cost out of tables of results."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
# x -> (column of cv_results_, column of the frontier tables of benchmarks/, label)
COSTS = {
    "vectors": ("mean_n_vectors", "n_vectors", "vectors"),
    "microseconds": ("mean_microseconds", "predict_us", "microseconds per row"),
    "bytes": ("mean_bytes", "n_bytes", "bytes"),
}


@dataclass(frozen=True, eq=False)
class FrontierCurve:
    """Error against cost.

    Attributes
    ----------
    costs, errors, standard_errors : ndarrays of shape (n_budgets,)
        The errors in percent.
    """

    costs: FloatArray
    errors: FloatArray
    standard_errors: FloatArray


def columns_of(table: Any) -> dict[str, Any]:
    """The columns of a dictionary, a DataFrame or a csv file.

    Parameters
    ----------
    table : mapping, DataFrame, str or path
    """
    if isinstance(table, str | os.PathLike):
        with open(table, newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
            return {name: [row[name] for row in rows] for name in reader.fieldnames or ()}
    if isinstance(table, Mapping):
        return dict(table)
    return {str(name): np.asarray(table[name]) for name in table.columns}


def search_curve(results: Mapping[str, Any], x: str) -> FrontierCurve:
    """The curve of a search's ``cv_results_``; its error is one minus the score, in percent.

    Parameters
    ----------
    results : mapping
    x : {"vectors", "microseconds", "bytes"}
    """
    scores = np.asarray(results["mean_test_score"], dtype=np.float64)
    spread = np.asarray(results["standard_error_test_score"], dtype=np.float64)
    costs = np.asarray(results[COSTS[x][0]], dtype=np.float64)
    return FrontierCurve(costs, 100.0 * (1.0 - scores), 100.0 * spread)


def table_curves(columns: Mapping[str, Any], x: str) -> dict[str, FrontierCurve]:
    """A curve for each method of a frontier table: the means over its runs, by budget.

    Parameters
    ----------
    columns : mapping
        With ``method``, ``budget``, ``error`` (in percent), and the cost.
    x : {"vectors", "microseconds", "bytes"}
    """
    cost_name = COSTS[x][1]
    runs: dict[str, dict[float, list[tuple[float, float]]]] = {}
    names = ("method", "budget", cost_name, "error")
    for method, budget, cost, error in zip(*(columns[name] for name in names), strict=True):
        if _number(cost) > 0.0:  # a tree has no vectors, and the axis is logarithmic
            by_budget = runs.setdefault(str(method), {})
            by_budget.setdefault(_number(budget), []).append((_number(cost), _number(error)))
    return {method: _mean_curve(by_budget) for method, by_budget in sorted(runs.items())}


def _mean_curve(runs: Mapping[float, list[tuple[float, float]]]) -> FrontierCurve:
    points = []
    for _, group in sorted(runs.items()):
        costs, errors = np.array(group).T
        spread = errors.std(ddof=1) / np.sqrt(errors.size) if errors.size > 1 else 0.0
        points.append((costs.mean(), errors.mean(), spread))
    return FrontierCurve(*np.array(points).T)


def _number(text: Any) -> float:
    """A cell as a number; an empty one counts as no budget, 0."""
    if text is None or text == "" or text != text:
        return 0.0
    return float(text)
