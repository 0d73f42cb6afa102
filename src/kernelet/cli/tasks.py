"""What is predicted: classes, numbers, or whether a row is like the training rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.svm import SVC, SVR

from kernelet.cli.errors import ModelError, UsageError
from kernelet.cli.labels import check_classes, codes_of, numbers_of, training_labels
from kernelet.cli.metrics import Confusion, Deviations, Figures, Outside
from kernelet.cli.model import Model
from kernelet.cli.output import Output
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table

# Parameters of scikit-learn's SVMs that mean the same in a small machine, and their kernels.
_OF_SVM = ("C", "kernel", "gamma", "degree", "coef0", "class_weight", "epsilon")
_KERNELS_OF_SVM = ("rbf", "linear", "poly", "sigmoid")


class Task(ABC):
    """How the target of a table is read, rows are split, and predictions are judged.

    Attributes
    ----------
    has_probabilities : bool
        Whether there are classes, which can be probable.
    error : str
        What a cross-validated error is called.
    with_budget : str or None
        A method that takes the number of vectors, where there are labels to choose it by.
    """

    has_probabilities = False
    error = "1 - R2"
    with_budget: str | None = None

    def target(self, source: Source, asked: str | None, known: str | None = None) -> str | None:
        """The column of the target: the one asked for, the model's, or that of the format."""
        target = asked or known or source.kind.labels
        if target is None:
            raise UsageError("say which column holds the classes or numbers: --target COLUMN")
        return target

    @abstractmethod
    def training_values(self, table: Table, target: str | None, most: int | None) -> NDArray[Any]:
        """What an estimator is to learn, checked; ``most`` is ``--max-classes``."""

    @abstractmethod
    def figures(self, model: Model, target: str | None) -> Figures:
        """Figures to which rows are added; there are none yet."""

    @abstractmethod
    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        """What predictions of the rows are compared with."""

    def measured(self, model: Model, table: Table, target: str | None) -> Figures:
        """The figures of a table that holds the target."""
        figures = self.figures(model, target)
        truth = self.truth(table, target, model)
        figures.add(truth, model.predict(model.rows(table.without(target))))
        return figures

    def split(self, labels: NDArray[Any], n_test: int, seed: int) -> list[NDArray[Any]]:
        """Indices of rows to learn from and to measure on; ValueError where there are too few."""
        if labels.size - n_test < 2:
            raise ValueError("too few rows are left to learn from")
        strata = self._strata(labels, n_test)
        index = np.arange(labels.size)
        parts = train_test_split(index, test_size=n_test, stratify=strata, random_state=seed)
        return [np.sort(part) for part in parts]

    def sample(self, labels: NDArray[Any], n: int, seed: int) -> NDArray[Any]:
        """Indices of `n` of the rows, drawn at random, in their order."""
        return np.sort(np.random.default_rng(seed).choice(labels.size, n, replace=False))

    def _strata(self, labels: NDArray[Any], n_test: int) -> NDArray[Any] | None:
        """Groups of rows that are split in proportion."""
        return None

    def folds(self, labels: NDArray[Any], most: int, seed: int, output: Output) -> Any:
        """A splitter of scikit-learn; it shuffles, as a table may be sorted by anything."""
        return KFold(min(most, max(2, labels.size)), shuffle=True, random_state=seed)

    def full_svm(self, params: dict[str, Any]) -> Any:
        """An SVM of scikit-learn with the parameters of a small machine, where there is one."""
        return None


@final
class Classes(Task):
    """Labels."""

    has_probabilities = True
    error = "error"
    with_budget = "sparse-svc"

    def training_values(self, table: Table, target: str | None, most: int | None) -> NDArray[Any]:
        labels = training_labels(table, target)
        check_classes(labels, target, table.source, most)
        return labels

    def figures(self, model: Model, target: str | None) -> Figures:
        return Confusion(model.classes)

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        return codes_of(table, target, model.classes)

    def sample(self, labels: NDArray[Any], n: int, seed: int) -> NDArray[Any]:
        """Each class in proportion, with at least one row."""
        order = np.random.default_rng(seed).permutation(labels.size)
        names, codes, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
        if n < names.size:
            raise UsageError(f"--sample {n} is less than the {names.size} classes; take more")
        # how much of a class has been drawn before each of its rows: nothing before the first
        ranks = np.empty(labels.size)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        ranks[np.argsort(codes, kind="stable")] = np.arange(labels.size) - begins
        return np.sort(order[np.argsort(ranks / counts[codes], kind="stable")[:n]])

    def split(self, labels: NDArray[Any], n_test: int, seed: int) -> list[NDArray[Any]]:
        train, test = super().split(labels, n_test, seed)
        if len(set(labels[train].tolist())) < 2:
            raise ValueError("a single class is left to learn")
        return [train, test]

    def _strata(self, labels: NDArray[Any], n_test: int) -> NDArray[Any] | None:
        counts = Counter(labels.tolist())
        return labels if min(counts.values()) >= 2 and n_test >= len(counts) else None

    def folds(self, labels: NDArray[Any], most: int, seed: int, output: Output) -> Any:
        counts = Counter(labels.tolist()).values()
        if min(counts) < 2:
            output.warn("a class has a single row; it is missing in most folds")
        n_folds = min(most, max(2, *counts))
        if n_folds < most:
            output.remark(f"{n_folds} folds, the rows of the largest class, instead of {most}")
        return StratifiedKFold(n_folds, shuffle=True, random_state=seed)

    def full_svm(self, params: dict[str, Any]) -> Any:
        return _full_svm(SVC(), params)


@final
class Numbers(Task):
    """A quantity."""

    with_budget = "sparse-kernel-ridge"

    def training_values(self, table: Table, target: str | None, most: int | None) -> NDArray[Any]:
        return numbers_of(table, target)

    def figures(self, model: Model, target: str | None) -> Figures:
        return Deviations()

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        return numbers_of(table, target)

    def full_svm(self, params: dict[str, Any]) -> Any:
        if params.get("loss") != "epsilon_insensitive":  # C weighs another loss
            return None
        return _full_svm(SVR(), params)


@final
class Outliers(Task):
    """One class, learned from the rows alone; a column of 1 and -1 may judge predictions."""

    def target(self, source: Source, asked: str | None, known: str | None = None) -> str | None:
        return asked

    def training_values(self, table: Table, target: str | None, most: int | None) -> NDArray[Any]:
        return np.ones(len(table), dtype=np.int64)

    def figures(self, model: Model, target: str | None) -> Figures:
        return Outside() if target is None else Confusion(np.array([-1, 1]))

    def truth(self, table: Table, target: str | None, model: Model) -> Any:
        return None if target is None else codes_of(table, target, np.array([-1, 1]))


def _full_svm(svm: Any, params: dict[str, Any]) -> Any:
    if params.get("kernel", "rbf") not in _KERNELS_OF_SVM:
        return None
    names = svm.get_params().keys() & params.keys() & set(_OF_SVM)
    # a cost that a small machine chooses is one for its own loss; the full SVM has its default
    return svm.set_params(**{n: params[n] for n in names if (n, params[n]) != ("C", "auto")})


CLASSES, NUMBERS, OUTLIERS = Classes(), Numbers(), Outliers()
# By the names in `methods.Method.predicts`.
TASKS: dict[str, Task] = {"classes": CLASSES, "numbers": NUMBERS, "outliers": OUTLIERS}


def task_of(model: Model) -> Task:
    """What a model predicts."""
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
