"""Error against vectors, a panel for each data set, a picture for each family."""

from __future__ import annotations

import numpy as np

from benchmarks.direct_rest.families import FAMILIES
from benchmarks.direct_rest.run import FORMS, LEDGER
from benchmarks.results import FOLDER, Record

TITLES = {
    "full": "full method",
    "nystroem": "Nyström, k-means",
    "direct": "direct method",
    "learned": "direct, width learned",
    "features": "direct, width per feature",
}
LABELS = {
    "ridge": "squared error, % of the variance",
    "svr": "squared error, % of the variance",
    "svc": "wrong labels, %",
    "one_class": "100 - area under the curve, %",
    "pca": "variance missed, %",
}


def curve(records: list[Record], dataset: str, method: str) -> np.ndarray:
    """Rows of budget (0 for none), mean error and its standard error."""
    mine = [r for r in records if r["dataset"] == dataset and r["method"] == method]
    rows = []
    for budget in sorted({int(r["budget"] or 0) for r in mine}):
        errors = [float(r["error"]) for r in mine if int(r["budget"] or 0) == budget]
        rows.append((budget, np.mean(errors), np.std(errors, ddof=1) / len(errors) ** 0.5))
    return np.array(rows).reshape(-1, 3)


def draw() -> None:
    """Write ``direct_rest_<family>.png``."""
    from matplotlib.figure import Figure

    records = LEDGER.read()
    measured = {record["method"].rpartition("_")[0] for record in records}
    for name, family in FAMILIES.items():
        if name not in measured:
            continue
        figure = Figure(figsize=(3.2 * len(family.data) + 1.0, 3.4), dpi=90, layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(family.data)))
        for panel, dataset in zip(panels, family.data, strict=True):
            for number, form in enumerate(FORMS):
                points = curve(records, dataset, f"{name}_{form}")
                if not len(points):
                    continue
                if form == "full":
                    panel.axhline(points[0, 1], color="black", linewidth=1.0, label=TITLES[form])
                    continue
                budget, error, spread = points.T
                panel.errorbar(
                    budget,
                    error,
                    yerr=spread,
                    color=f"C{number}",
                    marker="osD^v"[number],
                    markersize=4,
                    capsize=2,
                    label=TITLES[form],
                )
            panel.set(title=dataset, xlabel="vectors", xscale="log")
            panel.set_xticks([10, 20, 50], ["10", "20", "50"])
            panel.minorticks_off()
            panel.grid(True, linewidth=0.3, alpha=0.6)
        panels[0].set_ylabel(LABELS[name])
        panels[-1].legend(fontsize=7)
        figure.savefig(FOLDER / f"direct_rest_{name}.png")
