"""Predict the rows of a table with a model.

The table is taken as it is, in pieces: a csv file may be larger than the memory. The output has one
line for each row, in the same order.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from kernelet.cli.errors import ModelError, UsageError, no_column
from kernelet.cli.labels import text_of
from kernelet.cli.model import Model, read_model
from kernelet.cli.output import Output, add_output_options, plain
from kernelet.cli.progress import rows_bar
from kernelet.cli.tables.reading import CHUNK_ROWS, split_names, table_chunks
from kernelet.cli.tables.sources import Source, add_table_options
from kernelet.cli.tables.table import Table
from kernelet.cli.unknown import Surprises
from kernelet.cli.writing import check_output, output_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

USAGE = "kernelet predict MODEL TABLE [-o FILE] [options]"
EXAMPLES = """examples:
  kernelet predict iris.kernelet new.csv -o predicted.csv
  kernelet predict iris.kernelet new.csv --keep id --scores
  cat new.csv | kernelet predict iris.kernelet - > predicted.csv"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="a file that `kernelet fit` has saved")
    parser.add_argument("table", metavar="TABLE", help='the rows, or "-" for csv from stdin')
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="csv, or tsv if its name ends so; replaced as a whole at the end (default: stdout)",
    )
    parser.add_argument(
        "--scores", action="store_true", help="add the score of each class (of two: the second's)"
    )
    parser.add_argument(
        "--probabilities",
        action="store_true",
        help="add the probability of each class; needs a model of `fit --probabilities`",
    )
    parser.add_argument(
        "--keep", metavar="A,B", help="columns of the table to copy in front, such as an id"
    )
    parser.add_argument("--chunk", type=int, default=CHUNK_ROWS, help=argparse.SUPPRESS)
    add_table_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Predict piece by piece; the output file appears when all is done."""
    output = Output.from_arguments(arguments)
    check_output(None if arguments.output == "-" else arguments.output)
    source = Source.from_arguments(arguments.table, arguments)
    model = read_model(arguments.model)
    keep = split_names(arguments.keep)
    if arguments.probabilities and not model.has_probabilities:
        raise ModelError(
            f"{arguments.model} has no probabilities; fit it with --probabilities --holdout 0.2"
        )
    if arguments.scores and not hasattr(model.estimator, "decision_function"):
        raise ModelError(f"{arguments.model} predicts numbers, which have no --scores")
    if source.format == "libsvm" and keep:
        raise UsageError("--keep has no meaning for a LIBSVM file, whose columns have no names")
    to_stdout = arguments.output in (None, "-")
    surprises = Surprises(output)
    start = time.perf_counter()
    n_rows = 0
    with output_text(arguments.output) as stream:
        as_json = output.as_json and to_stdout
        write: Writer = JsonWriter(stream) if as_json else CsvWriter(stream, arguments.output)
        with rows_bar(output, f"predicting {source.name}", source.n_bytes is not None) as done:
            for table in chunks(source, model, keep, arguments.chunk):
                columns = predictions(model, table, keep, arguments, surprises)
                write.rows(columns)
                n_rows += len(table)
                done(table)
        write.end(n_rows, output)
    surprises.warn(n_rows)
    seconds = time.perf_counter() - start
    if not to_stdout:
        output.remark(f"{n_rows} rows predicted in {seconds:.1f} s: {arguments.output}")
        output.document({"output": arguments.output, "rows": n_rows, "seconds": seconds})


def chunks(source: Source, model: Model, keep: list[str], length: int) -> Iterator[Table]:
    """The table in pieces, with the columns that are kept as they stand in the file."""
    numbers = model.number_columns
    text = [*model.text_columns, *(name for name in keep if name not in numbers)]
    for table in table_chunks(source, text, numbers, length=length):
        for name in keep:
            if name not in table.columns:
                raise no_column(name, table.names, source.name)
        if len(table):
            yield table


def predictions(
    model: Model,
    table: Table,
    keep: list[str],
    arguments: argparse.Namespace,
    surprises: Surprises,
) -> dict[str, list[Any]]:
    """The columns of the output for some rows."""
    with surprises.noted(model, table):
        rows = model.rows(table)
    columns: dict[str, list[Any]] = {name: table.columns[name].tolist() for name in keep}
    estimator = model.estimator
    if not hasattr(estimator, "predict"):  # a bare machine has scores, and no labels for them
        return columns | _named("score", model.scores(rows), None)
    columns["prediction"] = model.predict(rows).tolist()
    if arguments.scores:
        columns |= _named("score", model.scores(rows), getattr(estimator, "classes_", None))
    if arguments.probabilities:
        columns |= _named("probability", model.probabilities(rows), model.classes)
    return columns


def _named(what: str, values: NDArray[Any], classes: NDArray[Any] | None) -> dict[str, list[Any]]:
    """score_CLASS for one column per class; of two classes one score, that of the second."""
    if values.ndim == 1:
        second = "" if classes is None else f"_{text_of(classes[-1])}"
        return {what + second: values.tolist()}
    names = range(1, values.shape[1] + 1)
    if classes is not None and classes.size == values.shape[1]:
        return {
            f"{what}_{text_of(label)}": values[:, place].tolist()
            for place, label in enumerate(classes)
        }
    return {f"{what}_{name}": values[:, name - 1].tolist() for name in names}


class Writer(ABC):
    """Writes columns piece by piece."""

    @abstractmethod
    def rows(self, columns: dict[str, list[Any]]) -> None:
        """Some more rows."""

    @abstractmethod
    def end(self, n_rows: int, output: Output) -> None:
        """After the last row."""


class CsvWriter(Writer):
    """A heading and a line for each row."""

    def __init__(self, stream: IO[str], path: str | None) -> None:
        is_tsv = path is not None and path.lower().endswith((".tsv", ".tab"))
        # Before Python 3.13 a cell with "\r" is quoted only where lines end in it.
        lines = _Lines(stream, "\r\n")
        self.writer = csv.writer(lines, delimiter="\t" if is_tsv else ",", lineterminator="\r\n")
        self.has_heading = False

    def rows(self, columns: dict[str, list[Any]]) -> None:
        if not self.has_heading:
            self.writer.writerow(columns)
            self.has_heading = True
        lists = [["" if v is None or v != v else v for v in column] for column in columns.values()]
        self.writer.writerows(zip(*lists, strict=True))

    def end(self, n_rows: int, output: Output) -> None:
        if not self.has_heading:
            self.writer.writerow(["prediction"])


class _Lines:
    """A stream for lines of another ending, which end in a line feed there."""

    def __init__(self, stream: IO[str], ending: str) -> None:
        self.stream, self.ending = stream, ending

    def write(self, line: str) -> int:
        return self.stream.write(line.removesuffix(self.ending) + "\n")


class JsonWriter(Writer):
    """One document, written as it grows: {"predictions": [{...}, ...], "rows": n}."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.separator = '{"predictions": [\n'

    def rows(self, columns: dict[str, list[Any]]) -> None:
        for values in zip(*columns.values(), strict=True):
            row = plain(dict(zip(columns, values, strict=True)))
            self.stream.write(self.separator + json.dumps(row))
            self.separator = ",\n"

    def end(self, n_rows: int, output: Output) -> None:
        opened = "" if n_rows else self.separator
        self.stream.write(f'{opened}\n], "rows": {n_rows}}}\n')
