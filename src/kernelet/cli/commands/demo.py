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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli.arguments import seed
from kernelet.cli.errors import UsageError
from kernelet.cli.output import Output, kernel_text
from kernelet.cli.progress import progress_bar
from kernelet.cli.writing import check_output, replaced_file

if TYPE_CHECKING:
    from kernelet.report.comparison import Compared
    from kernelet.report.headline import Headline
    from kernelet.report.methods import DemoTask

USAGE = "kernelet demo [--vectors M ...] [-o FILE | --no-html] [--json]"
# Sizes that the page's frontier has besides those asked for: one, two, five and ten a class.
FRONTIER = (10, 20, 50, 100)
HEADINGS = ("model", "test error", "vectors", "k/row", "us/row", "bytes", "fit (s)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    text = "sizes of the small machines (default: 20 50)"
    add("--vectors", type=int, nargs="+", default=[20, 50], metavar="M", help=text)
    add("--seed", type=seed, default=0, help="seed of all random choices (default: 0)")
    page = parser.add_mutually_exclusive_group()
    page.add_argument(
        "-o", "--output", default="demo.html", metavar="FILE", help="the page (default: demo.html)"
    )
    page.add_argument(
        "--no-html", dest="output", action="store_const", const=None, help="make no page"
    )


def run(arguments: argparse.Namespace) -> None:
    """Train, measure, print, write the page."""
    from kernelet.report.comparison import digits_task
    from kernelet.report.headline import headline
    from kernelet.report.page import Demo, demo_page

    output = Output.from_arguments(arguments)
    check_output(arguments.output)
    task = digits_task(arguments.seed)
    n, n_pixels = task.X_train.shape
    data = {"train_rows": n, "test_rows": len(task.X_test), "columns": n_pixels}
    facts = {**data, "kernel": kernel_text(task.kernel.specification()), "C": task.C}
    if not all(1 <= m <= n for m in arguments.vectors):
        raise UsageError(f"--vectors must lie between 1 and the {n} training rows")
    asked = list(dict.fromkeys(arguments.vectors))
    sizes = sorted({*asked, *FRONTIER}) if arguments.output else asked
    compared, board, seconds = learn_all(task, sizes, arguments, output)
    if arguments.output:
        folder = Path(arguments.output).absolute().parent
        page = demo_page(Demo(compared, asked, _examples(task), board, facts, folder))
        with replaced_file(arguments.output) as stream:
            stream.write(page)
    models = [entry.figures for entry in compared]
    shown = [model for model in models if model.budget is None or model.budget in asked]
    about = headline(shown, data["test_rows"])
    size = f"{n} rows to train, {data['test_rows']} to test, {n_pixels} pixels, 10 classes"
    output.text(f"digits: {size}", f"kernel: {facts['kernel']}, C = {facts['C']:g}", "")
    output.table(HEADINGS, [model.cells for model in shown])
    output.text(
        *("", *textwrap.wrap(conclusion(about), 80)),
        f"The training loops took {seconds:.1f} s to compile, or to load if they were; no fit time",
        "includes it. Times are those of one thread.",
    )
    if arguments.output:
        output.text(f"The frontier, the vectors and a checkerboard: {arguments.output}")
    output.document(
        {
            "data": {"name": "digits", **data},
            "kernel": task.kernel.specification(),
            "C": task.C,
            "compile_seconds": seconds,
            "models": [asdict(model) for model in models],
            "page": arguments.output,
        }
    )


def learn_all(
    task: DemoTask, sizes: list[int], arguments: argparse.Namespace, output: Output
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

        def begun(name: str) -> None:  # the step before is done then
            bar.say(name)
            bar.advance(1)

        seconds = compile_seconds(task)
        compared = compare(task, sizes, begun)
        board = board_document(board_task(arguments.seed), begun=begun) if arguments.output else {}
        return compared, board, seconds


def _examples(task: DemoTask) -> list[list[int]]:
    """Test rows to begin with, the first of some digits, as whole numbers from 0 to 16."""
    first = [task.y_test.tolist().index(label) for label in (3, 8, 0, 5, 2)]
    examples: list[list[int]] = (16 * task.X_test[first]).round().astype(int).tolist()
    return examples


def conclusion(about: Headline) -> str:
    """What the table says, in one sentence about one machine."""
    small, svm = about.small, about.svm
    return (
        f"{small.method} with {small.vectors} vectors in place of {svm.vectors}: {about.fewer} "
        f"times fewer kernel values a row, {about.faster} times faster, {about.smaller} times "
        f"smaller. {about.verdict}."
    )
