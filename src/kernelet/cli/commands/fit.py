"""Learn a small machine from a table.

Text columns become indicators and numbers are scaled; both are kept in the model, so that
`kernelet predict` takes the raw table.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli import methods
from kernelet.cli.arguments import add_data_options, add_model_output, count, share
from kernelet.cli.budget import add_budget_options, check_budget, has_budget, learn_within
from kernelet.cli.errors import CommandError, Interrupted, UsageError, one_line
from kernelet.cli.output import Output, bits_line, kernel_text, size
from kernelet.cli.progress import hearing_interrupts, progress_bar, watched
from kernelet.cli.tables.sources import add_table_options
from kernelet.cli.writing import check_output

if TYPE_CHECKING:
    from kernelet.cli.budget_report import BudgetReport
    from kernelet.cli.model import Model
    from kernelet.cli.training_data import TrainingTable
    from kernelet.machine.columns import ColumnEncoder

USAGE = "kernelet fit TABLE --target COLUMN [--vectors N | --max-bytes N] -o MODEL [options]"
EXAMPLES = f"""{methods.methods_text()}

examples:
  kernelet fit iris.csv --target species --vectors 5 -o iris.kernelet
  kernelet fit train.csv -t label --C 10 --test test.csv -o model.kernelet
  kernelet fit train.csv -t label --max-bytes 4k --bits 4,5 --holdout 0.2 -o small.kernelet
  kernelet fit houses.csv -t price --method sparse-kernel-ridge --holdout 0.2 -o price.kernelet
  kernelet fit normal.csv --method sparse-one-class --param nu=0.05 -o guard.kernelet
  kernelet fit a9a.libsvm --vectors 50 --method reduced-svc --holdout 0.2 -o a9a.kernelet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_data_options(parser)
    text = (
        "the budget: kernel values that a prediction may cost "
        f"(default: {methods.DEFAULT_VECTORS}, or what comes out of methods that choose it); with "
        "--max-bytes or --max-microseconds the most that are tried"
    )
    parser.add_argument("-m", "--vectors", type=count, metavar="N", help=text)
    add_model_output(parser)
    add = parser.add_argument_group("measuring the error").add_argument
    add("--test", metavar="TABLE", help="rows to measure the error on")
    add("--holdout", type=share, metavar="SHARE", help="hold out this share of the rows for it")
    text = "calibrate on these rows, so that `predict --probabilities` works"
    add("--probabilities", action="store_true", help=text)
    add_budget_options(parser)
    methods.add_method_options(parser)
    add_table_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, learn, save, measure; 130 if Ctrl-C cut the learning short."""
    from kernelet.cli.model import saved_model
    from kernelet.cli.training_data import read_test_data, read_training_data

    output = Output.from_arguments(arguments)
    check_output(arguments.output, is_model=True)
    if arguments.test and arguments.holdout:
        raise UsageError("say --test or --holdout, not both")
    if arguments.probabilities and not (arguments.test or arguments.holdout):
        raise UsageError("--probabilities needs rows of their own: say --holdout 0.2 or --test")
    if arguments.probabilities and not methods.METHODS[arguments.method].task.has_probabilities:
        raise UsageError(f"--probabilities are those of classes, not of {arguments.method}")
    check_budget(arguments)
    data = read_training_data(arguments, output)
    test = None
    if arguments.holdout:
        data, test = data.split(arguments.holdout, arguments.seed)
    elif arguments.test:
        test = read_test_data(arguments, data)
    encoder = data.encoder(arguments.scaling)
    start = time.perf_counter()
    if has_budget(arguments):
        search, interrupted = learn_within(arguments, data, encoder, output)
        estimator = search.best_estimator_
    else:
        search = None
        estimator, interrupted = learn(arguments, data, encoder, output)
    facts: dict[str, Any] = {"fit_seconds": time.perf_counter() - start, "interrupted": interrupted}
    if arguments.probabilities and test is not None:
        estimator = _calibrated(estimator, test, encoder)
    model = saved_model(arguments.output, estimator, encoder, data.target)
    if interrupted:
        output.warn(f"interrupted; the best machine so far is saved in {arguments.output}")
    if search is not None:
        from kernelet.cli.budget_report import BudgetReport

        facts["budget"] = BudgetReport.of(arguments, search, model, data.task.error)
    report(arguments, model, data, test, facts, output)
    return Interrupted.exit_code if interrupted else 0


def learn(
    arguments: argparse.Namespace,
    data: TrainingTable,
    encoder: ColumnEncoder | None,
    output: Output,
) -> tuple[Any, bool]:
    """The fitted estimator, and whether Ctrl-C ended its fit."""
    from sklearn.exceptions import ConvergenceWarning

    budget = arguments.vectors
    wanted = budget or methods.DEFAULT_VECTORS
    estimator = methods.make_estimator(arguments, wanted)
    if arguments.bits is not None:  # a single number
        estimator.set_params(vector_bits=arguments.bits[0])
    rows = data.rows(encoder)
    n_rows = rows.shape[0]
    if methods.has_budget(estimator) and wanted > n_rows:
        if budget is not None:
            raise UsageError(f"--vectors {budget} is more than the {n_rows} rows; take fewer")
        estimator.set_params(n_vectors=n_rows)
    most = estimator.get_params().get("max_iter", 0)
    counts = hasattr(estimator, "set_callbacks") and most > 0
    text = f"learning from {n_rows} rows"
    with (
        output.hearing_warnings() as caught,
        progress_bar(output, text, *((most, "steps") if counts else (None, ""))) as bar,
        hearing_interrupts() as interrupts,
    ):
        watched(estimator, bar, text)
        try:
            estimator.fit(rows, data.labels)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a machine; nothing is saved") from None
        except ValueError as error:
            raise CommandError(one_line(error)) from error
        finally:
            if hasattr(estimator, "set_callbacks"):
                estimator.set_callbacks()
        if interrupts:  # which is why the fit has not converged
            caught[:] = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    return _within_budget(estimator, budget, rows, data.labels), bool(interrupts)


def _within_budget(estimator: Any, budget: int | None, rows: Any, labels: Any) -> Any:
    """The estimator, compressed if it has more vectors than the budget and no parameter for it."""
    import numpy as np

    from kernelet.learners import compress
    from kernelet.learners.base.model_file import remember_training

    if hasattr(estimator, "support_vectors_"):  # an SVC, which model files cannot hold
        n_vectors = len(estimator.support_)
        small = compress(estimator, min(budget or n_vectors, n_vectors))
        remember_training(small, len(labels), np.unique(labels, return_counts=True)[1])
        return small
    if budget is not None and not methods.has_budget(estimator) and estimator.n_vectors_ > budget:
        refit = "margin" if hasattr(estimator, "classes_") else "none"
        return compress(estimator, budget, rows, labels, refit=refit)
    return estimator


def _calibrated(estimator: Any, test: TrainingTable, encoder: ColumnEncoder | None) -> Any:
    from kernelet.cli.labels import training_labels
    from kernelet.cli.model import Model
    from kernelet.learners import calibrate

    rows = Model.of(estimator, encoder, test.target).rows(test.table)
    try:
        return calibrate(estimator, rows, training_labels(test.labelled, test.target))
    except (TypeError, ValueError) as error:
        raise CommandError(f"--probabilities: {one_line(error)}") from error


def report(
    arguments: argparse.Namespace,
    model: Model,
    data: TrainingTable,
    test: TrainingTable | None,
    facts: dict[str, Any],
    output: Output,
) -> None:
    """Print what was learned, and how well."""
    machine, task = model.machine, data.task
    with output.hearing_warnings():
        measured = data if test is None else test
        figures = task.measured(model, measured.labelled, data.target)
    figures.warn(data.target, output)
    n_bytes, kernel = Path(arguments.output).stat().st_size, machine.kernel.specification()
    which = "training" if test is None else "test"
    budget: BudgetReport | None = facts.pop("budget", None)
    if budget is not None:
        budget.print(output)
    n_rows, classes = len(data.labels), model.classes if task.has_probabilities else None
    output.result(
        [
            ("model", f"{arguments.output} ({size(n_bytes)})"),
            ("method", f"{arguments.method}, {kernel_text(kernel)}"),
            ("vectors", f"{machine.n_vectors} = kernel values per prediction"),
            *([] if machine.compact is None else [("bits", bits_line(machine.compact))]),
            *([] if budget is None else budget.facts()),
            ("rows", f"{n_rows}" + ("" if classes is None else f" in {classes.size} classes")),
            ("features", str(machine.n_features)),
            ("fit", f"{facts['fit_seconds']:.1f} s"),
            (which if classes is None else f"{which} error", figures.headline),
        ],
        {
            "model": arguments.output,
            "bytes": n_bytes,
            "method": arguments.method,
            "kernel": kernel,
            "vectors": machine.n_vectors,
            "vector_bits": None if machine.compact is None else machine.compact.grid.bits,
            "features": machine.n_features,
            "rows": n_rows,
            "classes": classes,
            "target": data.target,
            **facts,
            "budget": None if budget is None else budget.document(),
            "training_error": figures.error if test is None else None,
            "test": None if test is None else figures.document(),
        },
    )
