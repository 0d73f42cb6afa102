"""The functions that a model has in C, and the header that declares them."""

from __future__ import annotations

from dataclasses import dataclass

from kernelet.export.model import ExportedModel, Reading
from kernelet.export.projection import Projection
from kernelet.export.to_c.columns import fills_missing
from kernelet.export.to_c.pieces import Table, block_comment, comment, integers, texts


@dataclass(frozen=True)
class Interface:
    """What a caller sees of a model: names, types and lengths.

    Attributes
    ----------
    exported : ExportedModel
    name : str
        Prefix of all functions.
    row_type, row_name, row_length : str
        Of the rows: the type and name of the argument, and the constant that is its length.
    score_type, share_type : str
        Types of scores and of probabilities.
    projection : Projection or None, default=None
        Makes of the features what the kernel takes, where it does not take all of them.
    """

    exported: ExportedModel
    name: str
    row_type: str
    row_name: str
    row_length: str
    score_type: str
    share_type: str
    projection: Projection | None = None

    @property
    def prefix(self) -> str:
        """Of all constants."""
        return self.name.upper()

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
    def n_scores(self) -> int:
        """Numbers that the decision function gives for a row."""
        if self.exported.reading is Reading.PAIRS and self.exported.votes:
            return len(self.exported.classes or ())
        return self.exported.machine.n_outputs

    @property
    def n_classes(self) -> int:
        """Classes that there are to predict; 0 for values."""
        if self.exported.calibration is not None:
            return max(2, self.exported.machine.n_outputs)
        return len(self.exported.classes or ())

    @property
    def has_labels(self) -> bool:
        """Whether there is anything to predict but the scores themselves."""
        return bool(self.n_classes) or self.exported.reading is Reading.OUTLIERS

    @property
    def has_probabilities(self) -> bool:
        """Whether the model makes probabilities of its scores."""
        return self.exported.calibration is not None

    def head(self, function: str) -> str:
        """The first line of a function for one row."""
        row = f"const {self.row_type} {self.row_name}[{self.row_length}]"
        if function == "predict":
            return f"int {self.name}_predict({row})"
        kind, results, length = self._results(function)
        return f"void {self.name}_{function}({row}, {kind} {results}[{length}])"

    def batch(self, function: str) -> list[str]:
        """The definition of a function for rows that follow each other."""
        row = f"{self.row_name} + i * {self.row_length}"
        _, results, length = self._results(function)
        call = f"{self.name}_{function}({row}, {results} + i * {length})"
        if function == "predict":
            call = f"{results}[i] = {self.name}_predict({row})"
        return [
            self._batch_head(function),
            "{",
            "    size_t i;",
            "",
            "    for (i = 0; i < n; i++)",
            f"        {call};",
            "}",
            "",
        ]

    def batches(self) -> list[str]:
        """The definitions of all of these."""
        return [line for function in self._functions() for line in self.batch(function)]

    def _functions(self) -> list[str]:
        functions = ["decision_function"]
        functions += ["predict"] if self.has_labels else []
        return functions + (["predict_proba"] if self.has_probabilities else [])

    def _results(self, function: str) -> tuple[str, str, str]:
        """Type, name and length of what a function fills."""
        return {
            "decision_function": (self.score_type, "scores", f"{self.prefix}_SCORES"),
            "predict": ("int", "predicted", "1"),
            "predict_proba": (self.share_type, "probabilities", f"{self.prefix}_CLASSES"),
        }[function]

    def _batch_head(self, function: str) -> str:
        kind, results, _ = self._results(function)
        rows = f"const {self.row_type} *{self.row_name}"
        return f"void {self.name}_{function}_batch({rows}, size_t n, {kind} *{results})"

    def labels(self) -> Table | None:
        """What the classes are called."""
        classes = self.exported.classes
        if classes is None:
            return None
        name = f"{self.name}_labels"
        # int has at least 16 bits
        # of an int C promises 16 bits
        if all(isinstance(label, int) and abs(label) < 2**15 for label in classes):
            return integers("int", name, [int(label) for label in classes], is_static=False)
        return texts(name, [str(label) for label in classes], is_static=False)

    def header(self, about: list[str], before: list[str], meanings: dict[str, str]) -> list[str]:
        """Lines of the header.

        Parameters
        ----------
        about : list of str
            Of the comment on top.
        before : list of str
            Declarations that come before the functions.
        meanings : dict
            What each function does, where it is not what it does in other types.
        """
        machine = self.exported.machine
        counts = {"FEATURES": machine.n_features, "VECTORS": machine.n_vectors}
        if self.projection is not None:
            if self.projection.features is not None:
                counts["USED_FEATURES"] = self.projection.n_used
            if self.projection.matrix is not None:
                counts["COMBINATIONS"] = self.projection.n_combinations
        if self.exported.columns is not None:
            counts = {"COLUMNS": len(self.exported.columns), **counts}
        counts["SCORES"] = self.n_scores
        if self.n_classes:
            counts["CLASSES"] = self.n_classes
        guard = f"KERNELET_{self.prefix}_H"
        lines = [
            *block_comment(about),
            "",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stddef.h>",
            *(["#include <stdint.h>"] if self.row_type == "int16_t" else []),
            "",
            *(f"#define {self.prefix}_{word} {count}" for word, count in counts.items()),
        ]
        names = self.exported.feature_names
        if names is not None and self.exported.columns is None:
            lines += ["", f"/* Features: {comment(', '.join(names))} */"]
        lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", "", *before]
        for function in self._functions():
            meaning = meanings.get(function) or self._meaning(function)
            lines += [f"/* {meaning} */", f"{self.head(function)};"]
            lines += [f"{self._batch_head(function)};", ""]
        labels = self.labels()
        if labels is not None:
            lines += ["/* What the classes are called. */", f"extern {labels.declaration};", ""]
        return [*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif"]

    def _meaning(self, function: str) -> str:
        columns = self.exported.columns
        # a model that takes missing values fills them, and its scores are numbers
        takes_nan = columns is not None and fills_missing(columns)
        if function == "decision_function":
            of_nan = "" if takes_nan else "; NaN if it holds NaN"
            return f"The scores of a row, and of n rows that follow each other{of_nan}."
        if function == "predict_proba":
            return "Probabilities of the classes."
        if self.exported.reading is Reading.OUTLIERS:
            of_nan = "" if takes_nan else ", 0 if it holds NaN"
            return f"1 for a row like those of the training, -1 for an outlier{of_nan}."
        of_nan = "" if takes_nan else "; -1 if it holds NaN"
        return f"The number of the class of a row, from 0{of_nan}."
