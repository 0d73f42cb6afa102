"""Tables for a terminal: rich's where it is installed, plain text everywhere else."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks: the first to the left, the others to the right.

    Examples
    --------
    >>> print(plain_table(["model", "error"], [["SVC", "1.2 %"], ["20 vectors", "10.5 %"]]))
    model        error
    ----------  ------
    SVC          1.2 %
    20 vectors  10.5 %
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [columns, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print to stdout; a pipe or a file gets plain text whether rich is there or not."""
    from kernelet.machine.texts import visible

    columns, rows = [visible(name) for name in columns], [[*map(visible, row)] for row in rows]
    if sys.stdout.isatty() and importlib.util.find_spec("rich"):
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text  # unlike str, which rich reads as markup

        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        for place, column in enumerate(columns):
            table.add_column(Text(column), justify="right" if place else "left", no_wrap=True)
        for row in rows:
            table.add_row(*map(Text, row))
        Console().print(table)
    else:
        print(plain_table(columns, rows))
