"""Compare an SVM with small machines on scikit-learn's digits.

The SVM keeps hundreds of support vectors and evaluates the kernel with each of them for every row
that it predicts. A small machine has as many vectors as were asked for, shared by all classes. Each
method of the package is shown with its test error and its cost; demo.html shows the same as an
interactive page with the vectors as images and a checkerboard. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from kernelet.cli.arguments import seed
from kernelet.cli.errors import UsageError
from kernelet.cli.output import Output, kernel_text, percent
from kernelet.cli.progress import Bar, progress_bar
from kernelet.cli.writing import check_output, replaced_file

if TYPE_CHECKING:
    from kernelet.report.comparison import Compared, Measured
    from kernelet.report.methods import Task

USAGE = "kernelet demo [--vectors M ...] [-o FILE | --no-html] [--json]"
# Sizes that the page's frontier has besides those asked for.
FRONTIER = (10, 20, 50, 100)
HEADINGS = ("model", "test error", "vectors", "k/row", "us/row", "bytes", "fit (s)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--vectors",
        type=int,
        nargs="+",
        default=[20, 50],
        metavar="M",
        help="sizes of the small machines (default: 20 50)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="of everything random (default: 0)")
    page = parser.add_mutually_exclusive_group()
    page.add_argument(
        "-o", "--output", default="demo.html", metavar="FILE", help="the page (default: demo.html)"
    )
    page.add_argument(
        "--no-html", dest="output", action="store_const", const=None, help="make no page"
    )


def run(arguments: argparse.Namespace) -> None:
    """Train, measure, print, write the page."""
    output = Output.from_arguments(arguments)
    check_output(arguments.output)
    from kernelet.report.comparison import digits_task

    task = digits_task(arguments.seed)
    facts = task_facts(task)
    n = facts["train_rows"]
    if not all(1 <= m <= n for m in arguments.vectors):
        raise UsageError(f"--vectors must lie between 1 and the {n} training rows")
    asked = list(dict.fromkeys(arguments.vectors))
    sizes = sorted({*asked, *FRONTIER}) if arguments.output else asked
    compared, board, seconds = learn_all(task, sizes, arguments, output)
    if arguments.output:
        write_page(arguments.output, task, compared, asked, board)
    models = [entry.figures for entry in compared]
    shown = [model for model in models if model.budget is None or model.budget in asked]
    output.text(
        f"digits: {n} rows to train, {facts['test_rows']} to test, {facts['columns']} pixels, "
        "10 classes"
    )
    output.text(f"kernel: {facts['kernel']}, C = {facts['C']:g}")
    output.text()
    output.table(HEADINGS, [cells(model) for model in shown])
    output.text()
    for line in textwrap.wrap(conclusion(*shown), 80):
        output.text(line)
    output.text(
        f"The training loops took {seconds:.1f} s to compile, or to load if they were; no fit time"
    )
    output.text("includes it. Times are those of one thread.")
    if arguments.output:
        output.text(f"The frontier, the vectors and a checkerboard: {arguments.output}")
    output.document(
        {
            "data": {"name": "digits"} | {name: facts[name] for name in DATA_FACTS},
            "kernel": task.kernel.specification(),
            "C": task.C,
            "compile_seconds": seconds,
            "models": [asdict(model) for model in models],
            "page": arguments.output,
        }
    )


DATA_FACTS = ("train_rows", "test_rows", "columns")


def task_facts(task: Task) -> dict[str, Any]:
    """What is said of the data."""
    return {
        "train_rows": task.X_train.shape[0],
        "test_rows": task.X_test.shape[0],
        "columns": task.X_train.shape[1],
        "kernel": kernel_text(task.kernel.specification()),
        "C": task.C,
    }


def learn_all(
    task: Task, sizes: list[int], arguments: argparse.Namespace, output: Output
) -> tuple[list[Compared], dict[str, Any], float]:
    """The models on the digits, for the page those on the checkerboard, and seconds to compile."""
    from threadpoolctl import threadpool_limits

    from kernelet.report.board import board_document, board_task
    from kernelet.report.comparison import compare, compile_seconds
    from kernelet.report.methods import jobs, methods

    total = 1 + len(jobs(sizes)) + (len(methods()) if arguments.output else 0)
    with (
        output.hearing_warnings(),
        threadpool_limits(1),  # the problems are small: threads would wait for each other
        progress_bar(output, "compiling the training loops", total, "steps") as bar,
    ):
        begun = partial(_begin, bar)
        seconds = compile_seconds(task)
        compared = compare(task, sizes, begun)
        board = board_document(board_task(arguments.seed), begun=begun) if arguments.output else {}
        return compared, board, seconds


def _begin(bar: Bar, name: str) -> None:
    """What is done next; so the step before is done."""
    bar.say(name)
    bar.advance(1)


def write_page(
    path: str, task: Task, compared: list[Compared], sizes: list[int], board: dict[str, Any]
) -> None:
    """The page, as a whole or not at all."""
    import numpy as np

    from kernelet.report.page import Demo, demo_page

    first_of_each = [int(np.flatnonzero(task.y_test == label)[0]) for label in (3, 8, 0, 5, 2)]
    examples = np.round(16 * task.X_test[first_of_each]).astype(int).tolist()
    page = demo_page(Demo(compared, sizes, examples, board, task_facts(task)))
    with replaced_file(path) as stream:
        stream.write(page)


def cells(model: Measured) -> list[str]:
    """A row of the table, in the order of `HEADINGS`."""
    return [
        model.model,
        percent(model.test_error),
        str(model.vectors),
        str(model.kernel_values_per_row),
        f"{model.microseconds_per_row:.2f}",
        str(model.model_bytes),
        f"{model.fit_seconds:.2f}",
    ]


def conclusion(svc: Measured, *small: Measured) -> str:
    """What the table says, in one sentence about the most accurate machine of a size asked for."""
    asked = [model for model in small if model.budget is not None] or list(small)
    best = min(asked, key=lambda model: (model.test_error, model.vectors))
    points = 100 * (best.test_error - svc.test_error)
    return (
        f"{best.method} with {best.vectors} vectors in place of {svc.vectors}: "
        f"{svc.kernel_values_per_row / best.kernel_values_per_row:.0f} times fewer kernel values a "
        f"row, {svc.microseconds_per_row / best.microseconds_per_row:.0f} times faster, "
        f"{svc.model_bytes / best.model_bytes:.0f} times smaller, {points:+.1f} points of error."
    )
