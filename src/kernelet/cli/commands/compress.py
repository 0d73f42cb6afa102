"""Give a model fewer vectors.

New vectors are learned, such that the smaller machine is as close to the larger one as possible. A
classifier is then refitted if there is a table of labelled rows; a regression is measured on it.
With --vectors auto, there are as few vectors as keep the scores, on the rows of the table if there
is one, and nothing is refitted.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli.arguments import (
    add_model_argument,
    add_model_output,
    count,
    count_or_auto,
    positive,
    seed,
)
from kernelet.cli.errors import Check, ModelError, UsageError, one_line
from kernelet.cli.exporting import (
    MODEL_ENDING,
    ModelOutput,
    check_model_output,
    check_output_dtype,
)
from kernelet.cli.formats import add_dtype_option
from kernelet.cli.output import Output, percent, size
from kernelet.cli.progress import progress_bar
from kernelet.cli.tables.sources import Source, add_table_options, check_file
from kernelet.cli.writing import free_name

if TYPE_CHECKING:
    from kernelet.cli.metrics import Figures
    from kernelet.cli.model import Model
    from kernelet.cli.tables.table import Table

USAGE = "kernelet compress MODEL --vectors N [-o FILE] [options]"
EXAMPLES = """examples:
  kernelet compress large.kernelet --vectors 10
  kernelet compress large.kernelet -m 10 --table train.csv --refit direct -o small.kernelet
  kernelet compress large.kernelet -m auto --max-error 0.02 --table train.csv -o small.kernelet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    text = 'at most this many, or "auto" for as few as keep the scores'
    add("-m", "--vectors", type=count_or_auto, required=True, metavar="N", help=text)
    text = "what auto allows: the rms difference of scores over their rms (default: 0.005)"
    add("--max-error", type=positive, metavar="SHARE", help=text)
    add_model_output(parser, "MODEL's name with N, in this folder")
    add_dtype_option(parser)
    add("--table", metavar="TABLE", help="labelled rows to fit and measure with")
    add("-t", "--target", metavar="COLUMN", help="the column of the labels (default: the model's)")
    text = "with a table: nothing, the coefficients, or the vectors too (default: margin)"
    add("--refit", choices=["none", "margin", "direct"], help=text)
    add("--max-iter", type=count, help="maximum number of steps of the search")
    add("--seed", type=seed, default=0, help="seed of the first vectors (default: 0)")
    add_table_options(parser)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the model is read."""
    output, dtype = arguments.output, arguments.dtype
    return [
        (("output",), lambda: check_model_output(output, dtype)),
        (("output", "dtype"), lambda: check_output_dtype(output, dtype)),
        (("refit", "table"), lambda: _check_refit(arguments)),
        (("refit", "vectors"), lambda: _check_auto(arguments)),
        (("max_error", "vectors"), lambda: _check_max_error(arguments)),
        (("model",), lambda: check_file(arguments.model, ModelError)),
        (("table",), lambda: None if arguments.table is None else check_file(arguments.table)),
    ]


def _check_refit(arguments: argparse.Namespace) -> None:
    if arguments.refit not in (None, "none") and not arguments.table:
        raise UsageError(f"--refit {arguments.refit} needs labelled rows: --table TABLE")


def _check_auto(arguments: argparse.Namespace) -> None:
    if arguments.refit not in (None, "none") and arguments.vectors == "auto":
        raise UsageError(
            f"--vectors auto keeps the scores, and --refit {arguments.refit} learns others; leave "
            "out --refit, then compress again with --vectors and the number found"
        )


def _check_max_error(arguments: argparse.Namespace) -> None:
    if arguments.max_error and arguments.vectors != "auto":
        raise UsageError("--max-error belongs to --vectors auto, which chooses the number by it")


def run(arguments: argparse.Namespace) -> None:
    """Read, compress, save, compare."""
    from kernelet.cli.model import read_model
    from kernelet.cli.tasks import task_of
    from kernelet.learners import compress

    output = Output.from_arguments(arguments)
    stem = f"{Path(arguments.model).stem}-{arguments.vectors}-vectors"
    path = arguments.output or free_name(stem, MODEL_ENDING)
    destination = ModelOutput.of(path, arguments.dtype)
    destination.check_files()
    model = read_model(arguments.model)
    options, table, target = _options(arguments, model, output)
    start = time.perf_counter()
    text = f"compressing {model.machine.n_vectors} vectors"
    with output.hearing_warnings(), progress_bar(output, text, None, ""):
        try:
            small = compress(model.estimator, arguments.vectors, **options)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{arguments.model}: {one_line(error)}") from error
    seconds = time.perf_counter() - start
    after, _ = destination.save(small, model.encoder, model.target)
    figures = []
    if table is not None:
        figures = [task_of(each).measured(each, table, target) for each in (model, after)]
        figures[0].warn(target, output)
    _report(model, after, figures, seconds, output)


def _options(
    arguments: argparse.Namespace, model: Model, output: Output
) -> tuple[dict[str, Any], Table | None, str | None]:
    """Options of `compress`; the table with rows and target, if there is one."""
    from kernelet.cli.tables.reading import read_table
    from kernelet.cli.tasks import CLASSES, task_of

    options: dict[str, Any] = {"random_state": arguments.seed}
    if arguments.max_iter:
        options["max_iter"] = arguments.max_iter
    if arguments.max_error:
        options["max_error"] = arguments.max_error
    if not arguments.table:
        return options, None, None
    source, task = Source.from_arguments(arguments.table, arguments), task_of(model)
    target = task.target(source, arguments.target, model.target)
    table = read_table(source, target, model.categories, output)
    if task is CLASSES:
        truth = task.truth(table, target, model)
        known = truth >= 0
        options["X"] = model.rows(table.without(target).take(known))
        options["y"] = model.classes[truth[known]]
        keeps = "none" if arguments.vectors == "auto" else "margin"
        options["refit"] = arguments.refit or keeps
    elif arguments.refit not in (None, "none"):
        raise UsageError(
            f"--refit {arguments.refit} is for classes; a model of numbers or of one class is "
            "made smaller without labels, or fit one with fewer --vectors"
        )
    else:
        options["X"] = model.rows(table.without(target))
    return options, table, target


def _report(
    large: Model, small: Model, figures: list[Figures], seconds: float, output: Output
) -> None:
    from kernelet.learners.compression.unwrapping import unwrapped

    compressed = unwrapped(small.estimator).model
    relative = getattr(compressed, "relative_error_", None)
    on_table = getattr(compressed, "score_error_", math.nan)
    if not output.quiet:
        rows = [
            [name, str(model.machine.n_vectors), size(model.machine.nbytes)]
            for name, model in (("before", large), ("after", small))
        ]
        for row, measured in zip(rows, figures, strict=False):
            row.append(measured.headline)
        headings = ["", "vectors", "size", "on the table"]
        output.table(headings[: len(rows[0])], rows)
        far = ""
        if relative and not figures:  # a machine fitted to labels is meant to differ
            far = f", {percent(relative)} of its norm away from the machine"
        elif not math.isnan(on_table):
            far = f"; scores differ by {percent(on_table)} of their size on the table"
        output.text("", f"saved in {small.path} after {seconds:.1f} s{far}")
    error_before, error = [measured.error for measured in figures] or (None, None)
    output.document(
        {
            "model": small.path,
            "vectors_before": large.machine.n_vectors,
            "vectors": small.machine.n_vectors,
            "machine_bytes_before": large.machine.nbytes,
            "machine_bytes": small.machine.nbytes,
            "relative_error": relative,
            "score_error": None if math.isnan(on_table) else on_table,
            "seconds": seconds,
            "error_before": error_before,
            "error": error,
        }
    )
