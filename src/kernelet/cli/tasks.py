"""What is predicted: classes, numbers, or whether a row is like those of the training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, final

from kernelet.cli.deviations import Deviations, Outside
from kernelet.cli.errors import DataError, ModelError
from kernelet.cli.labels import check_classes, codes_of, training_labels
from kernelet.cli.metrics import Confusion, unknown_labels
from kernelet.cli.output import Output
from kernelet.cli.tables.table import Table, is_missing, row_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernelet.cli.model import Model

Figures = Confusion | Deviations | Outside


class Task(ABC):
    """How the target of a table is read, and predictions are judged by it."""

    @abstractmethod
    def training_values(
        self, table: Table, target: str | None, max_classes: int | None
    ) -> NDArray[Any]:
        """What an estimator is to learn, checked."""

    @abstractmethod
    def figures(self, model: Model, target: str | None) -> Figures:
        """Of no rows yet."""

    @abstractmethod
    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        """What predictions of the rows are compared with."""

    def warn(self, figures: Figures, target: str | None, output: Output) -> None:
        """Warn of what predictions could not be compared with."""
        if isinstance(figures, Confusion) and target is not None:
            unknown_labels(output, figures, target)


@final
class Classes(Task):
    """Labels."""

    def training_values(
        self, table: Table, target: str | None, max_classes: int | None
    ) -> NDArray[Any]:
        assert target is not None
        labels = training_labels(table, target)
        check_classes(labels, target, table.source, max_classes)
        return labels

    def figures(self, model: Model, target: str | None) -> Confusion:
        return Confusion.empty(model.classes)

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        assert target is not None
        return codes_of(table, target, model.classes)


@final
class Numbers(Task):
    """A quantity."""

    def training_values(
        self, table: Table, target: str | None, max_classes: int | None
    ) -> NDArray[Any]:
        assert target is not None
        return numbers_of(table, target)

    def figures(self, model: Model, target: str | None) -> Deviations:
        return Deviations()

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        assert target is not None
        return numbers_of(table, target)


@final
class Outliers(Task):
    """One class: rows are learned from as they are. A column of 1 and -1 may judge predictions."""

    def training_values(
        self, table: Table, target: str | None, max_classes: int | None
    ) -> NDArray[Any]:
        import numpy as np

        return np.ones(len(table), dtype=np.int64)

    def figures(self, model: Model, target: str | None) -> Outside | Confusion:
        return Outside() if target is None else Confusion.empty(_signs())

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        return None if target is None else codes_of(table, target, _signs())


CLASSES, NUMBERS, OUTLIERS = Classes(), Numbers(), Outliers()


def task_of(model: Model) -> Task:
    """What a model predicts."""
    from sklearn.base import is_outlier_detector, is_regressor

    estimator = model.estimator
    if hasattr(estimator, "classes_"):
        return CLASSES
    if hasattr(estimator, "__sklearn_tags__"):
        if is_regressor(estimator):
            return NUMBERS
        if is_outlier_detector(estimator):
            return OUTLIERS
    raise ModelError(
        f"{model.path} holds a {type(estimator).__name__}, which knows no classes and predicts no "
        "numbers; save the estimator that it belongs to"
    )


def numbers_of(table: Table, target: str) -> NDArray[Any]:
    """The target as numbers.

    Raises
    ------
    DataError
        If some are missing, infinite or no numbers.
    """
    import numpy as np

    values = table.column(target)
    missing = is_missing(values)
    if missing.any():
        raise DataError(
            f"the target {target!r} has no value in {row_numbers(table, missing)} of "
            f"{table.source}; fill it in, or leave such rows out with --drop-missing"
        )
    for place, value in enumerate(values.tolist()):
        try:
            is_finite = np.isfinite(float(value))
        except (TypeError, ValueError):
            raise DataError(
                f"the target {target!r} of {table.source} has {value!r} in row "
                f"{table.first_row + place}, where "
                "a number is needed; name another column, or a --method for classes such as "
                "sparse-svc"
            ) from None
        if not is_finite:
            raise DataError(
                f"the target {target!r} of {table.source} has an infinite number in row "
                f"{table.first_row + place}; correct it, or leave the row out"
            )
    return np.asarray(values, dtype=np.float64)


def _signs() -> NDArray[Any]:
    import numpy as np

    return np.array([-1, 1])
