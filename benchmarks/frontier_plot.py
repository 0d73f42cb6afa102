"""Draw the frontier: three panels that share the error axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import methods
from benchmarks.datasets.specification import Specification
from benchmarks.frontier_limits import OURS
from benchmarks.results import Record, figures_of

PANELS = (
    ("kernel_evaluations", "vectors"),
    ("predict_us", "CPU microseconds per row"),
    ("n_bytes", "bytes"),
)
MARKERS = "osD^v<>PhX*p"
# matplotlib's, and more that differ from them, since methods are many; red is left to ours.
COLOURS = (*(f"C{number}" for number in (0, 1, 2, 4, 5, 6, 7, 8, 9)), "teal", "navy", "gold")
STYLE: dict[str, Any] = {"linewidth": 1.0, "alpha": 0.75, "zorder": 2}
# What the reader is to see first: thick, in a colour of its own, above the others.
OUR_STYLE: dict[str, Any] = {
    "color": "#d00000",
    "marker": "o",
    "linewidth": 3.2,
    "markersize": 8,
    "zorder": 10,
}
WIDTH, HEIGHT, DPI = 13.0, 4.6, 90


def curves(records: Sequence[Record], figure: str) -> dict[str, np.ndarray]:
    """Return for each method the mean of a figure, the mean error and its standard error.

    One row a budget, in order of the budget; methods without the figure are left out.
    """
    grouped: dict[str, dict[str, list[dict[str, float]]]] = {}
    for record in records:
        by_budget = grouped.setdefault(record["method"], {})
        by_budget.setdefault(record["budget"], []).append(figures_of(record))
    found = {}
    for method, by_budget in sorted(grouped.items()):
        rows = []
        for budget in sorted(by_budget, key=lambda text: float(text or 0)):
            measured = by_budget[budget]
            errors = [f["error"] for f in measured]
            spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
            rows.append((np.mean([f[figure] for f in measured]), np.mean(errors), spread))
        curve = np.array(rows)
        # log axis: a tree has no vectors
        if np.all(curve[:, 0] > 0):
            found[method] = curve
    return found


def draw(specification: Specification, records: Sequence[Record], path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    shown = [*sorted({record["method"] for record in records} - {OURS}), OURS]
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for panel, (column, label) in zip(panels, PANELS, strict=True):
        for method, curve in curves(records, column).items():
            panel.errorbar(
                curve[:, 0],
                curve[:, 1],
                yerr=curve[:, 2],
                capsize=2,
                label=methods.get(method).title,
                **style(shown.index(method), method, len(curve)),
            )
        panel.set(xscale="log", yscale="log", xlabel=label)
        panel.grid(True, which="both", linewidth=0.3, alpha=0.6)
    panels[0].set_ylabel("test error, %")
    ticks = [0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100]
    panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[0].minorticks_off()
    low, high = _range(records)
    panels[0].set_ylim(0.85 * low, 1.15 * high)
    # the panel of bytes has every method
    handles, labels = panels[-1].get_legend_handles_labels()
    if OURS in curves(records, PANELS[-1][0]):
        ours = labels.index(methods.get(OURS).title)
        handles.insert(0, handles.pop(ours))
        labels.insert(0, labels.pop(ours))
    figure.legend(handles, labels, loc="outside right center", fontsize=8, frameon=False)
    shape = specification.shape
    figure.suptitle(
        f"{specification.name}: {shape.train} training rows, {shape.columns} columns, "
        f"{shape.classes} classes",
        fontsize=11,
    )
    figure.savefig(path)


def style(number: int, method: str, n_points: int) -> dict[str, Any]:
    """How the curve of a method is drawn."""
    if method == OURS:
        return OUR_STYLE
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4.5 if n_points > 1 else 9,
        **STYLE,
    }


def _range(records: Sequence[Record]) -> tuple[float, float]:
    errors = [float(record["error"]) for record in records]
    return max(min(errors), 0.1), max(errors)
