"""Learn a small machine from a table.

Text columns become indicators and numbers are scaled; both are kept in the model, so that
`kernelet predict` takes the raw table. Unless --vectors or a budget is given, the number of vectors
is chosen by validation, and rows that are held out show the error.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kernelet.cli import methods
from kernelet.cli.arguments import add_data_options, add_model_output, count, positive, share
from kernelet.cli.budget import add_budget_options, budget_checks, chooses_vectors, has_budget
from kernelet.cli.errors import Check, DataError, Interrupted, UsageError, quoted
from kernelet.cli.exporting import (
    MODEL_ENDING,
    ModelOutput,
    check_model_output,
    check_output_dtype,
)
from kernelet.cli.formats import add_dtype_option
from kernelet.cli.output import Output, bits_line, kernel_text, size
from kernelet.cli.tables.sources import (
    COMPRESSIONS,
    STDIN,
    Source,
    add_table_options,
    check_file,
)
from kernelet.cli.writing import free_name

if TYPE_CHECKING:
    from kernelet.cli.budget_report import BudgetReport
    from kernelet.cli.exporting import Written
    from kernelet.cli.learning import Fit
    from kernelet.cli.model import Model
    from kernelet.cli.training_data import TrainingTable

# Where the number of vectors is chosen: what a person waits for, and the share of rows that shows
# the error.
SECONDS, HOLDOUT = 60.0, 0.2

USAGE = "kernelet fit TABLE --target COLUMN [--vectors N | --max-bytes N] [-o FILE] [options]"
EXAMPLES = f"""{methods.methods_text()}

