"""A frontier as a table, a sentence, a csv file and a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelet.cli.errors import UsageError, one_line
from kernelet.cli.output import percent, size
from kernelet.cli.writing import replaced_file, writing_errors

# Results of a search, and what they are called here; the error is 1 minus the score.
_RESULTS = ("mean_test_score", "standard_error_test_score", "mean_microseconds", "mean_bytes")
_FIGURES = ("error", "standard_error", "microseconds_per_row", "bytes")


def headings(error: str) -> tuple[str, ...]:
    """Headings of the table; ``error`` is what the error is called."""
    return ("vectors", error, "+-", "us/row", "size", "")


def entries_of(search: Any) -> list[dict[str, Any]]:
    """A dict for each budget, and one for the full SVM where there is one."""
    results = search.cv_results_
    entries = [
        _entry("small", budget, {key: results[key][place] for key in _RESULTS})
        for place, budget in enumerate(search.budgets_)
    ]
    entries[search.best_index_]["picked"] = True
    svm = search.reference_results_
    return entries if svm is None else [*entries, _entry("svm", svm["mean_n_vectors"], svm)]


def _entry(model: str, n_vectors: float, results: Mapping[str, float]) -> dict[str, Any]:
    score, *others = (float(results[key]) for key in _RESULTS)
    figures = dict(zip(_FIGURES, (1.0 - score, *others), strict=True))
    return {"model": model, "vectors": round(n_vectors), **figures, "picked": False}


def cells(entry: dict[str, Any]) -> list[str]:
    """An entry as text, in the order of `headings`."""
    remark = "full SVM" if entry["model"] == "svm" else "<- pick" if entry["picked"] else ""
    return [
        str(entry["vectors"]),
        percent(entry["error"]),
        percent(entry["standard_error"]),
        f"{entry['microseconds_per_row']:.2f}",
        size(round(entry["bytes"])),
        remark,
    ]


def conclusion(entries: list[dict[str, Any]], error: str = "error") -> str:
    """What the table says, in a sentence."""
    pick = next(entry for entry in entries if entry["picked"])
    text = f"{pick['vectors']} vectors: {error} {percent(pick['error'])}"
    svm = next((entry for entry in entries if entry["model"] == "svm"), None)
    if svm is None:
        return text + ", within one standard error of the best."
    times = svm["vectors"] / pick["vectors"]
    return (
        f"{text}; the full SVM: {percent(svm['error'])} with {svm['vectors']}, "
        f"{times:.1f} times as many."
    )


def write_csv(path: str, entries: list[dict[str, Any]]) -> None:
    """The entries as a csv file."""
    with replaced_file(path) as stream:
        writer = csv.DictWriter(stream, list(entries[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(entries)


def draw(path: str, search: Any) -> None:
    """The entries as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from kernelet.persistence.atomic import write_atomically
    from kernelet.plotting import FrontierDisplay

    display = FrontierDisplay.from_estimator(search)
    ending, picture = Path(path).suffix.lower().lstrip(".") or "png", io.BytesIO()
    with writing_errors(path):
        try:
            # 150 dots an inch: sharp on a screen, and small as a file
            display.figure_.savefig(picture, dpi=150, bbox_inches="tight", format=ending)
            write_atomically(path, picture.getvalue())
        except ValueError as error:  # an ending that is no format of pictures
            raise UsageError(f"--png {path}: {one_line(error)}") from error
        finally:
            pyplot.close(display.figure_)
