"""The declarative file of a data set: one TOML file each, next to this module.

Files of the same form in the folder that ``KERNELET_DATA`` names are found as well.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
VARIABLE = "KERNELET_DATA"

SPLIT_KINDS = ("official", "realisations", "folds", "subsets", "generated")
SCALING_KINDS = ("none", "affine", "standard", "one_hot", "recode", "smooth")
SOURCE_KINDS = ("folder", "keel", "sklearn", "openml", "generator")


@dataclass(frozen=True)
class Shape:
    """Rows, columns and classes; ``test`` is 0 for a pool without an official split."""

    train: int
    columns: int
    classes: int
    test: int = 0

    @property
    def rows(self) -> int:
        return self.train + self.test


@dataclass(frozen=True)
class Source:
    """One place to get the data from.

    ``sha256`` and ``shape`` are there when the source holds other numbers than the data set itself,
    for instance rounded ones.
    """

    kind: str
    options: Mapping[str, Any]
    sha256: str | None = None
    shape: Shape | None = None


@dataclass(frozen=True)
class Specification:
    """What a data set file says."""

    name: str
    title: str
    reference: str
    shape: Shape
    split: Mapping[str, Any]
    scaling: Mapping[str, Any] = field(default_factory=lambda: {"kind": "none"})
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    sha256: str = ""
    sha256_sorted: str = ""
    unavailable: str = ""

    @property
    def n_units(self) -> int:
        """Number of training/test pairs that the protocol averages over."""
        return int(self.split.get("n", 1))


def parse(text: str) -> Specification:
    """Read the text of a data set file, refusing keys and kinds that do not exist."""
    raw = tomllib.loads(text)
    sources = tuple(_parse_source(entry) for entry in raw.pop("source", []))
    shape = Shape(**raw.pop("shape"))
    specification = Specification(shape=shape, sources=sources, **raw)
    _require(specification.name, "split", specification.split["kind"], SPLIT_KINDS)
    _require(specification.name, "scaling", specification.scaling["kind"], SCALING_KINDS)
    for source in sources:
        _require(specification.name, "source", source.kind, SOURCE_KINDS)
    return specification


def _parse_source(entry: dict[str, Any]) -> Source:
    kind = entry.pop("kind")
    sha256 = entry.pop("sha256", None)
    shape = Shape(**entry.pop("shape")) if "shape" in entry else None
    return Source(kind, entry, sha256, shape)


def _require(name: str, what: str, kind: str, known: tuple[str, ...]) -> None:
    if kind not in known:
        raise ValueError(f"{name}: {what} kind {kind!r} is not one of {', '.join(known)}.")


def _files() -> dict[str, Path]:
    found = {}
    folders = [os.environ[VARIABLE]] if os.environ.get(VARIABLE) else []
    for folder in (*folders, FOLDER):
        found |= {path.stem: path for path in Path(folder).glob("*.toml")}
    return found


def names() -> list[str]:
    """Return the ids of all data sets."""
    return sorted(_files())


@cache
def describe(name: str) -> Specification:
    """Return what the file of a data set says, without loading the data."""
    files = _files()
    if name not in files:
        raise KeyError(f"No data set {name!r}; there are: {', '.join(sorted(files))}.")
    return parse(files[name].read_text(encoding="utf-8"))
