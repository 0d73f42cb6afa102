"""The picture of the measured lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scale.figures import CSV, PIECES, some

PICTURE: Path = CSV.with_suffix(".png")


def draw(lines: list[dict[str, Any]]) -> None:
    """Seconds, memory and bytes of an evaluation against the rows."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(13.0, 4.2), layout="constrained")
    for number, method in enumerate(("SparseSVC", "MMDA")):
        for where, style in (("threads", "--"), ("dask", "-")):
            runs = some(lines, method=method, where=where, pieces=PIECES)
            rows = [line["rows"] for line in runs]
            label = f"{method}, {'two workers' if where == 'dask' else 'two threads'}"
            look = {"color": f"C{number}", "linestyle": style, "marker": "o", "label": label}
            panels[0].plot(rows, [line["seconds"] / line["passes"] for line in runs], **look)
            panels[1].plot(rows, [line["driver_megabytes"] for line in runs], **look)
            if where == "dask":
                panels[2].plot(
                    rows, [line["bytes"] / line["passes"] / 1e6 for line in runs], **look
                )
    for panel, title in zip(
        panels,
        ("seconds of a pass", "MB that the driver takes", "MB over the network, a pass"),
        strict=True,
    ):
        panel.set(xscale="log", xlabel="rows", title=title)
        panel.grid(alpha=0.3)
    panels[0].set(yscale="log")
    for panel in panels[1:]:
        panel.set_ylim(bottom=0.0)
    panels[0].legend()
    figure.savefig(PICTURE, dpi=90)
