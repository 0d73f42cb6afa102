"""Show the error against the number of vectors.

Cross-validates a list of budgets, and the full SVM with the same C and kernel on the same folds:
the line to meet. Picks the smallest budget within one standard error of the best. The error of
numbers is 1 - R2.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from kernelet.cli.commands.frontier_table import (
    cells,
    conclusion,
    draw,
    entries_of,
    headings,
    write_csv,
)
from kernelet.cli.errors import CommandError, UsageError, one_line
from kernelet.cli.methods import (
    add_method_options,
    count_argument,
    has_budget,
    make_estimator,
    methods_text,
    task_asked_for,
)
from kernelet.cli.model import wrapped
from kernelet.cli.output import Output, add_output_options
from kernelet.cli.progress import Bar, progress_bar
from kernelet.cli.tables.sources import add_table_options, imported
from kernelet.cli.tasks import CLASSES, OUTLIERS
from kernelet.cli.training_data import add_data_options, fit_encoder, matrix, read_training_data
from kernelet.cli.writing import check_output, writing_errors

USAGE = "kernelet frontier TABLE --target COLUMN [--budgets N,N] [options]"
EXAMPLES = f"""{methods_text()}

examples:
  kernelet frontier iris.csv --target species --budgets 2,5,10
  kernelet frontier train.csv -t label --C 10 --csv frontier.csv --png frontier.png
  kernelet frontier train.csv -t label -o model.kernelet
  kernelet frontier houses.csv -t price --method sparse-svr --C 100"""
_KERNELS_OF_SVC = ("rbf", "linear", "poly", "sigmoid")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_data_options(parser)
    parser.add_argument(
        "--budgets",
        type=_budgets,
        default=[5, 10, 20, 50],
        metavar="N,N",
        help="numbers of vectors to try (default: 5,10,20,50)",
    )
    parser.add_argument("--folds", type=count_argument, default=5, help="default: 5")
    parser.add_argument("--no-svm", action="store_true", help="leave the full SVM out")
    parser.add_argument("--csv", metavar="FILE", help="save the table")
    parser.add_argument("--png", metavar="FILE", help="save a picture (png, svg or pdf)")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", help="fit the picked budget on all rows and save it"
    )
    add_method_options(parser)
    add_table_options(parser)
    add_output_options(parser)


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
            f"budget, such as {'sparse-svc' if task is CLASSES else 'sparse-kernel-ridge'}"
        )
    data = read_training_data(arguments, output)
    encoder = fit_encoder(data, arguments.scaling)
    rows = matrix(data.table, encoder)
    start = time.perf_counter()
    search = _search(arguments, estimator, rows, data.labels, output)
    seconds = time.perf_counter() - start
    entries = entries_of(search)
    if arguments.csv:
        write_csv(arguments.csv, entries)
    if arguments.png:
        draw(arguments.png, search)
    if arguments.output:
        with writing_errors(arguments.output):
            wrapped(search.best_estimator_, encoder, data.target).save(arguments.output)
    rows_text = f"{search.n_splits_} folds of {len(data.labels)} rows"
    output.text(f"{arguments.method}, {rows_text}, {seconds:.1f} s")
    output.text()
    error = "error" if task is CLASSES else "1 - R2"
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
            "rows": len(data.labels),
            "folds": search.n_splits_,
            "seconds": seconds,
            "frontier": [entry for entry in entries if entry["model"] != "svm"],
            "svm": next((entry for entry in entries if entry["model"] == "svm"), None),
            "picked_vectors": int(search.budgets_[search.best_index_]),
            "model": arguments.output,
        }
    )
    return 130 if any("interrupted" in text for text in output.warned) else 0


def _search(
    arguments: argparse.Namespace, estimator: Any, rows: Any, labels: Any, output: Output
) -> Any:
    import numpy as np
    from sklearn.model_selection import KFold, StratifiedKFold

    from kernelet import BudgetSearchCV

    is_classes = task_asked_for(arguments) is CLASSES
    folds = min(arguments.folds, max(2, len(labels)))
    if is_classes:
        _, counts = np.unique(labels, return_counts=True)
        if counts.min() < 2:
            output.warn("a class has a single row; it is missing in most folds")
        folds = min(arguments.folds, max(2, int(counts.max())))
    most = rows.shape[0] - -(-rows.shape[0] // folds)
    budgets = [budget for budget in arguments.budgets if budget <= most]
    if not budgets:
        raise UsageError(f"--budgets must have a number of at most {most}, the rows of a fold")
    if len(budgets) < len(arguments.budgets):
        output.warn(f"budgets above the {most} rows of a fold are left out")
    reference = _full_svm(arguments, estimator)
    # the rows of a table may be sorted by anything
    splitter = StratifiedKFold if is_classes else KFold
    cv = splitter(folds, shuffle=True, random_state=arguments.seed)
    search = BudgetSearchCV(
        estimator,
        budgets,
        cv=cv,
        reference=reference,
        n_jobs=arguments.jobs,
        refit=bool(arguments.output),
        error_score="raise",
    )
    n_models = folds * (len(budgets) + (reference is not None))
    text = f"{len(budgets)} budgets on {folds} folds"
    with output.hearing_warnings(), progress_bar(output, text, n_models, "models") as bar:
        if arguments.jobs is None:  # other processes cannot move the bar
            search.set_params(scoring=_counted(bar))
        try:
            search.fit(rows, labels)
        except ValueError as error:
            raise CommandError(one_line(error)) from error
    return search


def _counted(bar: Bar) -> Any:
    """The model's own score as a scorer, which moves the bar with every model that is scored."""

    def score(model: Any, X: Any, y: Any) -> float:
        bar.advance(1)
        return float(model.score(X, y))

    return score


def _full_svm(arguments: argparse.Namespace, estimator: Any) -> Any:
    """scikit-learn's SVC or SVR with the parameters of the small machine, where it has them.

    A cost that the small machine chooses is one for its own loss; the full SVM has its default.
    """
    from sklearn.svm import SVC, SVR

    params = estimator.get_params()
    if arguments.no_svm or params.get("kernel", "rbf") not in _KERNELS_OF_SVC:
        return None
    names = ["C", "kernel", "gamma", "degree", "coef0", "class_weight"]
    if params.get("C") == "auto":
        del params["C"]
    if task_asked_for(arguments) is CLASSES:
        return SVC(**{name: params[name] for name in names if name in params})
    if params.get("loss") != "epsilon_insensitive":  # C is the price of something else
        return None
    return SVR(**{name: params[name] for name in [*names[:-1], "epsilon"] if name in params})


def _budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"must be whole numbers between commas, got {text!r}")
    return sorted({int(part) for part in parts})
