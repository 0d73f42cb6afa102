"""Show the error against the number of vectors.

Cross-validates a list of budgets, and the full SVM with the same C and kernel on the same folds:
the error to match. Picks the smallest budget within one standard error of the best. The error of
numbers is 1 - R2.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli import methods
from kernelet.cli.arguments import add_data_options, count, counts
from kernelet.cli.errors import CommandError, Interrupted, UsageError, one_line
from kernelet.cli.output import Output, percent, size
from kernelet.cli.progress import Bar, hearing_interrupts, progress_bar
from kernelet.cli.tables.sources import add_table_options, imported
from kernelet.cli.writing import check_output, replaced_file, writing_errors

if TYPE_CHECKING:
    from kernelet.cli.training_data import TrainingTable

USAGE = "kernelet frontier TABLE --target COLUMN [--budgets N,N] [options]"
EXAMPLES = f"""{methods.methods_text()}

examples:
  kernelet frontier iris.csv --target species --budgets 2,5,10
  kernelet frontier train.csv -t label --C 10 --csv frontier.csv --png frontier.png
  kernelet frontier train.csv -t label -o model.kernelet
  kernelet frontier houses.csv -t price --method sparse-svr --C 100"""
# Results of a search, and what they are called here; the error is 1 minus the score.
_RESULTS = ("mean_test_score", "standard_error_test_score", "mean_microseconds", "mean_bytes")
_FIGURES = ("error", "standard_error", "microseconds_per_row", "bytes")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_data_options(parser)
    text = "numbers of vectors to try (default: 5,10,20,50)"
    add("--budgets", type=counts, default=[5, 10, 20, 50], metavar="N,N", help=text)
    add("--folds", type=count, default=5, help="of cross-validation (default: 5)")
    add("--no-svm", action="store_true", help="leave the full SVM out")
    add("--csv", metavar="FILE", help="save the table")
    add("--png", metavar="FILE", help="save a picture (png, svg or pdf)")
    add("-o", "--output", metavar="MODEL", help="fit the picked budget on all rows and save it")
    methods.add_method_options(parser)
    add_table_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Cross-validate, print, draw, save; 130 if Ctrl-C left some of it out."""
    from kernelet.cli.model import saved_model
    from kernelet.cli.training_data import read_training_data

    output = Output.from_arguments(arguments)
    check_output(arguments.csv)
    check_output(arguments.png)
    check_output(arguments.output, is_model=True)
    if arguments.folds < 2:
        raise UsageError("--folds must be at least 2")
    if arguments.png:
        imported("matplotlib", "plot", "--png")
    task = methods.METHODS[arguments.method].task
    if task.with_budget is None:
        raise UsageError(
            f"--method {arguments.method} has no labels to cross-validate with; use `kernelet fit`"
        )
    estimator = methods.make_estimator(arguments, None)
    if not methods.has_budget(estimator):
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
        with replaced_file(arguments.csv) as stream:
            writer = csv.DictWriter(stream, list(entries[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(entries)
    if arguments.png:
        draw(arguments.png, search)
    if arguments.output:
        saved_model(arguments.output, search.best_estimator_, encoder, data.target)
    report(arguments, search, entries, (len(data.labels), seconds), output)
    return Interrupted.exit_code if interrupts else 0


def _search(
    arguments: argparse.Namespace, estimator: Any, data: TrainingTable, rows: Any, output: Output
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
    reference = None if arguments.no_svm else data.task.full_svm(estimator.get_params())
    options = {"cv": cv, "reference": reference, "n_jobs": arguments.n_jobs}
    search = BudgetSearchCV(
        estimator, budgets, refit=bool(arguments.output), error_score="raise", **options
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


def report(
    arguments: argparse.Namespace,
    search: Any,
    entries: list[dict[str, Any]],
    work: tuple[int, float],
    output: Output,
) -> None:
    """Print the frontier; ``work`` is the number of rows, and the seconds that they took."""
    error, (n_rows, seconds) = methods.METHODS[arguments.method].task.error, work
    folds = f"{search.n_splits_} folds of {n_rows} rows"
    output.text(f"{arguments.method}, {folds}, {seconds:.1f} s", "")
    output.table(["vectors", error, "+-", "us/row", "size", ""], [*map(cells, entries)])
    output.text("", conclusion(entries, error))
    machine = f"machine of {search.n_vectors_} vectors" if arguments.output else ""
    written = {"table": arguments.csv, "picture": arguments.png, machine: arguments.output}
    for what, path in written.items():
        if path:
            output.remark(f"{what} saved in {path}")
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


def entries_of(search: Any) -> list[dict[str, Any]]:
    """A dict for each budget, and one for the full SVM where there is one."""
    results = search.cv_results_
    entries = [
        _entry("small", budget, {key: results[key][place] for key in _RESULTS})
        for place, budget in enumerate(search.budgets_)
    ]
    entries[search.best_index_]["picked"] = True
    svm = search.reference_results_
    return entries if svm is None else [*entries, _entry("svm", svm["mean_n_vectors"], svm)]


def _entry(model: str, n_vectors: float, results: Mapping[str, float]) -> dict[str, Any]:
    score, *others = (float(results[key]) for key in _RESULTS)
    figures = dict(zip(_FIGURES, (1.0 - score, *others), strict=True))
    return {"model": model, "vectors": round(n_vectors), **figures, "picked": False}


def cells(entry: dict[str, Any]) -> list[str]:
    """An entry as a row of the table."""
    remark = "full SVM" if entry["model"] == "svm" else "<- pick" if entry["picked"] else ""
    return [
        str(entry["vectors"]),
        percent(entry["error"]),
        percent(entry["standard_error"]),
        f"{entry['microseconds_per_row']:.2f}",
        size(round(entry["bytes"])),
        remark,
    ]


def conclusion(entries: list[dict[str, Any]], error: str) -> str:
    """What the table says, in a sentence."""
    (pick,) = (entry for entry in entries if entry["picked"])
    text = f"{pick['vectors']} vectors: {error} {percent(pick['error'])}"
    last = entries[-1]
    if last["model"] != "svm":
        return f"{text}, within one standard error of the best."
    full = f"{percent(last['error'])} with {last['vectors']}"
    return f"{text}; the full SVM: {full}, {last['vectors'] / pick['vectors']:.1f} times as many."


def draw(path: str, search: Any) -> None:
    """The entries as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from kernelet.persistence.atomic import replacing
    from kernelet.plotting import FrontierDisplay

    display = FrontierDisplay.from_estimator(search)
    ending = Path(path).suffix.lower().lstrip(".") or "png"
    try:
        with writing_errors(path), replacing(path) as stream:
            # 150 dots an inch: sharp on a screen, and small as a file
            display.figure_.savefig(stream, dpi=150, bbox_inches="tight", format=ending)
    except ValueError as error:  # the ending is not a picture format
        raise UsageError(f"--png {path}: {one_line(error)}") from error
    finally:
        pyplot.close(display.figure_)
