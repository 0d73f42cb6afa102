"""Draw error against bytes: a picture for each data set, and several in one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import datasets, small
from benchmarks.datasets.specification import Specification
from benchmarks.frontier_plot import MARKERS, OUR_STYLE, STYLE, curves
from benchmarks.results import Record

OURS = "sparse_svc_bytes"
PUBLISHED = Path(__file__).parent / "small" / "published.toml"
WIDTH, HEIGHT, DPI = 7.6, 4.6, 90
COLUMNS, TOGETHER_WIDTH, ROW_HEIGHT, LEGEND_HEIGHT = 3, 12.5, 3.3, 0.6
BYTE_TICKS = (125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
ERROR_TICKS = (0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100)
# Of the peers; red is ours.
COLOURS = ("C0", "C1", "C2", "C4", "C5", "C7", "C9", "C8")


def published(dataset: str) -> list[dict[str, Any]]:
    """Return the points of a data set that others have published."""
    entries = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["point"]
    return [entry for entry in entries if entry["dataset"] == dataset]


def draw(specification: Specification, records: Sequence[Record], path: Path) -> None:
    """Write the picture of one data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    panel = figure.subplots()
    draw_panel(panel, specification.name, records)
    panel.set(xlabel="kB of constants", ylabel="test error, %")
    _legend(figure, [panel])
    shape = specification.shape
    panel.set_title(
        f"{specification.name}: {shape.train} training rows, {shape.columns} columns, "
        f"{shape.classes} classes",
        fontsize=10,
    )
    figure.savefig(path)


def draw_together(frontiers: Mapping[str, Sequence[Record]], path: Path) -> None:
    """Write one picture of several data sets."""
    from matplotlib.figure import Figure

    n_rows = -(-len(frontiers) // COLUMNS)
    size = (TOGETHER_WIDTH, ROW_HEIGHT * n_rows + LEGEND_HEIGHT)
    figure = Figure(figsize=size, dpi=DPI, layout="constrained")
    panels = figure.subplots(n_rows, COLUMNS).ravel()
    for panel, (name, records) in zip(panels, frontiers.items(), strict=False):
        draw_panel(panel, name, records)
        shape = datasets.describe(name).shape
        panel.set_title(f"{name}: {shape.columns} columns, {shape.classes} classes", fontsize=10)
    for panel in panels[len(frontiers) :]:
        panel.set_axis_off()
    for panel in panels[max(0, len(frontiers) - COLUMNS) : len(frontiers)]:
        panel.set_xlabel("kB of constants")
    for panel in panels[::COLUMNS]:
        panel.set_ylabel("test error, %")
    _legend(figure, panels, "outside lower center", n_columns=4)
    figure.savefig(path)


def draw_panel(panel: Any, dataset: str, records: Sequence[Record]) -> None:
    """Draw the curves of a data set, ours in front."""
    names = small.names()
    drawn = curves(records, "n_bytes")
    for method, curve in drawn.items():
        panel.errorbar(
            curve[:, 0],
            curve[:, 1],
            yerr=curve[:, 2],
            capsize=2,
            label=small.get(method).title,
            **style(names.index(method), method, len(curve)),
        )
    for entry in published(dataset):
        panel.plot(
            entry["bytes"], entry["error"], "*", color="black", markersize=10, zorder=5,
            label="published by others",
        )  # fmt: skip
        panel.annotate(
            entry["method"], (entry["bytes"], entry["error"]),
            xytext=(0, 6), textcoords="offset points", fontsize=7, ha="center",
        )  # fmt: skip
    panel.set(xscale="log", yscale="log")
    errors = [*(float(r["error"]) for r in records), *(e["error"] for e in published(dataset))]
    sizes = [float(r["n_bytes"]) for r in records] + [e["bytes"] for e in published(dataset)]
    panel.set_yticks(ERROR_TICKS, [f"{tick:g}" for tick in ERROR_TICKS])
    panel.set_xticks(BYTE_TICKS, [_kilobytes(tick) for tick in BYTE_TICKS])
    panel.set_ylim(0.85 * max(min(errors), 0.1), 1.15 * min(max(errors), MOST_ERROR))
    panel.set_xlim(0.8 * max(min(sizes), LEAST_BYTES), 1.25 * max(sizes))
    panel.minorticks_off()
    panel.grid(True, which="major", linewidth=0.3, alpha=0.6)


# Curves that begin with more errors or fewer bytes than this begin outside the picture.
MOST_ERROR, LEAST_BYTES = 40.0, 100


def style(number: int, method: str, n_points: int) -> dict[str, Any]:
    """How the curve of a method is drawn."""
    if method == OURS:
        return OUR_STYLE
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4.5 if n_points > 1 else 8,
        **STYLE,
    }


def _kilobytes(n_bytes: int) -> str:
    return f"{n_bytes / 1000:g}"


def _legend(
    figure: Any, panels: Sequence[Any], place: str = "outside right center", n_columns: int = 1
) -> None:
    """Name every method once, ours first."""
    found: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    first = small.get(OURS).title
    labels = sorted(found, key=lambda label: (label != first, label))
    figure.legend(
        [found[label] for label in labels],
        labels,
        loc=place,
        fontsize=8,
        frameon=False,
        ncols=n_columns,
    )
