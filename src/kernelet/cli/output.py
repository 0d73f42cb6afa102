"""What a command prints, and where: results to stdout, remarks to stderr.

With ``--json`` stdout holds one JSON document and nothing else; with ``--quiet`` there are no
remarks, no warnings and no progress bars. Names, labels and paths may come from anybody: every line
goes through `kernelet.machine.texts.visible`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

from kernelet.cli.errors import brief
from kernelet.cli.writing import printing


@dataclass
class Output:
    """Prints for one run of a command.

    Parameters
    ----------
    command : str
        Named in front of warnings.
    as_json : bool, default=False
    quiet : bool, default=False
    """

    command: str
    as_json: bool = False
    quiet: bool = False
    warned: list[str] = field(default_factory=list)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Output:
        """As the command line asks."""
        return cls(arguments.command, arguments.json, arguments.quiet)

    def remark(self, text: str) -> None:
        """Print a line about what was done, on stderr."""
        if not self.quiet:
            say(text, sys.stderr)

    def warn(self, text: str) -> None:
        """Print a warning on stderr; the JSON document repeats it."""
        self.warned.append(text)
        self.remark(f"kernelet {self.command}: warning: {text}")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table on stdout, unless JSON is wanted there."""
        if not self.as_json:
            with printing():
                print_table(columns, rows)

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and values on stdout, in two columns, unless JSON is wanted there."""
        if not self.as_json:
            width = max(len(name) for name, _ in rows)
            for name, value in rows:
                say(f"{name.ljust(width)}  {value}")

    def result(self, facts: Sequence[tuple[str, str]], document: Mapping[str, Any]) -> None:
        """Print facts, unless ``--quiet`` is given, or the JSON document."""
        if not self.quiet:
            self.facts(facts)
        self.document(document)

    def text(self, *lines: str) -> None:
        """Print lines on stdout, unless JSON is wanted there."""
        if not self.as_json:
            for line in lines:
                say(line)

    def document(self, document: Mapping[str, Any]) -> None:
        """Print the JSON document, if it is wanted."""
        if self.as_json:
            with printing():
                print(json.dumps(plain({**document, "warnings": self.warned}), indent=2))

    @contextmanager
    def hearing_warnings(self) -> Iterator[list[warnings.WarningMessage]]:
        """Collect Python's warnings in the block, and print each once after it."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            yield caught
        for text in dict.fromkeys(" ".join(str(item.message).split()) for item in caught):
            self.warn(text)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print one line, to stdout unless another stream is given, where it is `brief`."""
    from kernelet.machine.texts import visible

    if stream is None:
        with printing():
            print(visible(text))
    else:
        with contextlib.suppress(OSError):  # nobody reads stderr: no reason to stop the work
            print(brief(visible(text)), file=stream, flush=True)


def plain(value: Any) -> Any:
    """Values that JSON has: NumPy's become Python's, what is not finite becomes null.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"error": np.float64("nan"), "counts": np.arange(2), 3: ("a", None)})
    {'error': None, 'counts': [0, 1], '3': ['a', None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and NumPy's numbers
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def percent(share: float) -> str:
    """An error as a person reads it.

    Examples
    --------
    >>> percent(0.0234)
    '2.3 %'
    """
    return f"{100 * share:.1f} %"


def size(n_bytes: int) -> str:
    """Bytes as a person reads them."""
    from kernelet.machine.texts import readable_bytes

    return readable_bytes(n_bytes)


def duration(seconds: float) -> str:
    """A time as a person reads it.

    Examples
    --------
    >>> duration(0.04), duration(7.3), duration(250), duration(9000)
    ('0.04 s', '7 s', '4 minutes', '2.5 hours')
    """
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 and round(seconds) < 1 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def bits_line(compact: Any) -> str:
    """The bits of a machine in few of them (`kernelet.machine.CompactForm`)."""
    vectors, coefficients = compact.grid.bits, compact.coefficient_bits
    return f"vectors in {vectors} bits, coefficients in {coefficients}"


def kernel_text(specification: dict[str, Any]) -> str:
    """A specification of a kernel, as a person reads it.

    Examples
    --------
    >>> kernel_text({"name": "rbf", "gamma": 0.125})
    'rbf, gamma = 0.125'
    >>> inner = {"name": "rbf", "gamma": 0.5}
    >>> kernel_text({"name": "scaled_features", "kernel": inner, "scales": [0.1, 2.0]})
    'rbf, gamma = 0.5, on 2 features scaled by 0.1 to 2'
    >>> kernel_text({"name": "scaled_features", "kernel": inner, "scales": [0.0, 2.0, 0.1]})
    'rbf, gamma = 0.5, on 2 of 3 features scaled by 0.1 to 2'
    >>> kernel_text({"name": "scaled_features", "kernel": inner, "scales": {"shape": [9]}})
    'rbf, gamma = 0.5, on 9 features with a scale each'
    >>> kernel_text({"name": "projected_features", "kernel": inner, "matrix": [[1.0, 0.5, 2.0]]})
    'rbf, gamma = 0.5, on 1 combination of 3 features'
    """
    if specification.get("name") == "scaled_features":
        scales = specification["scales"]
        inner = kernel_text(specification["kernel"])
        if isinstance(scales, dict):  # their shape, as the summary of a machine in few bits has it
            return f"{inner}, on {scales['shape'][0]} features with a scale each"
        used = [scale for scale in scales if scale > 0.0] or scales
        some = "" if len(used) == len(scales) else f"{len(used)} of "
        least, most = f"{min(used):.3g}", f"{max(used):.3g}"
        return f"{inner}, on {some}{len(scales)} features scaled by {least} to {most}"
    if specification.get("name") == "projected_features":
        matrix = specification["matrix"]  # itself, or its shape, as a file's summary has it
        rank, d = (len(matrix), len(matrix[0])) if isinstance(matrix, list) else matrix["shape"]
        many = "combination" if rank == 1 else "combinations"
        return f"{kernel_text(specification['kernel'])}, on {rank} {many} of {d} features"
    parts = [
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in specification.items()
        if name != "name" and not isinstance(value, dict | list)
    ]
    return ", ".join([str(specification.get("name")), *parts])


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
