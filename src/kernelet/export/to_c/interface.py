"""The functions that a model has in C: their names and lengths."""

from __future__ import annotations

from dataclasses import dataclass

from kernelet.export.model import ExportedModel
from kernelet.export.projection import Projection
from kernelet.export.to_c.columns import fills_missing
from kernelet.export.to_c.pieces import (
    Table,
    comment,
    initializer,
    integers,
    smallest_integers,
    texts,
)
from kernelet.machine import TemperatureCalibration
from kernelet.machine.reading import Reading

_LARGEST_INT = 2**15 - 1  # that C promises


@dataclass(frozen=True)
class Interface:
    """What a caller sees of a model, whatever the type of its numbers.

    Attributes
    ----------
    exported : ExportedModel
    name : str
        Prefix of all functions.
    projection : Projection or None
        Makes of the features what the kernel takes, where it does not take all of them.
    small_labels : bool, default=False
        Whether labels that are numbers take as few bytes as they can, and texts are in a macro.
    """

    exported: ExportedModel
    name: str
    projection: Projection | None
    small_labels: bool = False

    @property
    def prefix(self) -> str:
        """Of all constants."""
        return self.name.upper()

    @property
    def given_length(self) -> str:
        """The constant that is the length of a row as the caller has it."""
        return f"{self.prefix}_{'FEATURES' if self.exported.columns is None else 'COLUMNS'}"

    @property
    def kernel_length(self) -> str:
        """The constant that is the length of the vectors."""
        if self.projection is None:
            return f"{self.prefix}_FEATURES"
        used = "USED_FEATURES" if self.projection.matrix is None else "COMBINATIONS"
        return f"{self.prefix}_{used}"

    @property
    def n_combinations(self) -> int:
        """Numbers that the projection gives; 0 without one."""
        return 0 if self.projection is None else self.projection.n_combinations

    @property
    def is_pairs(self) -> bool:
        """Whether outputs are of pairs of classes, which vote."""
        return self.exported.reading is Reading.PAIRS

    @property
    def n_scores(self) -> int:
        """Numbers that the decision function gives for a row."""
        if self.is_pairs and self.exported.votes:
            return len(self.exported.classes or ())
        return self.exported.machine.n_outputs

    @property
    def n_classes(self) -> int:
        """Classes that there are to predict; 0 for values."""
        if self.has_probabilities and not self.is_pairs:
            return max(2, self.exported.machine.n_outputs)
        return len(self.exported.classes or ())

    @property
    def has_probabilities(self) -> bool:
        """Whether the model makes probabilities of its scores."""
        return self.exported.calibration is not None

    def labels(self) -> list[Table]:
        """A table of what the classes are called; none for a model without classes."""
        classes = self.exported.classes
        if classes is None:
            return []
        name = f"{self.name}_labels"
        if not self.has_text_labels:
            numbers = [int(label) for label in classes]
            if self.small_labels:
                return [smallest_integers(name, numbers, is_static=False)]
            return [integers("int", name, numbers, is_static=False)]
        if self.small_labels:
            return []
        return [texts(name, [str(label) for label in classes], is_static=False)]

    @property
    def has_text_labels(self) -> bool:
        """Whether classes are called by texts, or by numbers that are none of C."""
        classes = self.exported.classes or ()
        return not all(isinstance(label, int) and abs(label) <= _LARGEST_INT for label in classes)

    def label_names(self) -> list[str]:
        """How the header declares what the classes are called."""
        if self.small_labels and self.has_text_labels:
            texts_of = [str(label) for label in self.exported.classes or ()]
            return initializer(f"{self.prefix}_LABEL_NAMES", texts_of)
        return [f"extern {table.declaration};" for table in self.labels()]

    def values(self) -> dict[str, object]:
        """What templates ask of a model."""
        exported, k = self.exported, self.exported.machine.n_outputs
        encoded = "x" if exported.columns is None else "row"
        is_outliers = exported.reading is Reading.OUTLIERS
        is_softmax = isinstance(exported.calibration, TemperatureCalibration)
        names = exported.feature_names if exported.columns is None else None
        return {
            "name": self.name,
            "prefix": self.prefix,
            "given_length": self.given_length,
            "kernel_length": self.kernel_length,
            "encodes": exported.columns is not None,
            "encoded": encoded,
            "point": encoded if self.projection is None else "combined",
            "n_features": exported.machine.n_features,
            "n_vectors": exported.machine.n_vectors,
            "n_combinations": self.n_combinations,
            "n_scores": self.n_scores,
            "outputs": k,
            "one_output": k == 1,
            "classes": self.n_classes,
            "class_names": self.label_names(),
            "feature_names": None if names is None else comment(", ".join(names)),
            "labels": bool(self.n_classes) or is_outliers,
            "outliers": is_outliers,
            "pairs": self.is_pairs,
            "votes": self.is_pairs and exported.votes,
            "break_ties": exported.break_ties,
            # shares of votes break ties in floating point
            "with_shares": int(exported.break_ties and exported.votes),
            "probabilities": self.has_probabilities,
            "by_probability": self.has_probabilities and not exported.labels_by_scores,
            "softmax": is_softmax,
            "logistic": k == 1 or not is_softmax,
            # a model that takes missing values fills them, and its scores are numbers
            "nan": not fills_missing(exported.columns or ()),
        }
