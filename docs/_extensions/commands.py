"""The help of the command line, as the commands themselves print it."""

from __future__ import annotations

import argparse
import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from kernelet.cli.main import COMMANDS, build_parser


class CommandHelp(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = "80"  # as wide as a page, whatever the terminal of the build is
        parser = build_parser()
        (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        found: list[nodes.Node] = [_console(parser)]
        for name in COMMANDS:
            section = nodes.section(ids=[f"kernelet-{name}"], names=[f"kernelet-{name}"])
            section += nodes.title("", f"kernelet {name}")
            section += _console(commands.choices[name])
            found.append(section)
        return found


def _console(parser: argparse.ArgumentParser) -> nodes.Node:
    text = parser.format_help().rstrip()
    return nodes.literal_block(text, text, language="text")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
