"""Figures that documents quote: each carries a mark that says where in our csv files it stands.

A document writes ``11.8 <!-- figure: direct_method_1.csv error dataset=banana method=svc_ovr -->``:
the number in front of the mark is the mean of a figure over the lines that fit, as far as it is
printed. A csv that is no ledger of runs, such as those of ``benchmarks.speed``, has its figures in
columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import FOLDER, Record, figures_of
from benchmarks.results_admitted import read_lines

MARK = re.compile(r"<!--\s*figure:\s*(?P<file>\S+)\s+(?P<figure>\w+)(?P<filters>[^>]*?)\s*-->")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
ROOT = Path(__file__).parents[1]


def documents() -> list[Path]:
    """Return the documents that may quote figures."""
    return [*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")]


def wrong_figures(text: str, folder: Path = FOLDER) -> list[str]:
    """Return one sentence for every marked figure that the csv files do not bear out."""
    problems = []
    for line in text.splitlines():
        start = 0
        for mark in MARK.finditer(line):
            problem = _problem(line[start : mark.start()], mark, folder)
            if problem:
                problems.append(f"{mark.group(0)}: {problem}")
            start = mark.end()
    return problems


def values_of(file: str, figure: str, filters: Sequence[str], folder: Path = FOLDER) -> list[float]:
    """Return a figure from every line of a csv that has the values ``column=value`` asked for."""
    wanted = dict(item.split("=", 1) for item in filters)
    fitting = (_figures(r) for r in read_lines(folder / file) if _fits(r, wanted))
    return [float(figures[figure]) for figures in fitting if figure in figures]


def _problem(before: str, mark: re.Match[str], folder: Path) -> str | None:
    numbers = NUMBER.findall(before)
    if not numbers:
        return "no number in front of the mark"
    if not (folder / mark["file"]).is_file():
        return "there is no such csv"
    values = values_of(mark["file"], mark["figure"], mark["filters"].split(), folder)
    if not values:
        return "no line of the csv fits"
    quoted = numbers[-1]
    decimals = len(quoted.partition(".")[2])
    mean = float(np.mean(values))
    # half a unit of the last printed decimal, and a hair for decimal fractions
    if abs(mean - float(quoted)) > 0.5 * 10.0**-decimals + 1e-9:
        return f"the mean of {len(values)} lines is {mean:.{decimals + 2}f}, not {quoted}"
    return None


def _figures(record: Record) -> Mapping[str, float | str]:
    return figures_of(record) if "parameters" in record else record


def _fits(record: Record, filters: dict[str, str]) -> bool:
    """Tell whether a line has the given values in its columns, or among its parameters."""
    parameters = json.loads(record["parameters"]) if "parameters" in record else {}
    return all(str({**parameters, **record}.get(key)) == value for key, value in filters.items())
