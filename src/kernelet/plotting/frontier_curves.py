"""Curves of error against cost, from searches and tables of results."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kernelet import learners
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import choice
from kernelet.plotting.canvas import COLOURS, colour, legend_name, marker
from kernelet.plotting.models import last_step
from kernelet.selection import BudgetSearchCV
from kernelet.selection.rules import standard_errors

# The column of a search that tries several numbers of bits, also of a step of a Pipeline.
_BITS = re.compile(r"param_(.*__)?vector_bits")


class CostNames(NamedTuple):
    """Names of a cost: in ``cv_results_``, in the frontier tables of benchmarks/, on an axis."""

    in_search: str
    in_table: str
    label: str


COSTS = {
    "vectors": CostNames("mean_n_vectors", "n_vectors", "vectors"),
    "microseconds": CostNames("mean_microseconds", "predict_us", "microseconds per row"),
    "bytes": CostNames("mean_bytes", "n_bytes", "bytes"),
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


def search_frontier(search: BudgetSearchCV, x: str, name: str | None) -> dict[str, Any]:
    """What `FrontierDisplay` draws of a fitted search.

    Parameters
    ----------
    search : BudgetSearchCV
    x : {"vectors", "microseconds", "bytes"}
    name : str or None
        Name of the curve; None means the class of the model.
    """
    own = type(last_step(search.searched)).__name__
    frontier = {"x": x, **search_curves(search.cv_results_, x, name or own, search.best_index_)}
    if search.reference_score_ is not None:
        frontier["reference"] = 100.0 * (1.0 - search.reference_score_)
    if search.reference is not None and not isinstance(search.reference, Real):
        frontier["reference_name"] = type(last_step(search.reference)).__name__
    if search.reference_results_ is not None:
        spread = search.reference_results_["standard_error_test_score"]
        frontier["reference_error"] = 100.0 * spread
        frontier["reference_cost"] = search.reference_results_[COSTS[x].in_search]
    if search.scoring is not None and search.scoring != "accuracy":
        scoring = search.scoring
        score = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
        frontier["error_name"] = f"1 - {score}"
    return frontier


def results_frontier(
    results: Any, x: str, name: str, reference: float | str | None, chosen: int | None
) -> dict[str, Any]:
    """What `FrontierDisplay` draws of a table.

    Parameters
    ----------
    results : mapping, DataFrame, str or path
        ``cv_results_``, or a frontier table.
    x : {"vectors", "microseconds", "bytes"}
    name : str
        Name of the curve of ``cv_results_``.
    reference : float, str or None
        An error in percent, or a method of the table, which is then a line instead of a curve.
    chosen : int or None
        Index of the budget to mark.
    """
    columns = columns_of(results)
    frontier: dict[str, Any] = {"x": x, "chosen": chosen}
    if "mean_test_score" in columns:
        frontier |= search_curves(columns, x, name, chosen)
        curves = frontier["curves"]
    elif {"method", "budget", "error"} <= set(columns):
        curves = frontier["curves"] = table_curves(columns, x)
    else:
        raise ValueError(
            "results must have the columns of cv_results_ (mean_test_score, ...) or of a "
            f"frontier table (method, budget, error, ...); got {sorted(columns)}."
        )
    if isinstance(reference, str):
        choice("reference", reference, curves)
        line = curves.pop(reference)
        best = int(line.errors.argmin())
        frontier |= {"reference": float(line.errors[best]), "reference_name": reference}
        frontier["reference_cost"] = float(line.costs[best])
    elif reference is not None:
        frontier["reference"] = float(reference)
    return frontier


def curve_styles(
    names: Iterable[str], ours: str | Collection[str] | None
) -> dict[str, dict[str, Any]]:
    """Options of matplotlib's ``errorbar`` for each curve, in the order of drawing.

    Ours are drawn last, in front of the others and thicker; their colours are not used again.

    Parameters
    ----------
    names : iterable of str
    ours : str, collection of str or None
        As in `FrontierDisplay`.
    """
    names = list(names)
    if ours is None:
        front = {name for name in names if _is_own(name)}
    else:
        front = {
            choice("ours", each, names) for each in ([ours] if isinstance(ours, str) else ours)
        }
    if front == set(names):
        front = set()  # there are no others
    # Okabe and Ito's colours come round again after eight curves, but not to ours
    n_free = max(1, len(COLOURS) - len(front))
    styles: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(name for name in names if name not in front):
        number = len(front) + place
        styles[name] = _style(name, len(front) + place % n_free, number) | {"linewidth": 1.6}
    for number, name in enumerate(name for name in names if name in front):
        styles[name] = _style(name, number, number) | {"linewidth": 3.2, "zorder": 3}
    return styles


def _style(name: str, colour_number: int, marker_number: int) -> dict[str, Any]:
    return {
        "color": colour(colour_number),
        "marker": marker(marker_number),
        "markersize": 5,
        "capsize": 3,
        "elinewidth": 1.0,
        "label": legend_name(name),
    }


def _is_own(name: str) -> bool:
    """Whether a name is that of an estimator of this package, in either way to write it."""
    return _plain(name) in {_plain(own) for own in learners.__all__}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


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


def search_curves(
    results: Mapping[str, Any], x: str, name: str, chosen: int | None
) -> dict[str, Any]:
    """The curve of a search, or one for each number of bits; and where the chosen budget is.

    Parameters
    ----------
    results : mapping
        ``cv_results_``.
    x : {"vectors", "microseconds", "bytes"}
    name : str
    chosen : int or None
        Index of the chosen budget in the results.
    """
    whole = search_curve(results, x)
    column = next((key for key in results if _BITS.fullmatch(key)), None)
    if column is None:
        return {"curves": {name: whole}, "chosen": chosen}
    bits = [int(_number(value)) for value in results[column]]  # 0 where there is none
    found: dict[str, Any] = {"curves": {}, "chosen": None}
    for number in sorted(set(bits), key=lambda number: number or np.inf):
        places = [place for place, own in enumerate(bits) if own == number]
        label = f"{name}, {number} bits" if number else f"{name}, not rounded"
        found["curves"][label] = FrontierCurve(
            whole.costs[places], whole.errors[places], whole.standard_errors[places]
        )
        if chosen in places:
            found |= {"chosen": places.index(chosen), "chosen_curve": label}
    return found


def search_curve(results: Mapping[str, Any], x: str) -> FrontierCurve:
    """The curve of a search's ``cv_results_``; its error is one minus the score, in percent.

    Parameters
    ----------
    results : mapping
    x : {"vectors", "microseconds", "bytes"}
    """
    scores = np.asarray(results["mean_test_score"], dtype=np.float64)
    spread = np.asarray(results["standard_error_test_score"], dtype=np.float64)
    costs = np.asarray(results[COSTS[x].in_search], dtype=np.float64)
    return FrontierCurve(costs, 100.0 * (1.0 - scores), 100.0 * spread)


def table_curves(columns: Mapping[str, Any], x: str) -> dict[str, FrontierCurve]:
    """A curve for each method of a frontier table: the means over its runs, by budget.

    Parameters
    ----------
    columns : mapping
        With ``method``, ``budget``, ``error`` (in percent), and the cost.
    x : {"vectors", "microseconds", "bytes"}
    """
    cost_name = COSTS[x].in_table
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
        values = np.array(group)
        points.append((*values.mean(axis=0), standard_errors(values)[1]))
    return FrontierCurve(*np.array(points).T)


def _number(text: Any) -> float:
    """A cell as a number; an empty cell means no budget, 0."""
    if text is None or text == "" or text != text:
        return 0.0
    return float(text)
