"""Reads the command line and hands over to a command.

A command is a module with a docstring (its first line is the short help), `configure(parser)` and
`run(arguments)`, listed in `COMMANDS`; `USAGE` and `EXAMPLES`, if it has them, begin and end its
help. `checks(arguments)`, if it has that, lists what can be wrong before any work is done: all
mistakes of a command line are reported together. It imports what it computes with inside `run`, so
that `kernelet --help` answers at once. What goes wrong is an exception; `main` makes one line and
an exit code of it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import kernelet
from kernelet.cli.arguments import add_output_options
from kernelet.cli.errors import (
    Check,
    CommandError,
    Interrupted,
    Mistakes,
    OutputError,
    found_by,
    nearest,
    one_line,
)
from kernelet.cli.output import say
from kernelet.cli.progress import starting
from kernelet.cli.writing import end_stdout, overwriting_checks, printing

COMMANDS = ("demo", "fit", "predict", "evaluate", "compress", "frontier", "info", "export")
EPILOG = """in a minute:
  kernelet demo
  kernelet fit train.csv --target class
  kernelet predict train.kernelet new.csv -o predicted.csv

See `kernelet COMMAND --help` for more about a command.

exit codes:
  0 done   1 failed   2 wrong command line   3 bad table   4 bad model
  5 output cannot be written   130 interrupted (a fit saves the best machine so far)"""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests what a person meant, and goes on after a mistake to find the others.

    Attributes
    ----------
    commands : dict of str to _Parser
    checks : callable or None
        Names what else can be wrong with the command's arguments.
    mistakes : list of str
        What has been found wrong.
    unread : set of str
        Arguments that are missing or could not be read.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: dict[str, _Parser] = {}
        self.checks: Callable[[argparse.Namespace], Iterable[Check]] | None = None
        self.mistakes: list[str] = []
        self.unread: set[str] = set()

    def read(
        self, words: Sequence[str], arguments: argparse.Namespace, is_checked: bool = True
    ) -> None:
        """Parse a command line, and check it unless that is left out.

        Raises
        ------
        CommandError
            With all mistakes.
        SystemExit
            If the command line cannot be understood.
        """
        _, unknown = self.parse_known_args(words, arguments)
        command = self.commands[arguments.command]
        mistakes = [*self.mistakes, *command.mistakes, *command.unrecognized(unknown)]
        found = []
        if is_checked:
            own = [] if command.checks is None else command.checks(arguments)
            found = found_by([*own, *overwriting_checks(arguments)], command.unread)
        if len(mistakes) == 1 and not found:
            command.error(mistakes[0])
        if len(found) == 1 and not mistakes:
            raise found[0]
        codes = {error.exit_code for error in found} | ({2} if mistakes else set())
        if codes:
            if mistakes:
                command.print_usage(sys.stderr)
            code = codes.pop() if len(codes) == 1 else Mistakes.exit_code
            raise Mistakes([*mistakes, *map(str, found)], code)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments = argparse.Namespace() if namespace is None else namespace
        self.read(sys.argv[1:] if args is None else args, arguments, is_checked=False)
        return arguments

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        needed = [action for action in self._actions if action.required and not self.commands]
        for action in needed:  # missing ones are mistakes among others
            action.required = False
        found, unknown = super().parse_known_args(args, namespace)
        missing = [
            action
            for action in needed
            if getattr(found, action.dest) is None and action.dest not in self.unread
        ]
        if missing:
            names = ["/".join(one.option_strings) or str(one.metavar) for one in missing]
            self.mistakes.append(f"the following arguments are required: {', '.join(names)}")
            self.unread.update(action.dest for action in missing)
        return found, unknown

    def unrecognized(self, words: Sequence[str]) -> list[str]:
        """Whether there are words that mean nothing, and what may be meant."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        near = [name for option in options if (name := nearest(option, known))]
        hint = f"; do you mean {', '.join(near)}?" if near else ""
        return [f"unrecognized arguments: {' '.join(words)}{hint}"] if words else []

    def error(self, message: str) -> NoReturn:
        from kernelet.machine.texts import visible  # a file may have any name

        others = [mistake for mistake in self.mistakes if mistake != message]
        if others:
            self.print_usage(sys.stderr)
            raise Mistakes([*others, message])
        super().error(visible(message))

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError as error:
            self._note(action, error)
            return 0

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.dest in self.unread and not arg_strings:
            return action.default
        try:
            return super()._get_values(action, arg_strings)
        except argparse.ArgumentError as error:
            if action.nargs == argparse.PARSER:  # without a command there is no more to be found
                raise
            self._note(action, error)
            return action.default

    def _note(self, action: argparse.Action, error: argparse.ArgumentError) -> None:
        self.mistakes.append(str(error))
        self.unread.add(action.dest)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = [str(choice) for choice in action.choices or ()]
            near = nearest(str(value), choices)
            hint = f"do you mean {near!r}?" if near else f"known are {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"{value!r} is not known; {hint}") from error

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:  # some versions of argparse ignore that writing failed
            file.write(message)
        else:
            with contextlib.suppress(OSError):  # nobody reads stderr; the exit code is left
                sys.stderr.write(message)


