"""What a classifier got right and wrong: error, figures of each class, confusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import listed
from kernelet.cli.labels import text_of
from kernelet.cli.output import Output, percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# More classes than this make no readable matrix on a terminal: the worst pairs are listed.
_WIDEST_MATRIX = 12
_WORST_PAIRS = 10


@dataclass(eq=False)
class Confusion:
    """Counts of (true class, predicted class), added to piece by piece.

    Attributes
    ----------
    classes : ndarray
        The labels of the model.
    counts : ndarray of shape (n_classes + 1, n_classes)
        Rows by true class; the last row is for labels that the model does not know.
    """

    classes: NDArray[Any]
    counts: NDArray[np.intp]

    @classmethod
    def empty(cls, classes: NDArray[Any]) -> Confusion:
        """No rows yet."""
        import numpy as np

        return cls(classes, np.zeros((classes.size + 1, classes.size), dtype=np.intp))

    def add(self, truth: NDArray[np.intp], predicted: NDArray[Any]) -> None:
        """More rows: codes of the truth (-1 for unknown labels) and labels predicted."""
        import numpy as np

        # by name: files of other programs need not have them in order
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        codes = np.array([places[label] for label in predicted.tolist()], dtype=np.intp)
        np.add.at(self.counts, (truth, codes), 1)

    @property
    def n_rows(self) -> int:
        """Rows in all."""
        return int(self.counts.sum())

    @property
    def n_unknown(self) -> int:
        """Rows whose label the model does not know; they count as errors."""
        return int(self.counts[-1].sum())

    @property
    def error(self) -> float:
        """Share of rows that are predicted wrongly."""
        import numpy as np

        return 1.0 - float(np.trace(self.counts[:-1])) / max(self.n_rows, 1)

    @property
    def standard_error(self) -> float:
        """Of the error, as that of a share of independent rows."""
        return float((self.error * (1.0 - self.error) / max(self.n_rows, 1)) ** 0.5)

    def per_class(self) -> list[dict[str, Any]]:
        """Rows, recall, precision and F1 of each class; nan where nothing can be divided by."""
        entries = []
        for place, label in enumerate(self.classes):
            hits = int(self.counts[place, place])
            rows, predicted = int(self.counts[place].sum()), int(self.counts[:, place].sum())
            entries.append(
                {
                    "class": text_of(label),
                    "rows": rows,
                    "recall": _share(hits, rows),
                    "precision": _share(hits, predicted),
                    "f1": _share(2 * hits, rows + predicted),
                }
            )
        return entries

    @property
    def headline(self) -> str:
        """The error in a line."""
        return f"{percent(self.error)} of {self.n_rows} rows"

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "rows": self.n_rows,
            "error": self.error,
            "standard_error": self.standard_error,
            "rows_of_unknown_classes": self.n_unknown,
            "classes": self.per_class(),
            "confusion": self.counts[:-1].tolist(),
        }

    def show(self, output: Output) -> None:
        """The figures as text."""
        wrong = round(self.error * self.n_rows)
        output.text(
            f"error {percent(self.error)} +- {percent(self.standard_error)} "
            f"({wrong} of {self.n_rows} rows)"
        )
        output.text()
        output.table(
            ["class", "rows", "recall", "precision", "F1"],
            [
                [entry["class"], str(entry["rows"])]
                + [_percent(entry[name]) for name in ("recall", "precision", "f1")]
                for entry in self.per_class()
            ],
        )
        output.text()
        if self.classes.size <= _WIDEST_MATRIX:
            self._show_matrix(output)
        else:
            self._show_worst(output)

    def _show_matrix(self, output: Output) -> None:
        names = [text_of(label) for label in self.classes]
        rows = [
            [name, *map(str, counts)] for name, counts in zip(names, self.counts[:-1], strict=True)
        ]
        if self.n_unknown:
            rows.append(["(unknown)", *map(str, self.counts[-1])])
        output.table(["true \\ predicted", *names], rows)

    def _show_worst(self, output: Output) -> None:
        import numpy as np

        off = self.counts[:-1].copy()
        np.fill_diagonal(off, 0)
        order = np.argsort(-off, axis=None, kind="stable")[:_WORST_PAIRS]
        pairs = [(divmod(int(place), self.classes.size), int(off.flat[place])) for place in order]
        rows = [
            [text_of(self.classes[i]), text_of(self.classes[j]), str(n)]
            for (i, j), n in pairs
            if n > 0
        ]
        if rows:
            output.table(["true", "predicted as", "rows"], rows)


def unknown_labels(output: Output, confusion: Confusion, target: str) -> None:
    """Warn about labels that the model has not been taught."""
    if confusion.n_unknown:
        known = listed([text_of(label) for label in confusion.classes], 5)
        output.warn(
            f"{confusion.n_unknown} rows have a label in {target!r} that the model does not know "
            f"(it knows {known}); they count as errors"
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _percent(share: float) -> str:
    return "-" if share != share else percent(share)
