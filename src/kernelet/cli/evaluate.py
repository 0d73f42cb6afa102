"""Compare a model's predictions with the labels of a table.

Shows the error, recall, precision and F1 of each class, and which classes are taken for which.
"""

from __future__ import annotations

import argparse

from kernelet.cli.errors import DataError
from kernelet.cli.figures import Confusion, unknown_labels
from kernelet.cli.labels import codes_of
from kernelet.cli.models import read_model
from kernelet.cli.output import Output, add_output_options
from kernelet.cli.progress import rows_bar
from kernelet.cli.reading import table_chunks, target_of
from kernelet.cli.sources import Source, add_table_options
from kernelet.cli.unknown import Surprises

USAGE = "kernelet evaluate MODEL TABLE [options]"
EXAMPLES = """examples:
  kernelet evaluate iris.kernelet test.csv
  kernelet evaluate iris.kernelet test.csv --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="a file that `kernelet fit` has saved")
    parser.add_argument("table", metavar="TABLE", help="rows with labels")
    parser.add_argument(
        "-t", "--target", metavar="COLUMN", help="the column of the labels (default: the model's)"
    )
    add_table_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Count piece by piece, print."""
    output = Output.from_arguments(arguments)
    source = Source.from_arguments(arguments.table, arguments)
    model = read_model(arguments.model)
    target = target_of(source, arguments.target, model.target)
    confusion = Confusion.empty(model.classes)
    surprises = Surprises(output)
    with rows_bar(output, f"predicting {source.name}", source.n_bytes is not None) as done:
        for table in table_chunks(source, model.text_columns, model.number_columns, target):
            if not len(table):
                continue
            truth = codes_of(table, target, model.classes)
            with surprises.noted(model, table):
                rows = model.rows(table.without([target]))
            confusion.add(truth, model.predict(rows))
            done(table)
    if not confusion.n_rows:
        raise DataError(f"{source.name} has no rows")
    surprises.tell(confusion.n_rows)
    unknown_labels(output, confusion, target)
    confusion.show(output)
    output.document({"model": arguments.model, "table": source.name, **confusion.document()})
