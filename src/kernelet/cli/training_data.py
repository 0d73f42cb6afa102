"""From a table to rows and labels that an estimator can learn from, and to rows to measure on."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, UsageError, one_line, quoted
from kernelet.cli.labels import target_values
from kernelet.cli.methods import METHODS
from kernelet.cli.output import Output, duration
from kernelet.cli.tables.arrays import npz_others
from kernelet.cli.tables.column_checks import checked_columns, warn_of_alike
from kernelet.cli.tables.reading import read_table
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table, is_text, missing_cells
from kernelet.cli.tasks import OUTLIERS, Task
from kernelet.machine.columns import ColumnEncoder

# Features of a LIBSVM file that may become columns: twice those of most texts' words, and a line of
# the file can say that there are billions.
_MOST_SCALED = 100_000


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Rows and labels.

    `encoder`, `rows` and the ``fit`` of the estimator are the steps of `kernelet.TableModel.fit`
    one by one, because columns and estimators fail with different exit codes, sparse rows are not
    encoded, and there may be no target.

    Attributes
    ----------
    table : Table
        The features, the target taken out.
    labels : ndarray of shape (n_rows,)
    target : str or None
        Name of the column of labels, where there is one.
    task : Task
        What the labels are.
    sampled : tuple of int or None
        Rows of the sample that was drawn, before any were held out, and those that there are.
    """

    table: Table
    labels: NDArray[Any]
    target: str | None
    task: Task
    sampled: tuple[int, int] | None = None

    def take(self, index: Any) -> TrainingTable:
        """Some of the rows."""
        return replace(self, table=self.table.take(index), labels=self.labels[index])

    @property
    def labelled(self) -> Table:
        """The table with its target."""
        return self.table if self.target is None else self.table.plus(self.target, self.labels)

    def split(self, share: float, seed: int) -> tuple[TrainingTable, TrainingTable]:
        """Rows to learn from and rows to measure on."""
        try:
            n_test = max(1, round(share * len(self.labels)))
            train, test = self.task.split(self.labels, n_test, seed)
        except ValueError as error:
            raise DataError(
                f"{self.table.source} has too few rows for --holdout {share:g} ({one_line(error)});"
                " take a smaller share or a table for --test"
            ) from error
        return self.take(train), self.take(test)

    def sample(self, n_rows: int | None, seed: int) -> TrainingTable:
        """As many rows as ``--sample`` says; all of them where it says nothing."""
        n_available = len(self.labels)
        if n_rows is None or n_rows >= n_available:
            return self
        chosen = self.task.sample(self.labels, n_rows, seed)
        return replace(self.take(chosen), sampled=(n_rows, n_available))

    def remark_on_rows(self, seconds: float, steps: list[Any], output: Output) -> None:
        """Say how many rows a fit has used where that is not all, and what all would take.

        Parameters
        ----------
        seconds : float
            That the fit has taken; more rows are assumed to take more time in proportion.
        steps : list
            The last step of the fit, if it has any.
        output : Output
        """
        n_rows = len(self.labels)
        n_used = min((getattr(step, "n_used", n_rows) for step in steps), default=n_rows)
        if self.sampled is not None:
            n_used, n_rows = self.sampled
            text = f"learned from a sample of {n_used} of {n_rows} rows; all of them would take"
        elif n_used < n_rows:
            text = (
                f"the search used {n_used} of {n_rows} rows, as more of them changed little, and "
                "the machine all; a search on all rows would take"
            )
        else:
            return
        about = duration(seconds * n_rows / n_used)
        output.remark(f"{text} about {about} if time grows in proportion to rows")

    def encoder(self, scaling: str | None, rounded: bool = False) -> ColumnEncoder | None:
        """The encoder of the columns; None for sparse rows that stay as they are.

        ``rounded`` is for machines in few bits, as in `ColumnEncoder.fit`.
        """
        if self.table.rows is not None and scaling is None:
            return None
        if self.table.rows is not None and self.table.rows.shape[1] > _MOST_SCALED:
            raise DataError(
                f"{self.table.source} has {self.table.rows.shape[1]} features, and --scaling would "
                f"make a column of each (at most {_MOST_SCALED}); leave it out"
            )
        columns = self.table.select(self.table.names)
        try:
            return ColumnEncoder.fit(columns, scaling=scaling or "standard", rounded=rounded)
        except ValueError as error:
            raise DataError(f"{self.table.source}: {one_line(error)}") from error

    def rows(self, encoder: ColumnEncoder | None) -> Any:
        """What an estimator is given."""
        if encoder is None:
            return self.table.rows
        return encoder.transform(self.table.select(self.table.names))


