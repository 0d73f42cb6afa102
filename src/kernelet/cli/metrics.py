"""How good predictions are: scikit-learn's metrics of rows that are added piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    mean_absolute_error,
    precision_recall_fscore_support,
    r2_score,
    root_mean_squared_error,
)

from kernelet.cli.errors import listed
from kernelet.cli.labels import text_of
from kernelet.cli.output import Output, percent

# A matrix of this many classes has 100 columns where names and counts take up to five characters:
# 16 for its first column and 7 for each class. Of more classes the worst pairs are listed.
_WIDEST_MATRIX = 12
_WORST_PAIRS = 10  # with their heading half of a terminal of 24 lines
_PER_CLASS = ("class", "rows", "recall", "precision", "f1")


class Figures(ABC):
    """What is measured of predictions.

    Attributes
    ----------
    key : str
        The error in the document.
    n_rows : int
    n_unknown : int
        Rows whose label is not among ``classes``, those of the model; they count as errors.
    """

    key: str
    n_rows = 0
    n_unknown = 0
    classes: Any = ()

    @abstractmethod
    def add(self, truth: Any, predicted: NDArray[Any]) -> None:
        """Count more rows: what `Task.truth` returns for them, and what the model predicts."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """All of it for JSON."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """The figures in one line."""

    @property
    def error(self) -> float:
        """What should be small."""
        return float(self.document()[self.key])

    def show(self, output: Output) -> None:
        """Print all of it."""
        output.text(self.headline)

    def warn(self, target: str | None, output: Output) -> None:
        """Warn of labels that the model does not know."""
        if self.n_unknown:
            known = listed([text_of(label) for label in self.classes], 5)
            output.warn(
                f"{self.n_unknown} rows have a label in {target!r} that the model does not know "
                f"(it knows {known}); they count as errors"
            )


class Confusion(Figures):
    """Counts of (true class, predicted class).

    Attributes
    ----------
    classes : ndarray
        The labels of the model.
    counts : ndarray of shape (n_classes + 1, n_classes)
        Rows by true class; the last row is for labels that the model does not know.
    """

    key = "error"

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.counts = np.zeros((classes.size + 1, classes.size), dtype=np.intp)

    def add(self, truth: NDArray[np.intp], predicted: NDArray[Any]) -> None:
        self.n_rows += len(predicted)
        # by name: files of other programs need not have the classes in order
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        codes = np.array([places[label] for label in predicted.tolist()], dtype=np.intp)
        np.add.at(self.counts, (truth, codes), 1)
        self.n_unknown = int(self.counts[-1].sum())

    @property
    def error(self) -> float:
        return 1.0 - float(self.counts[:-1].trace()) / max(self.n_rows, 1)

    @property
    def standard_error(self) -> float:
        """The standard error of the error, if the rows are independent."""
        return float((self.error * (1.0 - self.error) / max(self.n_rows, 1)) ** 0.5)

    def per_class(self) -> list[dict[str, Any]]:
        """Rows, recall, precision and F1 of each class; NaN where there is nothing to divide by."""
        # each cell of the matrix is given as one row, with its count as the weight
        truth, predicted = np.indices(self.counts.shape).reshape(2, -1)
        precision, recall, f1, n_rows = precision_recall_fscore_support(
            truth,
            predicted,
            labels=np.arange(self.classes.size),
            sample_weight=self.counts.ravel(),
            zero_division=np.nan,
        )
        names = map(text_of, self.classes)
        rows = zip(names, n_rows.astype(int), recall, precision, f1, strict=True)
        return [dict(zip(_PER_CLASS, row, strict=True)) for row in rows]

    @property
    def headline(self) -> str:
        return f"{percent(self.error)} of {self.n_rows} rows"

    def document(self) -> dict[str, Any]:
        return {
            "rows": self.n_rows,
            "error": self.error,
            "standard_error": self.standard_error,
            "rows_of_unknown_classes": self.n_unknown,
            "classes": self.per_class(),
            "confusion": self.counts[:-1].tolist(),
        }

    def show(self, output: Output) -> None:
        wrong = f"{round(self.error * self.n_rows)} of {self.n_rows} rows"
        output.text(f"error {percent(self.error)} +- {percent(self.standard_error)} ({wrong})", "")
        entries = [list(entry.values()) for entry in self.per_class()]
        output.table(
            ["class", "rows", "recall", "precision", "F1"],
            [[name, str(n_rows), *map(_percent, shares)] for name, n_rows, *shares in entries],
        )
        output.text("")
        headings, rows = self._matrix() if len(entries) <= _WIDEST_MATRIX else self._worst_pairs()
        if rows:
            output.table(headings, rows)

    def _matrix(self) -> tuple[list[str], list[list[str]]]:
        names = [text_of(label) for label in self.classes]
        rows = zip([*names, "(unknown)"], self.counts.tolist(), strict=True)
        shown = [[name, *map(str, counts)] for name, counts in rows]
        return ["true \\ predicted", *names], shown if self.n_unknown else shown[:-1]

    def _worst_pairs(self) -> tuple[list[str], list[list[str]]]:
        wrong = self.counts[:-1].copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:_WORST_PAIRS]
        pairs = np.column_stack(np.unravel_index(order, wrong.shape))
        return ["true", "predicted as", "rows"], [
            [text_of(self.classes[i]), text_of(self.classes[j]), str(wrong[i, j])]
            for i, j in pairs
            if wrong[i, j]
        ]


class Deviations(Figures):
    """R^2, root mean squared error and mean absolute error.

    True and predicted numbers are kept, 16 bytes a row: less than most lines of a table take.

    Examples
    --------
    >>> import numpy as np
    >>> figures = Deviations()
    >>> figures.add(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    >>> figures.add(np.array([6.0]), np.array([5.5]))
    >>> figures.headline
    'R2 0.9643, RMSE 0.4082, MAE 0.3333 on 3 rows'
    """

    key = "rmse"

    def __init__(self) -> None:
        self._pieces: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def add(self, truth: NDArray[Any], predicted: NDArray[Any]) -> None:
        self.n_rows += len(truth)
        self._pieces.append((truth, predicted))

    @property
    def headline(self) -> str:
        text = "R2 {r2:.4g}, RMSE {rmse:.4g}, MAE {mae:.4g} on {rows} rows"
        return text.format(**self.document())

    def document(self) -> dict[str, Any]:
        if not self.n_rows:
            return {"rows": 0, **dict.fromkeys(("r2", "rmse", "mae"), np.nan)}
        truth, predicted = map(np.concatenate, zip(*self._pieces, strict=True))
        return {
            "rows": self.n_rows,
            # the share of the spread that is explained: undefined where there is no spread
            "r2": r2_score(truth, predicted) if np.ptp(truth) > 0.0 else np.nan,
            "rmse": root_mean_squared_error(truth, predicted),
            "mae": mean_absolute_error(truth, predicted),
        }

    def show(self, output: Output) -> None:
        document = self.document()
        n_rows = document.pop("rows")
        output.facts([(name.upper(), f"{value:.6g}") for name, value in document.items()])
        output.text("", f"{n_rows} rows")


class Outside(Figures):
    """How many rows a model of one class takes for outliers."""

    key = "share_outside"
    n_outside = 0

    def add(self, truth: object, predicted: NDArray[Any]) -> None:
        self.n_rows += len(predicted)
        self.n_outside += int((predicted < 0).sum())

    @property
    def headline(self) -> str:
        return f"{percent(self.error)} of {self.n_rows} rows are outside"

    def document(self) -> dict[str, Any]:
        share = self.n_outside / max(self.n_rows, 1)
        return {"rows": self.n_rows, "outside": self.n_outside, "share_outside": share}


def _percent(share: float) -> str:
    return "-" if share != share else percent(share)
