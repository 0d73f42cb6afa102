"""What the RVM's width changes on one of Rätsch's sets, and what different criteria choose.

`python -m benchmarks.rvm_widths [DATASET ...]` writes `results/choices/rvm_widths.csv`: for each
width and each of the ten realisations the test error, the vectors and the log evidence; for the
first five, the log loss and the error of 5-fold cross-validation on the training rows, which are
what a width may be chosen by. It prints what each criterion chooses, as the median over the five,
and for all five together, and the test error there.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_validate

from benchmarks import datasets
from benchmarks.methods.parameters import mean_distance_gamma
from kernelet import RelevanceVectorClassifier

RESULTS = Path(__file__).parent / "results" / "choices" / "rvm_widths.csv"
COLUMNS = ("dataset", "width", "unit", "error", "n_vectors", "evidence", "log_loss", "cv_error")
# In units of 1 / (mean squared distance between training rows), steps of a half in log2.
WIDTHS = tuple(2.0**exponent for exponent in np.arange(-4.5, 1.1, 0.5))
N_CHOOSING = 5
# The sign that makes the least the best.
CRITERIA = {"log_loss": 1.0, "cv_error": 1.0, "evidence": -1.0}


def measured(dataset: str, width: float, unit: int) -> dict[str, object]:
    """Return a line of the csv."""
    split = datasets.load(dataset).split(unit)
    X, y = split.X_train, split.y_train
    model = RelevanceVectorClassifier(gamma=width * mean_distance_gamma(X)).fit(X, y)
    line = {
        "dataset": dataset,
        "width": f"{width:.4g}",
        "unit": unit,
        "error": round(100.0 * float(np.mean(model.predict(split.X_test) != split.y_test)), 3),
        "n_vectors": model.n_vectors_,
        "evidence": round(model.objective_, 3),
    }
    if unit < N_CHOOSING:
        folds = StratifiedKFold(5, shuffle=True, random_state=unit)
        found = cross_validate(model, X, y, cv=folds, scoring=("neg_log_loss", "accuracy"))
        line["log_loss"] = round(-float(found["test_neg_log_loss"].mean()), 5)
        line["cv_error"] = round(100.0 * (1.0 - float(found["test_accuracy"].mean())), 3)
    return line


def chosen(lines: list[dict[str, object]]) -> Iterator[str]:
    """Say what each criterion chooses."""

    def table(name: str, n_units: int) -> np.ndarray:
        values = [float(str(line[name])) for line in lines if int(str(line["unit"])) < n_units]
        return np.array(values).reshape(len(WIDTHS), n_units)

    errors = table("error", 10).mean(axis=1)
    for name, sign in CRITERIA.items():
        values = sign * table(name, N_CHOOSING)
        median = float(np.median(np.log2(WIDTHS)[values.argmin(axis=0)]))
        at = (
            int(np.abs(np.log2(WIDTHS) - median).argmin()),
            int(values.mean(axis=1).argmin()),
        )
        yield f"{name:10s}" + "".join(
            f"  {how} width {WIDTHS[i]:.3g}, test error {errors[i]:.2f}"
            for how, i in zip(("median:", "all five:"), at, strict=True)
        )
    yield f"any width: test error {errors.min():.2f} to {errors.max():.2f}"


def main() -> None:
    """Measure the data sets named, or german; the file is written anew."""
    warnings.simplefilter("ignore")
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for dataset in sys.argv[1:] or ("german",):
            lines = [measured(dataset, width, unit) for width in WIDTHS for unit in range(10)]
            writer.writerows(lines)
            print(dataset, *chosen(lines), sep="\n", flush=True)


if __name__ == "__main__":
    main()
