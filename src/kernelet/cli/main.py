"""Reads the command line and hands over to the subcommand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import kernelet


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="kernelet", description="Small kernel machines.")
    parser.add_argument("--version", action="version", version=f"kernelet {kernelet.__version__}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code of the process."""
    parser = build_parser()
    parser.parse_args(argv)
    parser.print_help(sys.stderr)
    return 2
