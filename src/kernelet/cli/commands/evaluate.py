"""Compare a model's predictions with the labels or numbers of a table.

For classes it shows the error, recall, precision and F1 of each, and which are confused; for
numbers R2, RMSE and MAE; for one class how many rows are outside.
"""

from __future__ import annotations

import argparse

from kernelet.cli.arguments import add_model_argument
from kernelet.cli.errors import Check, DataError, ModelError
from kernelet.cli.output import Output
from kernelet.cli.progress import rows_bar
from kernelet.cli.tables.sources import Source, add_table_options, check_file

USAGE = "kernelet evaluate MODEL TABLE [options]"
EXAMPLES = """examples:
  kernelet evaluate iris.kernelet test.csv
  kernelet evaluate iris.kernelet test.csv --json
  kernelet evaluate price.kernelet houses.csv"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    add("table", metavar="TABLE", help="rows with labels or numbers")
    text = "column of the labels or numbers (default: the model's); for one class, of 1 and -1"
    add("-t", "--target", metavar="COLUMN", help=text)
    add_table_options(parser)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the model is read."""
    return [
        (("table", "format"), lambda: Source.from_arguments(arguments.table, arguments)),
        (("model",), lambda: check_file(arguments.model, ModelError)),
    ]


def run(arguments: argparse.Namespace) -> None:
    """Measure piece by piece, print."""
    from kernelet.cli.model import Surprises, read_model
    from kernelet.cli.tables.reading import table_chunks
    from kernelet.cli.tasks import task_of

    output = Output.from_arguments(arguments)
    source = Source.from_arguments(arguments.table, arguments)
    model = read_model(arguments.model)
    task = task_of(model)
    target = task.target(source, arguments.target, model.target)
    figures = task.figures(model, target)
    surprises = Surprises(output)
    with rows_bar(output, source) as done:
        for table in table_chunks(source, model.categories, model.number_columns, target):
            if not len(table):
                continue
            truth = task.truth(table, target, model)
            with surprises.noted(model, table):
                rows = model.rows(table.without(target))
            figures.add(truth, model.predict(rows))
            done(table)
    if not figures.n_rows:
        raise DataError(f"{source.name} has no rows")
    surprises.warn(figures.n_rows)
    figures.warn(target, output)
    figures.show(output)
    output.document({"model": arguments.model, "table": source.name, **figures.document()})
