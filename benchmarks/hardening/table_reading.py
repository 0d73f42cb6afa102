"""Tables as the command line reads them, to learn from and to predict."""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path

import numpy as np

import kernelet
from kernelet.cli.commands.predict import chunks
from kernelet.cli.errors import CommandError
from kernelet.cli.main import build_parser
from kernelet.cli.model import Model, Surprises
from kernelet.cli.output import Output
from kernelet.cli.tables.sources import Source
from kernelet.cli.training_data import read_training_data

# Characters of a line that a person sees, at most: 12 lines of a terminal.
_LONGEST = 1000
# Rows of a piece when a table is predicted: there are several pieces of small tables.
_CHUNK = 7


@cache
def _arguments(*words: str) -> argparse.Namespace:
    found: argparse.Namespace = build_parser().parse_args(words)
    return found


def arguments_for(path: Path, *words: str) -> argparse.Namespace:
    """What a command line says, whose table is another one."""
    found = copy(_arguments(*words))
    found.table = str(path)
    return found


def learned_from(path: Path, words: Sequence[str]) -> str:
    """Read a table as ``kernelet fit`` does, up to the rows that an estimator is given."""
    with _stderr_checked():
        arguments = arguments_for(path, "fit", "table", *words)
        data = read_training_data(arguments, Output.from_arguments(arguments))
        rows = data.rows(data.encoder("standard" if data.table.rows is None else None))
    assert len(data.labels) == rows.shape[0] > 0
    assert np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data).all(), "rows with NaN"
    return "rows to learn from"


def predicted(path: Path, model: Model, words: Sequence[str]) -> str:
    """Read a table as ``kernelet predict`` does, with the predictions."""
    arguments, n_rows = arguments_for(path, "predict", "model", "table", *words), 0
    surprises = Surprises(Output.from_arguments(arguments))
    source = Source.from_arguments(str(path), arguments)
    with _stderr_checked():
        for table in chunks(source, model, [], _CHUNK):
            with surprises.noted(model, table):
                rows = model.rows(table)
            scores = model.predict(rows, "decision_function")
            assert len(scores) == len(table) and np.isfinite(scores).all(), "scores with NaN"
            n_rows += len(table)
        surprises.warn(n_rows)
    return "predictions" if n_rows else "no rows"


def model_of(path: Path, words: Sequence[str]) -> Model:
    """A small model of a table."""
    arguments = arguments_for(path, "fit", "table", *words, "-q")
    data = read_training_data(arguments, Output.from_arguments(arguments))
    encoder = data.encoder("standard" if data.table.rows is None else None)
    estimator = kernelet.ReducedSVC(3, random_state=0).fit(data.rows(encoder), data.labels)
    return Model.of(estimator, encoder, data.target, "model.kernelet")


def refusal(path: Path, error: Exception) -> str | None:
    """What is wrong about an error of the command line, or about the line that reports it."""
    if not isinstance(error, CommandError):
        return None
    try:
        with _stderr_checked():
            Output("fit").warn(str(error))
    except AssertionError as found:
        return str(found)
    return ""


@contextmanager
def _stderr_checked() -> Iterator[None]:
    """Keep what is printed on stderr from the terminal, and look at it."""
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        yield
    for line in printed.getvalue().split("\n"):
        assert line.isprintable(), f"an odd line on stderr: {line!r}"
        assert len(line) <= _LONGEST, f"a line of {len(line)} characters on stderr"
