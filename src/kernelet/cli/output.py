"""What a command says, and where: results to stdout, remarks to stderr.

With ``--json`` stdout holds one JSON document and nothing else; with ``--quiet`` there are no
remarks, no warnings and no progress bars. Names, labels and paths in what is said may come from
anybody: every line goes through `kernelet.machine.texts.visible`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

from kernelet.cli.output_tables import print_table
from kernelet.cli.writing import printing


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """``--json`` and ``--quiet``, which every command understands."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="print one JSON document to stdout, nothing else"
    )
    group.add_argument(
        "-q", "--quiet", action="store_true", help="no remarks, warnings or progress bars"
    )


@dataclass
class Output:
    """The voice of one run of a command.

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
        """As the command line has it."""
        return cls(arguments.command, arguments.json, arguments.quiet)

    def remark(self, text: str) -> None:
        """One line about what was done, on stderr."""
        if not self.quiet:
            say(text, sys.stderr)

    def warn(self, text: str) -> None:
        """One line about what deserves attention; the JSON document repeats it."""
        self.warned.append(text)
        self.remark(f"kernelet {self.command}: warning: {text}")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table on stdout, unless JSON is wanted there."""
        if not self.as_json:
            with printing():
                print_table(columns, rows)

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and values on stdout, two columns without a heading."""
        if not self.as_json:
            width = max(len(name) for name, _ in rows)
            for name, value in rows:
                say(f"{name.ljust(width)}  {value}")

    def text(self, text: str = "") -> None:
        """One line on stdout, unless JSON is wanted there."""
        if not self.as_json:
            say(text)

    def document(self, document: Mapping[str, Any]) -> None:
        """The JSON document, if one is wanted."""
        if self.as_json:
            with printing():
                print(json.dumps(plain({**document, "warnings": self.warned}), indent=2))

    @contextmanager
    def hearing_warnings(self) -> Iterator[list[warnings.WarningMessage]]:
        """Python's warnings as lines of ours, each once, after the work is done."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            yield caught
        for text in dict.fromkeys(" ".join(str(item.message).split()) for item in caught):
            self.warn(text)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print one line, to stdout unless it is said where."""
    from kernelet.machine.texts import visible

    if stream is None:
        with printing():
            print(visible(text))
    else:
        with contextlib.suppress(OSError):  # nobody reads stderr: no reason to stop the work
            print(visible(text), file=stream, flush=True)


def plain(value: Any) -> Any:
    """Values that JSON knows: NumPy's become Python's, what is not finite becomes null.

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
    """Bytes as a person reads them.

    Examples
    --------
    >>> size(812), size(11920), size(3_500_000)
    ('812 bytes', '11.9 kB', '3.5 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    for unit, scale in (("kB", 1e3), ("MB", 1e6)):
        if n_bytes < 1000 * scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes / 1e9:.1f} GB"