def read_training_data(arguments: argparse.Namespace, output: Output) -> TrainingTable:
    """The table that the command line names, checked."""
    source = Source.from_arguments(arguments.table, arguments)
    task = METHODS[arguments.method].task
    if task is OUTLIERS and arguments.target is not None:
        raise UsageError(
            f"--method {arguments.method} learns from rows alone: leave --target out, and the "
            f"column with --drop {quoted(arguments.target)}"
        )
    if arguments.only and arguments.drop:
        raise UsageError("say --only or --drop, not both")
    target = task.target(source, arguments.target)
    for option in ("drop", "only", "text"):
        if target is not None and target in getattr(arguments, option):
            raise UsageError(
                f"{quoted(target)} is the --target, which is no column to learn from; leave it "
                f"out of --{option}"
            )
    table = read_table(source, target, arguments.text, output)
    features = _features(table, source, target, arguments)
    chosen = features if target is None else features.plus(target, table.column(target))
    if arguments.drop_missing:
        cells = map(missing_cells, chosen.columns.values())
        missing = np.any([np.zeros(len(chosen), dtype=bool), *cells], axis=0)
        if missing.any():
            output.remark(f"{missing.sum()} rows with missing values are left out")
        chosen = chosen.take(~missing)
        chosen.require_rows()
    if target is not None:
        target_values(chosen, target, " with --drop-missing")
    labels = task.training_values(chosen, target, arguments.max_classes)
    if labels.dtype.kind == "U":
        warn_of_alike(f"the target {target!r}", "classes", np.unique(labels).tolist(), output)
    wanted = [*arguments.text, *arguments.only]
    features = checked_columns(chosen.without(target), wanted, output)
    data = TrainingTable(features, labels, target, task)
    return data.sample(arguments.sample, arguments.seed)


def _features(
    table: Table, source: Source, target: str | None, arguments: argparse.Namespace
) -> Table:
    """The columns to learn from."""
    # the `columns` of a LIBSVM file are its labels, whether they are the target or not
    table = table.without(*([target] if source.kind.has_names else table.columns))
    if source.format == "npz":
        table = table.without(*npz_others(table))
    table = table.without(*arguments.drop)
    if arguments.only:
        table = replace(table, columns=table.select(arguments.only))
    if table.rows is None and not table.columns:
        raise DataError(f"{table.source} has no column to learn from but the target")
    for name, values in table.select(arguments.text).items():
        if not is_text(values):
            table = table.plus(name, values.astype(str).astype(object))
    return table


def read_test_data(
    arguments: argparse.Namespace, data: TrainingTable, output: Output
) -> TrainingTable:
    """The table of ``--test``, read as that of the training rows."""
    as_asked = argparse.Namespace(**vars(arguments))
    if arguments.test.rpartition(".")[2] != arguments.table.rpartition(".")[2]:
        as_asked.format = None  # --format is about the other file
    source = Source.from_arguments(arguments.test, as_asked)
    text = [name for name, values in data.table.columns.items() if values.dtype.kind == "O"]
    table = read_table(source, data.target, text, output)
    if data.target is None:
        return replace(data, table=table, labels=data.task.training_values(table, None, None))
    labels = table.column(data.target)
    return replace(data, table=table.without(data.target), labels=labels)
