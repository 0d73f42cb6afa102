"""Predict the rows of a table with a model.

The table is taken as it is, in pieces, so that a csv file may be larger than the memory. The output
has one line for each row, in the same order; a file is replaced as a whole, at the end. Models that
were fitted with --probabilities have them.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from kernelet.cli.arguments import add_model_argument, names
from kernelet.cli.errors import Check, ModelError, UsageError
from kernelet.cli.output import Output, plain
from kernelet.cli.progress import rows_bar
from kernelet.cli.tables.sources import CHUNK_ROWS, Source, add_table_options, check_file
from kernelet.cli.writing import check_output, output_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernelet.cli.model import Model
    from kernelet.cli.tables.table import Table

USAGE = "kernelet predict MODEL TABLE [-o FILE] [options]"
EXAMPLES = """examples:
  kernelet predict iris.kernelet new.csv -o predicted.csv
  kernelet predict iris.kernelet new.csv --keep id --scores
  cat new.csv | kernelet predict iris.kernelet - > predicted.csv"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    add("table", metavar="TABLE", help='the rows, or "-" for csv from stdin')
    add("-o", "--output", metavar="FILE", help="csv, or tsv if its name ends so (default: stdout)")
    add("--scores", action="store_true", help="add the score of each class (of two: the second's)")
    add("--probabilities", action="store_true", help="add the probability of each class")
    add(
        "--keep",
        type=names,
        default=[],
        metavar="A,B",
        help="columns to copy in front, such as ids",
    )
    add("--chunk", type=int, default=CHUNK_ROWS, help=argparse.SUPPRESS)
    add_table_options(parser)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the model is read."""
    return [
        (("output",), lambda: None if arguments.output == "-" else check_output(arguments.output)),
        (("table", "format"), lambda: Source.from_arguments(arguments.table, arguments)),
        (("model",), lambda: check_file(arguments.model, ModelError)),
    ]


def run(arguments: argparse.Namespace) -> None:
    """Predict piece by piece; the output file appears when all is done."""
    from kernelet.cli.model import Surprises, read_model

    output = Output.from_arguments(arguments)
    to_stdout = arguments.output in (None, "-")
    source = Source.from_arguments(arguments.table, arguments)
    model = read_model(arguments.model)
    if arguments.probabilities and not hasattr(model.estimator, "predict_proba"):
        raise ModelError(
            f"{arguments.model} has no probabilities; fit it with --probabilities --holdout 0.2"
        )
    if arguments.scores and not hasattr(model.estimator, "decision_function"):
        raise ModelError(f"{arguments.model} predicts numbers, which have no --scores")
    if arguments.keep and not source.kind.has_names:
        raise UsageError("--keep has no meaning for a LIBSVM file, whose columns have no names")
    surprises = Surprises(output)
    start = time.perf_counter()
    n_rows = 0
    with output_text(arguments.output) as stream, rows_bar(output, source) as done:
        as_json = output.as_json and to_stdout
        writer = JsonWriter(stream) if as_json else CsvWriter(stream, arguments.output)
        for table in chunks(source, model, arguments.keep, arguments.chunk):
            kept = {name: values.tolist() for name, values in table.select(arguments.keep).items()}
            with surprises.noted(model, table):
                rows = model.rows(table)
            writer.write(kept | predictions(model, rows, arguments))
            n_rows += len(table)
            done(table)
        writer.end(n_rows)
    surprises.warn(n_rows)
    seconds = time.perf_counter() - start
    if not to_stdout:
        output.remark(f"{n_rows} rows predicted in {seconds:.1f} s: {arguments.output}")
        output.document({"output": arguments.output, "rows": n_rows, "seconds": seconds})


def chunks(source: Source, model: Model, keep: list[str], length: int) -> Iterator[Table]:
    """The table in pieces, with the columns to keep exactly as in the file."""
    from kernelet.cli.tables.reading import table_chunks

    numbers = model.number_columns
    text = [*model.categories, *(name for name in keep if name not in numbers)]
    for table in table_chunks(source, text, numbers, length=length):
        table.select(keep)  # raises an error for an unknown column, also where there are no rows
        if len(table):
            yield table


def predictions(model: Model, rows: Any, arguments: argparse.Namespace) -> dict[str, list[Any]]:
    """The columns of the output for some rows."""
    has_labels = hasattr(model.estimator, "predict")  # a bare machine has scores alone
    classes = getattr(model.estimator, "classes_", None)
    columns = {"prediction": model.predict(rows).tolist()} if has_labels else {}
    if arguments.scores or not has_labels:
        columns |= _named("score", model.predict(rows, "decision_function"), classes)
    if arguments.probabilities:
        columns |= _named("probability", model.predict(rows, "predict_proba"), classes)
    return columns


def _named(what: str, values: NDArray[Any], classes: NDArray[Any] | None) -> dict[str, list[Any]]:
    """score_CLASS for one column per class; of two classes one score, that of the second."""
    from kernelet.cli.labels import text_of

    labels = [] if classes is None else [text_of(label) for label in classes]
    if values.ndim == 1:
        return {"_".join([what, *labels[-1:]]): values.tolist()}
    if len(labels) != values.shape[1]:
        labels = [str(place + 1) for place in range(values.shape[1])]
    return {
        f"{what}_{label}": column for label, column in zip(labels, values.T.tolist(), strict=True)
    }


class CsvWriter:
    """A heading and a line for each row."""

    def __init__(self, stream: IO[str], path: str | None) -> None:
        self.has_heading = False
        is_tsv = path is not None and path.lower().endswith((".tsv", ".tab"))
        # Before Python 3.13 a cell with "\r" is quoted only where lines end in it: `_Lines` puts
        # the line feed of the output in its place.
        self.csv = csv.writer(_Lines(stream), delimiter="\t" if is_tsv else ",")

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Some more rows."""
        self._head(columns)
        cells = [["" if v is None or v != v else v for v in column] for column in columns.values()]
        self.csv.writerows(zip(*cells, strict=True))

    def end(self, n_rows: int) -> None:
        """After the last row; a table without rows has a heading all the same."""
        self._head(["prediction"])

    def _head(self, names: Iterable[str]) -> None:
        if not self.has_heading:
            self.csv.writerow(names)
            self.has_heading = True


class _Lines:
    """A stream that writes the lines of csv with a line feed at their ends."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, line: str) -> int:
        return self.stream.write(line.removesuffix("\r\n") + "\n")


class JsonWriter:
    """One document, written as it grows: {"predictions": [{...}, ...], "rows": n}."""

    def __init__(self, stream: IO[str]) -> None:
        # written with the first row: an error before it leaves stdout empty
        self.stream, self.separator = stream, '{"predictions": [\n'

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Some more rows."""
        for values in zip(*columns.values(), strict=True):
            row = plain(dict(zip(columns, values, strict=True)))
            self.stream.write(self.separator + json.dumps(row))
            self.separator = ",\n"

    def end(self, n_rows: int) -> None:
        """After the last row."""
        opened = "" if n_rows else self.separator
        self.stream.write(f'{opened}\n], "rows": {n_rows}}}\n')