def build_parser() -> _Parser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="kernelet",
        description="Small kernel machines: the cost of a prediction is fixed in advance.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kernelet {kernelet.__version__}")
    add = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name in COMMANDS:
        command = importlib.import_module(f"kernelet.cli.commands.{name}")
        description = str(command.__doc__).strip()
        subparser = add.add_parser(
            name,
            help=description.splitlines()[0],
            description=description,
            usage=getattr(command, "USAGE", None),
            epilog=getattr(command, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.configure(subparser)
        add_output_options(subparser)
        parser.commands[name], subparser.checks = subparser, getattr(command, "checks", None)
        subparser.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code of the process.

    `EPILOG` lists the codes. Whenever it is not 0, one line on stderr says why.
    """
    if sys.stderr is None:  # closed by the shell: what is meant for it must not reach stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the exit)
    parser = build_parser()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words:  # whoever does not know the commands yet
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
        if code == 0:  # otherwise another failure has been reported already
            return _failed(arguments, error)
    return code


def _run(parser: _Parser, words: list[str], arguments: argparse.Namespace) -> int:
    try:
        with printing():  # --help and --version print
            parser.read(words, arguments)
        with _warnings_in_one_line(arguments):
            if getattr(arguments, "table", None) is not None:
                with starting(f"reading {arguments.table}", arguments.quiet):
                    importlib.import_module("kernelet.cli.model")
            code: int | None = arguments.run(arguments)
    except SystemExit as stopped:  # after --help and --version, or a wrong command line
        if stopped.code:
            raise
        return 0
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, Exception) as error:
        return _failed(arguments, error)
    return code or 0


@contextmanager
def _warnings_in_one_line(arguments: argparse.Namespace) -> Iterator[None]:
    """Show warnings that no command handles as one line each."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if not getattr(arguments, "quiet", False):
            text = " ".join(str(message).split())
            say(f"kernelet {arguments.command}: warning: {text}", sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _failed(arguments: argparse.Namespace, error: BaseException) -> int:
    """Report an error; returns its exit code."""
    if arguments.debug:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            say(line, sys.stderr)
    command = "kernelet" if arguments.command is None else f"kernelet {arguments.command}"
    reason, code = _explained(error)
    say(f"{command}: {reason}", sys.stderr)  # if stderr is full as well, the exit code is left
    if isinstance(error, Mistakes):
        for line in error.lines:
            say(f"  {line}", sys.stderr)
    return code


def _explained(error: BaseException) -> tuple[str, int]:
    match error:
        case CommandError():
            return str(error), error.exit_code
        case KeyboardInterrupt():
            return "interrupted", Interrupted.exit_code
        case MemoryError():
            return "not enough memory; take fewer rows or columns", 1
        case OSError():
            return one_line(error), 1
    # the last line of defence: a person gets a sentence, and with --debug the traceback
    return f"{type(error).__name__}: {one_line(error)} (--debug shows where)", 1
