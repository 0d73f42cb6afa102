"""Show the error against the number of vectors.

Cross-validates a list of budgets, and the full SVM with the same C and kernel on the same folds:
the error to match. Picks the smallest budget within one standard error of the best. The error of
numbers is 1 - R2.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli import methods
from kernelet.cli.arguments import add_data_options, bits, count, counts
from kernelet.cli.errors import Check, CommandError, Interrupted, UsageError, one_line
from kernelet.cli.exporting import ModelOutput, check_model_output
from kernelet.cli.output import Output, percent, size
from kernelet.cli.progress import hearing_interrupts
from kernelet.cli.tables.sources import Source, add_table_options, imported
from kernelet.cli.writing import check_output, replaced_file, writing_errors

if TYPE_CHECKING:
    from kernelet.cli.training_data import TrainingTable
    from kernelet.machine.columns import ColumnEncoder

USAGE = "kernelet frontier TABLE --target COLUMN [--budgets N,N] [--bytes] [options]"
EXAMPLES = f"""{methods.methods_text()}

examples:
  kernelet frontier iris.csv --target species --budgets 2,5,10
  kernelet frontier train.csv -t label --C 10 --csv frontier.csv --png frontier.png
  kernelet frontier train.csv -t label -o model.kernelet
  kernelet frontier train.csv -t label --bytes --bits 4,8,float32 --png bytes.png
  kernelet frontier houses.csv -t price --method sparse-svr --C 100"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_data_options(parser)
    text = "numbers of vectors to try (default: 5,10,20,50)"
    add("--budgets", type=counts, default=[5, 10, 20, 50], metavar="N,N", help=text)
    add("--folds", type=count, default=5, help="of cross-validation (default: 5)")
    text = "count the bytes of the tables of exported C, and pick by them"
    add("--bytes", action="store_true", help=text)
    text = "bits of the numbers of vectors to try with each budget, such as 4,8 (counts bytes too)"
    add("--bits", type=bits, metavar="N,N", help=text)
    add("--no-svm", action="store_true", help="leave the full SVM out")
    add("--csv", metavar="FILE", help="save the table")
    add("--png", metavar="FILE", help="save a picture (png, svg or pdf)")
    text = "fit the picked budget on all rows and save it: a model file, or .c, .onnx, .mjs, .json"
    add("-o", "--output", metavar="FILE", help=text)
    methods.add_method_options(parser)
    add_table_options(parser)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the table is read."""
    return [
        (("csv",), lambda: check_output(arguments.csv)),
        (("png",), lambda: check_output(arguments.png)),
        (("output",), lambda: check_model_output(arguments.output, None)),
        (("folds",), lambda: _check_folds(arguments)),
        (("method",), lambda: _check_method(arguments)),
        *methods.method_checks(arguments),
        (("table", "target", "format", "method"), lambda: _check_table(arguments)),
    ]


def _check_folds(arguments: argparse.Namespace) -> None:
    if arguments.folds < 2:
        raise UsageError("--folds must be at least 2")


def _check_method(arguments: argparse.Namespace) -> None:
    task = methods.METHODS[arguments.method].task
    if task.with_budget is None:
        raise UsageError(
            f"--method {arguments.method} has no labels to cross-validate with; use `kernelet fit`"
        )
    if "n_vectors" not in methods.parameters(arguments.method):
        raise UsageError(
            f"--method {arguments.method} chooses its number of vectors itself; take one with a "
            f"budget, such as {task.with_budget}"
        )
    if arguments.bits is not None:
        methods.require_bits(arguments.method)


def _check_table(arguments: argparse.Namespace) -> None:
    source = Source.from_arguments(arguments.table, arguments)
    methods.METHODS[arguments.method].task.target(source, arguments.target)


def run(arguments: argparse.Namespace) -> int:
    """Cross-validate, print, draw, save; 130 if Ctrl-C left some of it out."""
    from kernelet.cli.searching import entries_of
    from kernelet.cli.training_data import read_training_data

    output = Output.from_arguments(arguments)
    if arguments.png:
        imported("matplotlib", "plot", "--png")
    estimator = methods.make_estimator(arguments, None)
    if arguments.bits is not None:
        arguments.bytes = True  # which are what bits are about
    data = read_training_data(arguments, output)
    encoder = data.encoder(arguments.scaling, rounded=arguments.bits is not None)
    start = time.perf_counter()
    with hearing_interrupts() as interrupts:
        search = _search(arguments, estimator, data, encoder, output)
    seconds = time.perf_counter() - start
    data.remark_on_rows(seconds, [], output)
    entries = entries_of(search)
    if arguments.csv:
        with replaced_file(arguments.csv) as stream:
            writer = csv.DictWriter(stream, list(entries[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(entries)
    if arguments.png:
        draw(arguments.png, search, "bytes" if arguments.bytes else "vectors")
    if arguments.output:
        destination = ModelOutput.of(arguments.output, None)
        destination.save(search.best_estimator_, encoder, data.target)
    report(arguments, search, entries, (len(data.labels), seconds), output)
    return Interrupted.exit_code if interrupts else 0


def _search(
    arguments: argparse.Namespace,
    estimator: Any,
    data: TrainingTable,
    encoder: ColumnEncoder | None,
    output: Output,
) -> Any:
    from kernelet import BudgetSearchCV
    from kernelet.cli.searching import ColumnBytes, cross_validate, most_vectors

    cv = data.task.folds(data.labels, arguments.folds, arguments.seed, output)
    rows = data.rows(encoder)
    most = most_vectors(rows.shape[0], cv.get_n_splits())
    budgets = [budget for budget in arguments.budgets if budget <= most]
    if not budgets:
        raise UsageError(f"--budgets must have a number of at most {most}, the rows of a fold")
    if len(budgets) < len(arguments.budgets):
        output.warn(f"budgets above the {most} rows of a fold are left out")
    reference = None if arguments.no_svm else data.task.full_svm(estimator.get_params())
    try:
        around = (
            ColumnBytes.of(estimator, arguments.bits, data, encoder) if arguments.bytes else None
        )
        search = BudgetSearchCV(
            estimator,
            budgets,
            cv=cv,
            reference=reference,
            target="c" if arguments.bytes else None,
            vector_bits=arguments.bits,
            refit=bool(arguments.output),
            n_jobs=arguments.n_jobs,
            error_score="raise",
        )
        cross_validate(search, data, rows, output)
    except ValueError as error:
        raise CommandError(one_line(error)) from error
    if around is not None:
        around.add_to(search)
    return search


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
    by_bits = arguments.bits is not None
    columns = ["vectors", *(["bits"] if by_bits else []), error, "+-", "us/row"]
    columns += ["bytes in C" if arguments.bytes else "size", ""]
    output.table(columns, [cells(entry, by_bits, arguments.bytes) for entry in entries])
    output.text("", conclusion(entries, error, arguments.bytes))
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
            "target": "c" if arguments.bytes else None,
            "picked_vectors": search.best_params_["n_vectors"],
            "picked_vector_bits": search.best_params_.get("vector_bits"),
            "model": arguments.output,
        }
    )


def cells(entry: dict[str, Any], by_bits: bool, by_bytes: bool) -> list[str]:
    """An entry as a row of the table."""
    from kernelet.cli.searching import bits_text

    remark = "full SVM" if entry["model"] == "svm" else "<- pick" if entry["picked"] else ""
    return [
        str(entry["vectors"]),
        *([bits_text(entry["vector_bits"])] if by_bits else []),
        percent(entry["error"]),
        percent(entry["standard_error"]),
        f"{entry['microseconds_per_row']:.2f}",
        f"{entry['bytes']:.0f}" if by_bytes else size(round(entry["bytes"])),
        remark,
    ]


def conclusion(entries: list[dict[str, Any]], error: str, by_bytes: bool) -> str:
    """What the table says, in a sentence."""
    (pick,) = (entry for entry in entries if entry["picked"])
    bits = "" if pick["vector_bits"] is None else f" of {pick['vector_bits']} bits"
    stored = f" in {size(round(pick['bytes']))}" if by_bytes else ""
    text = f"{pick['vectors']} vectors{bits}{stored}: {error} {percent(pick['error'])}"
    last = entries[-1]
    if last["model"] != "svm":
        return f"{text}, within one standard error of the best."
    full = f"{percent(last['error'])} with {last['vectors']}"
    if by_bytes:
        ratio = last["bytes"] / pick["bytes"]
        return f"{text}; the full SVM: {full} in {size(round(last['bytes']))}, {ratio:.1f} times."
    return f"{text}; the full SVM: {full}, {last['vectors'] / pick['vectors']:.1f} times as many."


def draw(path: str, search: Any, x: str) -> None:
    """The entries as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from kernelet.persistence.atomic import replacing
    from kernelet.plotting import FrontierDisplay

    display = FrontierDisplay.from_estimator(search, x=x)
    ending = Path(path).suffix.lower().lstrip(".") or "png"
    try:
        with writing_errors(path), replacing(path) as stream:
            # 150 dots an inch: sharp on a screen, and small as a file
            display.figure_.savefig(stream, dpi=150, bbox_inches="tight", format=ending)
    except ValueError as error:  # the ending is not a picture format
        raise UsageError(f"--png {path}: {one_line(error)}") from error
    finally:
        pyplot.close(display.figure_)
