"""A model in C: a template that is filled in."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template

from kernelet.export.to_c.cost import Cost
from kernelet.export.to_c.pieces import Table, block_comment, included

Values = Mapping[str, object]


@dataclass(frozen=True)
class FilledTemplate:
    """A model in C, ready to be written.

    Attributes
    ----------
    template : str
        That of the source.
    about : list of str
        Lines of the comment on top of the header; the first three open the source too.
    tables : list of Table
    values : mapping
        What the templates ask for.
    cost : Cost
    """

    template: str
    about: list[str]
    tables: list[Table]
    values: Values
    cost: Cost

    def header(self) -> str:
        """The text of the header."""
        return filled_in("header.h", {**self.values, "about": block_comment(self.about)})

    def source(self, header: str) -> str:
        """The text of the source; ``header`` is the name of the other file."""
        tables = [line for table in self.tables for line in table.lines()]
        parts = {"about": block_comment(self.about[:3]), "header": included(header)}
        return filled_in(self.template, {**self.values, **parts, "tables": tables})


def filled_in(template: str, values: Values) -> str:
    """The text of a template, with one newline at its end.

    Templates are C, but for lines that begin with ``//``, which C99 in the style of the exports
    does not have: ``//include`` puts in another template; ``//if name`` (or ``//if not name``),
    ``//else`` and ``//end`` choose lines by whether a value is true; any other is a comment for
    whoever reads the template. ``$name`` and ``${name}`` stand for a value, a list for its lines.

    Parameters
    ----------
    template : str
        File in the folder ``templates``.
    values : mapping

    Raises
    ------
    KeyError
        If the template asks for a value that is not there.
    """
    kept: list[str] = []
    chosen: list[bool] = []  # by each of the //if around a line
    for line in _lines(template):
        directive, _, condition = line.partition(" ")
        if directive == "//if":
            name = condition.removeprefix("not ")
            chosen.append(bool(values[name]) == (name == condition))
        elif directive == "//else":
            chosen[-1] = not chosen[-1]
        elif directive == "//end":
            chosen.pop()
        elif all(chosen) and not directive.startswith("//"):
            kept.append(line)
    # Values are put in last and once: no text of a user is read as part of a template.
    texts = {name: _joined(value) for name, value in values.items()}
    return Template("\n".join(kept)).substitute(texts).rstrip() + "\n"


def _lines(template: str) -> Iterator[str]:
    """The lines of a template and of those that it includes."""
    folder = importlib.resources.files("kernelet.export.to_c").joinpath("templates")
    for line in folder.joinpath(template).read_text("utf-8").splitlines():
        if line.startswith("//include "):
            yield from _lines(line.removeprefix("//include "))
        else:
            yield line


def _joined(value: object) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)
