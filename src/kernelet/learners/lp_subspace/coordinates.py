"""The rows in coordinates of a subspace: in memory, in a file, or computed with every pass.

Whether rows fit in memory is asked in `coordinates_of`, and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.lp_subspace.programs import Programs, SubspaceMachine
from kernelet.learners.lp_subspace.space import (
    SubspaceSettings,
    principal_space,
    projecting_machine,
)
from kernelet.solvers import Rows
from kernelet.solvers.blocks.hinge import block_hinge
from kernelet.solvers.blocks.margins import Targets
from kernelet.solvers.blocks.norms import LinearNormPenalty
from kernelet.solvers.rows import as_rows
from kernelet.subspace import PrincipalMap

IndexArray = NDArray[np.intp]


class Coordinates(Protocol):
    """Rows in a subspace, which linear programs can be solved over.

    Attributes
    ----------
    space : PrincipalMap
    seconds : dict
        Processor time of what was computed so far.
    """

    @property
    def space(self) -> PrincipalMap: ...
    @property
    def seconds(self) -> dict[str, float]: ...

    def solve(self, programs: Programs, last: SubspaceMachine | None = None) -> SubspaceMachine:
        """The machine of all rows, from that of another C where it helps."""
        ...

    def part(self, n_rows: int) -> Coordinates:
        """About n_rows rows in memory that represent all."""
        ...


@dataclass(frozen=True, eq=False)
class KnownCoordinates:
    """Coordinates that are known, in memory or in a file.

    Attributes
    ----------
    space : PrincipalMap
    Phi : ndarray of shape (n, rank) or Rows
    codes : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
    n_classes : int
    seconds : dict
    """

    space: PrincipalMap
    Phi: FloatArray | Rows
    codes: IndexArray
    weights: FloatArray
    n_classes: int
    seconds: dict[str, float]

    def solve(self, programs: Programs, last: SubspaceMachine | None = None) -> SubspaceMachine:
        labels = Targets.of_classes(self.n_classes).of(self.codes)
        return programs.solve(self.Phi, labels, programs.C * self.weights, last)

    def part(self, n_rows: int) -> KnownCoordinates:
        """Evenly spaced among those of each class, at least one of each."""
        chosen = []
        for code in np.unique(self.codes):
            members = np.flatnonzero(self.codes == code)
            size = min(members.size, 1 + n_rows * members.size // self.codes.size)
            chosen.append(members[np.linspace(0, members.size - 1, size).astype(np.intp)])
        index = np.sort(np.concatenate(chosen))
        weights = self.weights[index]
        return KnownCoordinates(
            self.space,
            as_rows(self.Phi).take(index),
            self.codes[index],
            weights * (self.weights.sum() / weights.sum()),
            self.n_classes,
            self.seconds,
        )


@dataclass(frozen=True, eq=False)
class OutOfCoreCoordinates:
    """Coordinates of out-of-core rows, computed anew with every pass over them."""

    space: PrincipalMap
    data: OutOfCoreData
    seconds: dict[str, float]

    def solve(self, programs: Programs, last: SubspaceMachine | None = None) -> SubspaceMachine:
        data, penalty = self.data, LinearNormPenalty(programs.norm.kind)
        solutions = block_hinge(
            data.rows, self.space, data.sample, programs.C, tol=programs.tol, penalty=penalty
        )
        return SubspaceMachine.of_outputs(solutions)

    def part(self, n_rows: int) -> KnownCoordinates:
        return _projected(self.data.at_hand, self.space, {}).part(n_rows)


def coordinates_of(
    data: TrainingData | OutOfCoreData, settings: SubspaceSettings, programs: Programs
) -> Coordinates:
    """The subspace of some rows, and these in its coordinates.

    Raises
    ------
    ValueError
        If the rows are out of core, and the programs or the subspace need them in memory.
    """
    seconds: dict[str, float] = {}
    if isinstance(data, OutOfCoreData):
        programs.require_blocks(data.n_classes)
        _require_sample(data, settings)
        return OutOfCoreCoordinates(_space(data.at_hand, settings, seconds), data, seconds)
    return _projected(data, _space(data, settings, seconds), seconds)


def _space(
    rows: TrainingData, settings: SubspaceSettings, seconds: dict[str, float]
) -> PrincipalMap:
    with stage(seconds, "eigenvectors"):
        return principal_space(rows, settings)


@contextmanager
def stage(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note the processor time of what runs within it."""
    start = time.process_time()
    yield
    seconds[name] = time.process_time() - start


def _projected(
    data: TrainingData, space: PrincipalMap, seconds: dict[str, float]
) -> KnownCoordinates:
    with stage(seconds, "projection"):
        Phi = projecting_machine(space).decision_function(data.X).reshape(-1, space.rank)
    return KnownCoordinates(space, Phi, data.codes, data.weights, data.n_classes, seconds)


def _require_sample(data: OutOfCoreData, settings: SubspaceSettings) -> None:
    """Refuse more sample points than rows to choose them from."""
    n_sample, wanted = data.sample.block.codes.size, settings.n_landmarks
    if wanted is not None and n_sample < min(wanted, data.rows.shape[0]):
        raise ValueError(
            f"n_landmarks={wanted} points cannot be chosen among the {n_sample} rows that are "
            "drawn of rows that are not in memory; lower n_landmarks."
        )
