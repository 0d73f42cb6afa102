"""Show the error against the number of vectors.

Cross-validates a list of budgets, and the full SVM with the same C and kernel on the same folds:
the error to match. Picks the smallest budget within one standard error of the best. The error of
numbers is 1 - R2.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from kernelet.cli.arguments import count, counts
from kernelet.cli.commands.frontier_table import (
    cells,
    conclusion,
    draw,
    entries_of,
    headings,
    write_csv,
)
from kernelet.cli.errors import CommandError, Interrupted, UsageError, one_line
from kernelet.cli.methods import (
    add_method_options,
    has_budget,
    make_estimator,
    methods_text,
    task_asked_for,
)
from kernelet.cli.model import saved_model
from kernelet.cli.output import Output
from kernelet.cli.progress import Bar, hearing_interrupts, progress_bar
from kernelet.cli.tables.sources import add_table_options, imported
from kernelet.cli.tasks import OUTLIERS, Task
from kernelet.cli.training_data import TrainingData, add_data_options, read_training_data
from kernelet.cli.writing import check_output

USAGE = "kernelet frontier TABLE --target COLUMN [--budgets N,N] [options]"
EXAMPLES = f"""{methods_text()}

examples:
  kernelet frontier iris.csv --target species --budgets 2,5,10
  kernelet frontier train.csv -t label --C 10 --csv frontier.csv --png frontier.png
  kernelet frontier train.csv -t label -o model.kernelet
  kernelet frontier houses.csv -t price --method sparse-svr --C 100"""
# Those of scikit-learn's SVMs.
_KERNELS_OF_SVM = ("rbf", "linear", "poly", "sigmoid")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_data_options(parser)
    parser.add_argument(
        "--budgets",
        type=counts,
        default=[5, 10, 20, 50],
        metavar="N,N",
        help="numbers of vectors to try (default: 5,10,20,50)",
    )
    parser.add_argument("--folds", type=count, default=5, help="default: 5")
    parser.add_argument("--no-svm", action="store_true", help="leave the full SVM out")
    parser.add_argument("--csv", metavar="FILE", help="save the table")
    parser.add_argument("--png", metavar="FILE", help="save a picture (png, svg or pdf)")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", help="fit the picked budget on all rows and save it"
    )
    add_method_options(parser)
    add_table_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Cross-validate, print, draw, save; 130 if Ctrl-C left some of it out."""
    output = Output.from_arguments(arguments)
    check_output(arguments.csv)
    check_output(arguments.png)
    check_output(arguments.output, is_model=True)
    if arguments.folds < 2:
        raise UsageError("--folds must be at least 2")
    if arguments.png:
        imported("matplotlib", "plot", "--png")
    task = task_asked_for(arguments)
    if task is OUTLIERS:
        raise UsageError(
            f"--method {arguments.method} has no labels to cross-validate with; use `kernelet fit`"
        )
    estimator = make_estimator(arguments, None)
    if not has_budget(estimator):
        raise UsageError(
            f"--method {arguments.method} chooses its number of vectors itself; take one with a "
            f"budget, such as {task.with_budget}"
        )
    data = read_training_data(arguments, output)
    encoder = data.encoder(arguments.scaling)
    start = time.perf_counter()
    with hearing_interrupts() as interrupts:
        search = _search(arguments, estimator, data, data.rows(encoder), output)
    seconds = time.perf_counter() - start
    entries = entries_of(search)
    if arguments.csv:
        write_csv(arguments.csv, entries)
    if arguments.png:
        draw(arguments.png, search)
    if arguments.output:
        saved_model(arguments.output, search.best_estimator_, encoder, data.target)
    _report(arguments, search, entries, len(data.labels), seconds, output)
    return Interrupted.exit_code if interrupts else 0


def _report(
    arguments: argparse.Namespace,
    search: Any,
    entries: list[dict[str, Any]],
    n_rows: int,
    seconds: float,
    output: Output,
) -> None:
    error = task_asked_for(arguments).error
    output.text(f"{arguments.method}, {search.n_splits_} folds of {n_rows} rows, {seconds:.1f} s")
    output.text()
    output.table(headings(error), [cells(entry) for entry in entries])
    output.text()
    output.text(conclusion(entries, error))
    for path, what in ((arguments.csv, "table"), (arguments.png, "picture")):
        if path:
            output.remark(f"{what} saved in {path}")
    if arguments.output:
        output.remark(f"machine of {search.n_vectors_} vectors saved in {arguments.output}")
    output.document(
        {
            "method": arguments.method,
            "rows": n_rows,
            "folds": search.n_splits_,
            "seconds": seconds,
            "frontier": [entry for entry in entries if entry["model"] != "svm"],
            "svm": next((entry for entry in entries if entry["model"] == "svm"), None),
            "picked_vectors": int(search.budgets_[search.best_index_]),
            "model": arguments.output,
        }
    )


def _search(
    arguments: argparse.Namespace, estimator: Any, data: TrainingData, rows: Any, output: Output
) -> Any:
    from kernelet import BudgetSearchCV

    cv = data.task.folds(data.labels, arguments.folds, arguments.seed, output)
    folds, n_rows = cv.get_n_splits(), rows.shape[0]
    most = n_rows - -(-n_rows // folds)  # what the largest fold leaves to learn from
    budgets = [budget for budget in arguments.budgets if budget <= most]
    if not budgets:
        raise UsageError(f"--budgets must have a number of at most {most}, the rows of a fold")
    if len(budgets) < len(arguments.budgets):
        output.warn(f"budgets above the {most} rows of a fold are left out")
    reference = None if arguments.no_svm else _full_svm(data.task, estimator.get_params())
    search = BudgetSearchCV(
        estimator,
        budgets,
        cv=cv,
        reference=reference,
        n_jobs=arguments.n_jobs,
        refit=bool(arguments.output),
        error_score="raise",
    )
    n_models = folds * (len(budgets) + (reference is not None))
    text = f"{len(budgets)} budgets on {folds} folds"
    with output.hearing_warnings(), progress_bar(output, text, n_models, "models") as bar:
        if arguments.n_jobs is None:  # other processes cannot move the bar
            search.set_params(scoring=_counted(bar))
        try:
            return search.fit(rows, data.labels)
        except ValueError as error:
            raise CommandError(one_line(error)) from error


def _counted(bar: Bar) -> Any:
    """The model's own score as a scorer, which moves the bar with every model that is scored."""

    def score(model: Any, X: Any, y: Any) -> float:
        bar.advance(1)
        return float(model.score(X, y))

    return score


def _full_svm(task: Task, params: dict[str, Any]) -> Any:
    """scikit-learn's SVM with the parameters of the small machine, where it has them.

    A cost that the small machine chooses is one for its own loss; the full SVM has its default.
    """
    if params.get("kernel", "rbf") not in _KERNELS_OF_SVM:
        return None
    return task.full_svm({k: v for k, v in params.items() if (k, v) != ("C", "auto")})
