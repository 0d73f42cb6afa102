"""The span of k(., z_1), ..., k(., z_m) as coordinates; where the vectors start; canonical rows."""

from kernelet.subspace.canonical import CanonicalRows, canonical_rows
from kernelet.subspace.principal import PrincipalMap
from kernelet.subspace.seeding import SEEDERS, seed_vectors
from kernelet.subspace.whitening import (
    EmpiricalMap,
    SubspaceMap,
    WhitenedMap,
    relative_rank_tolerance,
)

__all__ = [
    "SEEDERS",
    "CanonicalRows",
    "EmpiricalMap",
    "PrincipalMap",
    "SubspaceMap",
    "WhitenedMap",
    "canonical_rows",
    "relative_rank_tolerance",
    "seed_vectors",
]
