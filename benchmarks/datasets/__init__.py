"""Data sets: ``names()``, ``describe(name)``, ``load(name)``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from benchmarks.datasets.pool import Pool, Unavailable, checksum, sorted_checksum
from benchmarks.datasets.sources import READERS
from benchmarks.datasets.specification import Source, Specification, describe, names
from benchmarks.datasets.splits import Split, split_origin, split_pool

__all__ = [
    "READERS",
    "Dataset",
    "Split",
    "Unavailable",
    "describe",
    "load",
    "load_specification",
    "names",
]


@dataclass(frozen=True)
class Dataset:
    """A data set that was found and verified."""

    specification: Specification
    pool: Pool
    source: str
    origin: str

    def split(self, unit: int) -> Split:
        """Return one training/test pair, ``0 <= unit < specification.n_units``."""
        return split_pool(self.specification, self.pool, unit)


@lru_cache(maxsize=2)
def load(name: str) -> Dataset:
    """Return the data set from the first source that has it; raise `Unavailable` with reasons."""
    return load_specification(describe(name))


def load_specification(specification: Specification) -> Dataset:
    """Return the data set that a specification describes."""
    if specification.unavailable:
        raise Unavailable(f"{specification.name}: {specification.unavailable}")
    reasons = []
    for source in specification.sources:
        try:
            pool = _verified(specification, source, READERS[source.kind](source.options))
        except Unavailable as reason:
            reasons.append(f"{source.kind}: {reason}")
            continue
        return Dataset(specification, pool, source.kind, split_origin(specification, pool))
    raise Unavailable(f"{specification.name}: " + "; ".join(reasons))


def _verified(specification: Specification, source: Source, pool: Pool) -> Pool:
    """Check shape and checksum; the same rows in another order lose the official split."""
    shape = source.shape or specification.shape
    found = (*pool.X.shape, len(set(pool.y.tolist())))
    expected = (shape.rows, shape.columns, shape.classes)
    if found != expected:
        raise Unavailable(f"shape (rows, columns, classes) is {found}, not {expected}")
    if checksum(pool) == (source.sha256 or specification.sha256):
        return pool
    if sorted_checksum(pool) == specification.sha256_sorted:
        return Pool(pool.X, pool.y)
    raise Unavailable("the checksum of the arrays differs from the recorded one")
