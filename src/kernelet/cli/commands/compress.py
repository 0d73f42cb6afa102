"""Give a model fewer vectors.

The vectors are learned anew, such that the smaller machine comes as near to the larger one as it
can. With a table of labelled rows a classifier is then fitted to these; with one of numbers a
regression is measured on it.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from kernelet.cli.errors import ModelError, UsageError, one_line
from kernelet.cli.methods import count_argument
from kernelet.cli.model import Model, read_model, wrapped
from kernelet.cli.output import Output, add_output_options, percent, size
from kernelet.cli.progress import progress_bar
from kernelet.cli.tables.reading import read_table, target_of
from kernelet.cli.tables.sources import Source, add_table_options
from kernelet.cli.tables.table import Table
from kernelet.cli.tasks import CLASSES, OUTLIERS, Figures, task_of
from kernelet.cli.writing import check_output, writing_errors

USAGE = "kernelet compress MODEL --vectors N -o MODEL [options]"
EXAMPLES = """examples:
  kernelet compress large.kernelet --vectors 10 -o small.kernelet
  kernelet compress large.kernelet -m 10 --table train.csv --refit direct -o small.kernelet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="a file that `kernelet fit` has saved")
    parser.add_argument(
        "-m",
        "--vectors",
        type=count_argument,
        required=True,
        metavar="N",
        help="at most this many",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to save the model in"
    )
    parser.add_argument("--table", metavar="TABLE", help="labelled rows to fit and measure with")
    parser.add_argument(
        "-t", "--target", metavar="COLUMN", help="the column of the labels (default: the model's)"
    )
    parser.add_argument(
        "--refit",
        choices=["none", "margin", "direct"],
        help="with a table: nothing, the coefficients, or the vectors too (default: margin)",
    )
    parser.add_argument("--max-iter", type=count_argument, help="most steps of the search")
    parser.add_argument("--seed", type=int, default=0, help="of the first vectors (default: 0)")
    add_table_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, compress, save, compare."""
    from kernelet.learners import CalibratedClassifier, compress

    output = Output.from_arguments(arguments)
    check_output(arguments.output, is_model=True)
    if arguments.refit not in (None, "none") and not arguments.table:
        raise UsageError(f"--refit {arguments.refit} needs labelled rows: --table TABLE")
    model = read_model(arguments.model)
    estimator = model.estimator
    if isinstance(estimator, CalibratedClassifier):
        estimator = estimator.estimator_
        output.warn("the probabilities are left out; they belong to the larger machine")
    options: dict[str, Any] = {"random_state": arguments.seed}
    if arguments.max_iter:
        options["max_iter"] = arguments.max_iter
    table, target = None, None
    if arguments.table:
        source = Source.from_arguments(arguments.table, arguments)
        target = _target(arguments, source, model)
        table = read_table(source, target, model.text_columns)
        if task_of(model) is CLASSES:
            truth = CLASSES.truth(table, target, model)
            known = truth >= 0
            options["X"] = model.rows(_features(table, target).take(known))
            options["y"] = model.classes[truth[known]]
            options["refit"] = arguments.refit or "margin"
        elif arguments.refit not in (None, "none"):
            raise UsageError(
                f"--refit {arguments.refit} is for classes; a model of numbers or of one class is "
                "made smaller without labels, or fit one with fewer --vectors"
            )
    start = time.perf_counter()
    text = f"compressing {model.machine.n_vectors} vectors"
    with output.hearing_warnings(), progress_bar(output, text, None, ""):
        try:
            small = compress(estimator, arguments.vectors, **options)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{arguments.model}: {one_line(error)}") from error
    seconds = time.perf_counter() - start
    content = wrapped(small, model.encoder, model.target)
    with writing_errors(arguments.output):
        content.save(arguments.output)
    _report(arguments, model, Model(arguments.output, content), table, target, seconds, output)


def _target(arguments: argparse.Namespace, source: Source, model: Model) -> str | None:
    if task_of(model) is OUTLIERS:
        asked: str | None = arguments.target
        return asked
    return target_of(source, arguments.target, model.target)


def _features(table: Table, target: str | None) -> Table:
    return table if target is None else table.without([target])


def _report(
    arguments: argparse.Namespace,
    large: Model,
    small: Model,
    table: Table | None,
    target: str | None,
    seconds: float,
    output: Output,
) -> None:
    relative = getattr(small.estimator, "relative_error_", None)
    models = [("before", large), ("after", small)]
    figures = [_measured(model, table, target) for _, model in models] if table else []
    if figures:
        task_of(large).warn(figures[0], target, output)
    if not output.quiet:
        headings = ["", "vectors", "size", *(["on the table"] if table else [])]
        rows = [
            [name, str(model.machine.n_vectors), size(model.machine.nbytes)]
            for name, model in models
        ]
        for row, measured in zip(rows, figures, strict=False):
            row.append(measured.headline)
        output.table(headings, rows)
        far = ""
        if relative and table is None:  # fitted to labels it is meant to be another machine
            far = f", {percent(relative)} of its norm away from the machine"
        output.text()
        output.text(f"saved in {arguments.output} after {seconds:.1f} s{far}")
    output.document(
        {
            "model": arguments.output,
            "vectors_before": large.machine.n_vectors,
            "vectors": small.machine.n_vectors,
            "machine_bytes_before": large.machine.nbytes,
            "machine_bytes": small.machine.nbytes,
            "relative_error": relative,
            "seconds": seconds,
            "error_before": figures[0].error if figures else None,
            "error": figures[1].error if figures else None,
        }
    )


def _measured(model: Model, table: Table, target: str | None) -> Figures:
    task = task_of(model)
    figures = task.figures(model, target)
    rows = model.rows(_features(table, target))
    figures.add(task.truth(table, target, model), model.predict(rows))
    return figures
