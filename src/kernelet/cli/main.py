"""Reads the command line and hands over to a command.

A command is a module with a docstring (its first line is the short help), `configure(parser)` and
`run(arguments)`, listed in `COMMANDS`; `USAGE` and `EXAMPLES`, if it has them, begin and end its
help. It imports what it computes with inside `run`, so that `kernelet --help` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn, TextIO

import kernelet
from kernelet.cli.errors import CommandError, OutputError, nearest, one_line
from kernelet.cli.output import say
from kernelet.cli.writing import end_stdout, printing

COMMANDS = ("demo", "fit", "predict", "evaluate", "compress", "frontier", "info", "export")
EPILOG = """in a minute:
  kernelet demo
  kernelet fit train.csv --target class --vectors 20 --holdout 0.2 -o model.kernelet
  kernelet predict model.kernelet new.csv -o predicted.csv

See `kernelet COMMAND --help` for more about a command.

exit codes:
  0 done   1 failed   2 wrong command line   3 bad table   4 bad model
  5 output cannot be written   130 interrupted (a fit saves the best machine so far)"""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the command a person meant."""

    def error(self, message: str) -> NoReturn:
        from kernelet.machine.texts import visible  # a pattern of the shell may name any file

        super().error(visible(message))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = [str(choice) for choice in action.choices or ()]
            near = nearest(str(value), choices)
            hint = f"do you mean {near!r}?" if near else f"known are {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"{value!r} is not known; {hint}") from error

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:  # some versions of argparse hide that nothing could be written
            file.write(message)
        else:
            with contextlib.suppress(OSError):  # nobody reads stderr: the exit code says it
                sys.stderr.write(message)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="kernelet",
        description="Small kernel machines: the cost of a prediction is fixed in advance.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kernelet {kernelet.__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )
    for name in COMMANDS:
        command: ModuleType = importlib.import_module(f"kernelet.cli.commands.{name}")
        description = str(command.__doc__).strip()
        subparser = subparsers.add_parser(
            name,
            help=description.splitlines()[0],
            description=description,
            usage=getattr(command, "USAGE", None),
            epilog=getattr(command, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.configure(subparser)
        subparser.add_argument(
            "--debug", action="store_true", help="show the traceback of an error"
        )
        subparser.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code of the process.

    0: done. 1: the command could not do its work. 2: the command line is wrong. 3: a table cannot
    be read or used. 4: a model file cannot. 5: an output cannot be written. 130: interrupted from
    the keyboard. Whenever it is not 0, one line on stderr says why.
    """
    if sys.stderr is None:  # closed by the shell: what is meant for it must not reach stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the exit)
    parser = build_parser()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words:  # somebody who does not know yet what there is
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    arguments = argparse.Namespace(command=None, debug=False)
    try:
        code = _run(parser, words, arguments)
    except BrokenPipeError:
        code = 1  # the reader (head, less) has what it wanted
    try:
        end_stdout()
    except BrokenPipeError:
        code = 1
    except OutputError as error:
        if code == 0:  # what went wrong before has been said
            return _failed(arguments, error, str(error), error.exit_code)
    return code


def _run(parser: argparse.ArgumentParser, words: list[str], arguments: argparse.Namespace) -> int:
    try:
        with printing():  # --help and --version do
            parser.parse_args(words, arguments)
        with _warnings_in_one_line(arguments):
            code: int | None = arguments.run(arguments)
    except SystemExit as stopped:  # after --help and --version, or a wrong command line
        if stopped.code:
            raise
        return 0
    except CommandError as error:
        return _failed(arguments, error, str(error), error.exit_code)
    except KeyboardInterrupt as error:
        return _failed(arguments, error, "interrupted", 130)
    except BrokenPipeError:
        raise
    except MemoryError as error:
        return _failed(arguments, error, "not enough memory; take fewer rows or columns", 1)
    except OSError as error:
        return _failed(arguments, error, one_line(error), 1)
    except Exception as error:
        # the last line of defence: a person gets a sentence, and with --debug the traceback
        what = f"{type(error).__name__}: {one_line(error)}"
        return _failed(arguments, error, f"{what} (--debug shows where)", 1)
    return code or 0


@contextmanager
def _warnings_in_one_line(arguments: argparse.Namespace) -> Iterator[None]:
    """Warnings that no command has a better word for."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not getattr(arguments, "quiet", False):
            text = " ".join(str(message).split())
            say(f"kernelet {arguments.command}: warning: {text}", sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _failed(arguments: argparse.Namespace, error: BaseException, reason: str, code: int) -> int:
    if arguments.debug:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            say(line, sys.stderr)
    command = "kernelet" if arguments.command is None else f"kernelet {arguments.command}"
    say(f"{command}: {reason}", sys.stderr)  # where stderr is full as well, the code says it
    return code
