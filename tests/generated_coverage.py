"""Branches of generated C that were taken, by the lines of the templates that they come from.

Each line of the generated text carries the template and the line that it was made of, in a comment;
gcov counts the branches of the compiled text.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelet.export.to_c import source

TEMPLATES = importlib.resources.files("kernelet.export.to_c").joinpath("templates")
FLAGS = ["--coverage", "-O0"]
KERNEL = "kernel.py"  # what writes the lines that are of no template
_ORIGIN = re.compile(r" //@(?P<template>\S+):(?P<number>\d+)$")


@dataclass(frozen=True, order=True)
class Place:
    """A line of generated C: its template, its function, and the text of the template."""

    template: str
    function: str
    text: str


_FEW_FEATURES = "the machine has fewer features than the loop takes at once"
_NO_VECTORS = "a machine without vectors"
_FILLED = "the table fills what is missing, so that nothing is NaN"
# Branches that some of the generated files cannot take, and others do.
EXPLAINED = {
    Place("compact.c", "kernel", "if (octaves > $value_digits)"): (
        "the vectors lie so near each other that no value of a row that is compared vanishes"
    ),
    Place("compact.c", "kernel", "if (t >> $sign) /* below 0, but for rounding */"): (
        "rounding takes the exponent of no row at a vector below 0"
    ),
    Place("compact_quantize.c", "quantize", "if (value != value)"): _FILLED,
    Place("compact_quantize.c", "quantize", "if (nothing != nothing) {"): _FILLED,
    Place("compact_quantize.c", "quantize", "for (f = 0; f < $kernel_length; f++)"): _FILLED,
    Place("float.c", "count_votes", "if (with_shares || share != share)"): (
        "all calls of the function ask for the same"
    ),
    Place("float.c", "largest", "if (values[i] != values[i])"): _FILLED,
    Place("float.c", "outputs", "for (j = 0; j < ${prefix}_VECTORS; j++) {"): _NO_VECTORS,
    Place("float.c", "outputs", "for (o = $fours; o < $outputs; o++)"): _NO_VECTORS,
    Place(
        "float.c",
        "predict_proba",
        "probabilities[o] = total == 0.0$f ? $even_share : probabilities[o] / total;",
    ): "the sigmoids are not so steep that all of them may be 0",
    Place(KERNEL, "kernel", "for (; i < ${prefix}_FEATURES; i++) {"): (
        "the number of features is a multiple of what the loop before takes at once"
    ),
    **{
        Place(
            KERNEL,
            "kernel",
            f"for (i = 0; i + 2 * LANES <= ${{prefix}}_{word}; i += 2 * LANES) {{",
        ): _FEW_FEATURES
        for word in ("FEATURES", "USED_FEATURES", "COMBINATIONS")
    },
    Place(KERNEL, "kernel", "for (lane = 0; lane < LANES; lane++) {"): _FEW_FEATURES,
    Place(KERNEL, "kernel", "for (lane = 1; lane < LANES; lane++) {"): _NO_VECTORS,
    Place("power.c", "power", "if (u >= UINT64_C(16) << 16)"): (
        "the sigmoids are not so steep that one may be 0"
    ),
    Place("project.c", "project", "if (x[f] != x[f])"): _FILLED,
}


@dataclass
class Coverage:
    """Branches of all generated files together, and those that were not taken in some of them.

    Attributes
    ----------
    n_branches, n_taken : dict of int
        By template.
    missed : dict
        Place -> names of the files in which one of its branches is not taken.
    taken : dict
        Place and number of its branches -> whether each is taken in one of the files.
    """

    n_branches: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    n_taken: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    missed: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    taken: dict[tuple[Place, int], list[bool]] = field(default_factory=dict)

    @property
    def nowhere(self) -> list[Place]:
        """Lines with a branch that is taken in none of the files."""
        return sorted({place for (place, _), taken in self.taken.items() if not all(taken)})


def marks() -> set[tuple[str, int]]:
    """All lines of the templates that become text: template and number."""
    lines = (line for path in TEMPLATES.iterdir() for line in _marked_lines(path.name))
    return {mark for line in lines if (mark := _mark(line)) is not None}


def marks_in(folder: Path) -> set[tuple[str, int]]:
    """Those of the generated files in a folder."""
    texts = (path.read_text("utf-8") for path in folder.glob("machine_*.[ch]"))
    lines = (line for text in texts for line in text.splitlines())
    return {mark for line in lines if (mark := _mark(line)) is not None}


def _mark(line: str) -> tuple[str, int] | None:
    origin = _ORIGIN.search(line)
    return None if origin is None else (origin["template"], int(origin["number"]))


def _marked_lines(template: str) -> Iterator[str]:
    """The lines of a template and of those that it includes, each with its origin."""
    text = TEMPLATES.joinpath(template).read_text("utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("//include "):
            yield from _marked_lines(line.removeprefix("//include "))
        elif line.startswith("//") or not line.strip():
            yield line
        else:
            yield f"{line} //@{template}:{number}"


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Exports to C carry the origin of each line as long as this lasts."""
    plain = source._lines
    source._lines = _marked_lines
    try:
        yield
    finally:
        source._lines = plain


def coverage(folder: Path, names: Mapping[str, str]) -> Coverage:
    """What was taken of the program in a folder; ``names`` maps its sources to names of models."""
    counts = sorted(path.name for path in folder.glob("*.gcda"))
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", *counts]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found = Coverage()
    for document in done.stdout.splitlines():
        for file in json.loads(document)["files"]:
            if file["file"] in names:
                text = (folder / file["file"]).read_text("utf-8").splitlines()
                _add(found, file["lines"], text, names[file["file"]], Path(file["file"]).stem)
    return found


def _add(found: Coverage, lines: list[dict], text: list[str], name: str, prefix: str) -> None:
    for line in lines:
        taken = [branch["count"] > 0 for branch in line["branches"]]
        if not taken:
            continue
        written = text[line["line_number"] - 1]
        function = line["function_name"].removeprefix(f"{prefix}_")
        place = _place(written, function)
        found.n_branches[place.template] += len(taken)
        found.n_taken[place.template] += sum(taken)
        before = found.taken.get((place, len(taken)), [False] * len(taken))
        found.taken[place, len(taken)] = [a or b for a, b in zip(before, taken, strict=True)]
        if not all(taken):
            found.missed[place].add(name)


def _place(written: str, function: str) -> Place:
    mark = _mark(written)
    if mark is None:
        return Place(KERNEL, function, re.sub(r"MACHINE_\d+_", "${prefix}_", written.strip()))
    template, number = mark
    text = TEMPLATES.joinpath(template).read_text("utf-8").splitlines()[number - 1]
    return Place(template, function, text.strip())
