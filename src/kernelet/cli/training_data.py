"""From a table to rows and labels that an estimator can learn from."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import DataError, UsageError, one_line, quoted
from kernelet.cli.methods import count_argument, task_asked_for
from kernelet.cli.output import Output
from kernelet.cli.tables.arrays import LABELS, npz_others
from kernelet.cli.tables.reading import check_features, read_table, split_names, target_of
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table, is_missing, is_text, row_numbers
from kernelet.cli.tasks import OUTLIERS, Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernelet.machine.columns import ColumnEncoder

SCALINGS = ("standard", "minmax", "none")
# A column of text with more values than this is refused if few rows share one.
_MANY_TEXTS = 50


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows and labels.

    Attributes
    ----------
    table : Table
        The features, the target taken out.
    labels : ndarray of shape (n_rows,)
    target : str or None
        Name of the column of labels, where there is one.
    task : Task
        What the labels are.
    """

    table: Table
    labels: NDArray[Any]
    target: str | None
    task: Task

    def take(self, index: Any) -> TrainingData:
        """Some of the rows."""
        return replace(self, table=self.table.take(index), labels=self.labels[index])


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """The target and the columns to learn from."""
    parser.add_argument("table", metavar="TABLE", help="csv, tsv, parquet, npz or LIBSVM file")
    parser.add_argument(
        "-t",
        "--target",
        metavar="COLUMN",
        help="the column of the classes or numbers (npz: y unless you say so; LIBSVM: the first of "
        "each line)",
    )
    group = parser.add_argument_group("columns")
    group.add_argument("--drop", metavar="A,B", help="columns to leave out, such as names and ids")
    group.add_argument("--only", metavar="A,B", help="columns to learn from, and no others")
    group.add_argument(
        "--text", metavar="A,B", help="columns of codes that look like numbers but are categories"
    )
    group.add_argument(
        "--scaling",
        choices=SCALINGS,
        help="of numbers, kept in the model (default: standard; LIBSVM files: none)",
    )
    group.add_argument(
        "--drop-missing", action="store_true", help="leave out rows in which a value is missing"
    )
    group.add_argument(
        "--max-classes",
        type=count_argument,
        metavar="N",
        help="more different values of the target than this are an error",
    )


def read_training_data(arguments: argparse.Namespace, output: Output) -> TrainingData:
    """The table that the command line names, checked."""
    source = Source.from_arguments(arguments.table, arguments)
    task = task_asked_for(arguments)
    column, target = _target(source, arguments, task)
    text = split_names(arguments.text)
    table = read_table(source, column, text)
    if arguments.only and arguments.drop:
        raise UsageError("say --only or --drop, not both")
    features = table if column is None else table.without([column])
    if source.format == "npz":
        features = features.without(npz_others(features, column))
    features = features.without(split_names(arguments.drop))
    if arguments.only:
        features = replace(features, columns=features.select(split_names(arguments.only)))
    features = _with_text(features, text)
    check_features(features)
    targets = features if target is None else _alone(table, target)
    if arguments.drop_missing:
        complete = _complete(features) & _complete(targets)
        if not complete.all():
            output.remark(f"{int((~complete).sum())} rows with missing values are left out")
        features, targets = features.take(complete), targets.take(complete)
        features.require_rows()
    labels = task.training_values(targets, target, arguments.max_classes)
    _check_columns(features, output)
    return TrainingData(features, labels, target, task)


def _target(
    source: Source, arguments: argparse.Namespace, task: Task
) -> tuple[str | None, str | None]:
    """The column that is no feature, and the same if it is learned."""
    if task is not OUTLIERS:
        target = target_of(source, arguments.target)
        return target, target
    if arguments.target is not None:
        raise UsageError(
            f"--method {arguments.method} learns from rows alone: leave --target out, and the "
            f"column with --drop {quoted(arguments.target)}"
        )
    return (LABELS if source.format == "libsvm" else None), None


def _alone(table: Table, name: str) -> Table:
    """One column of a table."""
    return replace(table, columns={name: table.column(name)}, rows=None)


def _complete(table: Table) -> Any:
    import numpy as np

    complete = np.ones(len(table), dtype=bool)
    for values in table.columns.values():
        complete &= ~is_missing(values)
    return complete


def fit_encoder(data: TrainingData, scaling: str | None) -> ColumnEncoder | None:
    """The encoder of the columns; None for sparse rows that stay as they are."""
    if data.table.rows is not None and scaling is None:
        return None
    from kernelet.machine.columns import ColumnEncoder

    try:
        return ColumnEncoder.fit(features_of(data.table), scaling=scaling or "standard")
    except ValueError as error:
        raise DataError(f"{data.table.source}: {one_line(error)}") from error


def features_of(table: Table) -> dict[str, NDArray[Any]]:
    """All columns of a table, those of sparse rows made dense."""
    return table.columns if table.rows is None else table.select(table.names)


def matrix(table: Table, encoder: ColumnEncoder | None) -> Any:
    """What an estimator is given."""
    return table.rows if encoder is None else encoder.transform(features_of(table))


def _with_text(table: Table, names: list[str]) -> Table:
    """The columns that a person calls text, as text."""
    columns = dict(table.columns)
    for name in names:
        values = table.column(name)
        if not is_text(values):
            columns[name] = values.astype(object)
            columns[name][...] = [str(value) for value in values.tolist()]
    return replace(table, columns=columns)


def _check_columns(table: Table, output: Output) -> None:
    import numpy as np

    for name, values in table.columns.items():
        missing = is_missing(values)
        if is_text(values):
            n_texts = len(set(values[~missing].tolist()))
            if n_texts > _MANY_TEXTS and 2 * n_texts > len(values):
                raise DataError(
                    f"column {name!r} of {table.source} has {n_texts} different texts in "
                    f"{len(values)} rows, from which nothing can be learned; leave it out with "
                    f"--drop {quoted(name)}"
                )
        elif np.isinf(values).any():
            raise DataError(
                f"column {name!r} of {table.source} has an infinite number in "
                f"{row_numbers(table, np.isinf(values))}; correct it, or leave the column out with "
                f"--drop {quoted(name)}"
            )
        elif missing.all():
            raise DataError(
                f"column {name!r} of {table.source} has no values; leave it out with "
                f"--drop {quoted(name)}"
            )
        elif missing.any():
            output.warn(
                f"column {name!r} misses {int(missing.sum())} of {len(values)} numbers; the mean "
                "of the others stands for them (--drop-missing leaves such rows out)"
            )
