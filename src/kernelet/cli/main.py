"""Reads the command line and hands over to a command.

A command is a module with a one-line docstring (its help), `configure(parser)` and
`run(arguments)`, listed in `COMMANDS`. It imports what it computes with inside `run`, so that
`kernelet --help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

import kernelet
from kernelet.cli.errors import CommandError

COMMANDS = ("demo",)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="kernelet",
        description="Small kernel machines: the cost of a prediction is fixed in advance.",
        epilog="`kernelet COMMAND --help` tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"kernelet {kernelet.__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        command: ModuleType = importlib.import_module(f"kernelet.cli.{name}")
        summary = str(command.__doc__).splitlines()[0]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        command.configure(subparser)
        subparser.set_defaults(run=command.run, command=name)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code of the process.

    0: done. 1: the command could not do its work, and one line on stderr says why. 2: the command
    line is wrong. 130: interrupted from the keyboard.
    """
    arguments = build_parser().parse_args(argv)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except CommandError as error:
        print(f"kernelet {arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"kernelet {arguments.command}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; the interpreter must not try to flush to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