examples:
  kernelet fit iris.csv --target species
  kernelet fit iris.csv --target species --time 300 -o iris.c
  kernelet fit train.csv -t label --vectors 20 --C 10 --test test.csv -o model.kernelet
  kernelet fit train.csv -t label --max-bytes 4k --bits 4,5 --holdout 0.2 -o small.kernelet
  kernelet fit houses.csv -t price --method sparse-kernel-ridge -o price.kernelet
  kernelet fit normal.csv --method sparse-one-class --param nu=0.05 -o guard.kernelet
  kernelet fit a9a.libsvm --vectors 50 --method reduced-svc --holdout 0.2 -o a9a.kernelet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_data_options(parser)
    text = (
        "the budget: kernel values that a prediction may cost (default: chosen by validation with "
        "--method sparse-svc, sparse-svr and sparse-kernel-ridge; otherwise "
        f"{methods.DEFAULT_VECTORS}, or what comes out of methods that choose it); with "
        "--max-bytes or --max-microseconds the most that are tried"
    )
    parser.add_argument("-m", "--vectors", type=count, metavar="N", help=text)
    text = f"seconds for choosing vectors, C and kernel by validation (default: {SECONDS:g})"
    parser.add_argument("--time", type=positive, metavar="SECONDS", help=text)
    add_model_output(parser, "TABLE's name with .kernelet, in this folder")
    add_dtype_option(parser)
    add = parser.add_argument_group("measuring the error").add_argument
    add("--test", metavar="TABLE", help="rows to measure the error on")
    text = (
        f"hold out this share of the rows for it, 0 for none (default: {HOLDOUT} where the number "
        "of vectors is chosen; the model then learns from all rows once the error is known)"
    )
    add("--holdout", type=share, metavar="SHARE", help=text)
    text = "calibrate on these rows, so that `predict --probabilities` works"
    add("--probabilities", action="store_true", help=text)
    add_budget_options(parser)
    methods.add_method_options(parser)
    add_table_options(parser)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the table is read."""
    method, budget = ("method", "param"), ("vectors", "max_bytes", "max_microseconds")
    output, dtype = arguments.output, arguments.dtype
    return [
        (("output",), lambda: check_model_output(output, dtype)),
        (("output", "dtype"), lambda: check_output_dtype(output, dtype)),
        (("dtype", "max_bytes"), lambda: _check_counted_dtype(arguments)),
        (("test", "holdout"), lambda: _check_test(arguments)),
        (("probabilities", "test", "holdout", *method, *budget), lambda: _check_rows(arguments)),
        (("probabilities", "method"), lambda: _check_probabilities(arguments)),
        (("time", *method, *budget), lambda: _check_time(arguments)),
        *budget_checks(arguments),
        *methods.method_checks(arguments),
        (("test",), lambda: _check_files(arguments)),
        (("only", "drop"), lambda: _check_columns(arguments)),
        (("target", "method"), lambda: _check_target(arguments)),
        (("table", "target", "format", "method"), lambda: _check_table(arguments)),
    ]


def _check_counted_dtype(arguments: argparse.Namespace) -> None:
    if arguments.max_bytes is not None and arguments.dtype not in (None, "q7"):
        raise UsageError(
            f"--max-bytes counts the integers of q7 (float32 for kernels that have none), not "
            f"{arguments.dtype}; leave --dtype out"
        )


def _check_test(arguments: argparse.Namespace) -> None:
    if arguments.test and arguments.holdout:
        raise UsageError("say --test or --holdout, not both")


def _check_rows(arguments: argparse.Namespace) -> None:
    if arguments.probabilities and not (arguments.test or _share(arguments)):
        raise UsageError("--probabilities needs rows of their own: say --holdout 0.2 or --test")


def _check_probabilities(arguments: argparse.Namespace) -> None:
    if arguments.probabilities and not methods.METHODS[arguments.method].task.has_probabilities:
        raise UsageError(f"--probabilities are those of classes, not of {arguments.method}")


def _check_time(arguments: argparse.Namespace) -> None:
    if arguments.time is not None and not chooses_vectors(arguments):
        raise UsageError(
            "--time is for choosing the number of vectors, and there is nothing to choose with "
            "--vectors, a budget, or a method that has no such choice; leave --time out"
        )


def _check_columns(arguments: argparse.Namespace) -> None:
    if arguments.only and arguments.drop:
        raise UsageError("say --only or --drop, not both")


def _check_files(arguments: argparse.Namespace) -> None:
    if arguments.test:
        check_file(arguments.test)


def _check_target(arguments: argparse.Namespace) -> None:
    method = methods.METHODS[arguments.method]
    if method.predicts == "outliers" and arguments.target is not None:
        raise UsageError(
            f"--method {method.name} learns from rows alone: leave --target out, and the column "
            f"with --drop {quoted(arguments.target)}"
        )


def _check_table(arguments: argparse.Namespace) -> None:
    source = Source.from_arguments(arguments.table, arguments)
    methods.METHODS[arguments.method].task.target(source, arguments.target)


def _share(arguments: argparse.Namespace) -> float:
    """The share of the rows to hold out."""
    if arguments.holdout is not None:
        return float(arguments.holdout)
    return HOLDOUT if chooses_vectors(arguments) and not arguments.test else 0.0


def run(arguments: argparse.Namespace) -> int:
    """Read, learn, measure, save; 130 if Ctrl-C cut the learning short."""
    from kernelet.cli.learning import calibrated, learn_again, learn_as_asked
    from kernelet.cli.training_data import read_training_data

    output, path = Output.from_arguments(arguments), arguments.output
    path = path or free_name(_stem(arguments), MODEL_ENDING)
    destination = ModelOutput.of(path, arguments.dtype)
    destination.check_files()
    data = read_training_data(arguments, output)
    if arguments.vectors is None and not has_budget(arguments) and not chooses_vectors(arguments):
        output.remark(methods.vectors_remark(arguments))
    rows, test = _divided(arguments, data, output)
    start = time.perf_counter()
    fit = learn_as_asked(arguments, rows, test, arguments.time or SECONDS, output)
    if arguments.probabilities and test is not None:
        fit.learned = calibrated(fit.learned, test)
    fit.measure(output)
    is_held_out = test is not None and not arguments.test
    if fit.choice and is_held_out and not (fit.learned.interrupted or arguments.probabilities):
        learn_again(fit, arguments, data, output)
    fit.seconds = time.perf_counter() - start
    interrupted = fit.learned.interrupted
    model, written = destination.save(fit.learned.estimator, fit.learned.encoder, data.target)
    if interrupted:
        output.warn(f"interrupted; the best machine so far is saved in {path}")
    report(arguments, model, written, fit, output)
    if arguments.output is None:
        output.remark(_where(arguments, path))
    return Interrupted.exit_code if interrupted else 0


def _stem(arguments: argparse.Namespace) -> str:
    """The name of the table, by which the model is called."""
    table = Path("model" if arguments.table == STDIN else arguments.table)
    if table.suffix.lower() in COMPRESSIONS:
        table = table.with_suffix("")
    return table.stem


def _where(arguments: argparse.Namespace, path: str) -> str:
    """Where the model is, if no -o says it."""
    usual = _stem(arguments) + MODEL_ENDING
    why = "" if path == usual else f", as {usual} was there before"
    return f"saved in {path}{why}; -o FILE says another place"


def _divided(
    arguments: argparse.Namespace, data: TrainingTable, output: Output
) -> tuple[TrainingTable, TrainingTable | None]:
    """Rows to learn from, and those to measure the error on."""
    from kernelet.cli.training_data import read_test_data

    if arguments.test:
        return data, read_test_data(arguments, data, output)
    held_out = _share(arguments)
    if not held_out:
        return data, None
    try:
        return data.split(held_out, arguments.seed)
    except DataError:
        if arguments.holdout is not None or arguments.probabilities:
            raise
        output.warn("too few rows to hold any out: the error is that of the rows learned from")
        return data, None


def report(
    arguments: argparse.Namespace, model: Model, written: Written, fit: Fit, output: Output
) -> None:
    """Print what was learned, and how well."""
    from kernelet.cli.budget_report import BudgetReport

    machine, task, figures = model.machine, fit.rows.task, fit.figures
    assert figures is not None
    kernel, n_bytes = machine.kernel.specification(), sum(written.n_bytes)
    budget: BudgetReport | None = None
    if fit.search is not None:
        budget = BudgetReport.of(arguments, fit.search, model, task.error)
    search = budget or fit.choice
    if search is not None:
        search.print(output)
    n_rows, classes = len(fit.rows.labels), model.classes if task.has_probabilities else None
    which = "training" if fit.test is None else "test"
    again = f" held out; the model is fitted on all {n_rows}" if fit.is_again else ""
    output.result(
        [
            ("model", f"{' and '.join(written.files)} ({size(n_bytes)})"),
            ("method", f"{arguments.method}, {kernel_text(kernel)}"),
            ("vectors", f"{machine.n_vectors} = kernel values per prediction"),
            *([] if machine.compact is None else [("bits", bits_line(machine.compact))]),
            *([] if search is None else search.facts()),
            *written.memory_facts(),
            ("rows", f"{n_rows}" + ("" if classes is None else f" in {classes.size} classes")),
            ("features", str(machine.n_features)),
            ("fit", f"{fit.seconds:.1f} s"),
            (which if classes is None else f"{which} error", figures.headline + again),
        ],
        {
            "model": written.files[0],
            "files": written.files,
            "bytes": n_bytes,
            "method": arguments.method,
            "kernel": kernel,
            "vectors": machine.n_vectors,
            "vector_bits": None if machine.compact is None else machine.compact.grid.bits,
            "features": machine.n_features,
            "rows": n_rows,
            "sampled_from": None if fit.rows.sampled is None else fit.rows.sampled[1],
            "classes": classes,
            "target": fit.rows.target,
            "fit_seconds": fit.seconds,
            "interrupted": fit.learned.interrupted,
            "budget": None if budget is None else budget.document(),
            "choice": None if fit.choice is None else fit.choice.document(),
            "fitted_on_all_rows": fit.is_again or fit.test is None or bool(arguments.test),
            "training_error": figures.error if fit.test is None else None,
            "test": None if fit.test is None else figures.document(),
            **written.memory_document(),
        },
    )
