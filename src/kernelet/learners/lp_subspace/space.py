"""The subspace of the linear programs: how its sample points are chosen, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelet.learners.base.parameters import choice, count
from kernelet.learners.base.training_data import TrainingData
from kernelet.machine import KernelMachine
from kernelet.subspace import SEEDERS, PrincipalMap, canonical_rows, seed_vectors

# Sample points by default: _LANDMARKS, or this many per component if that is more. The tables of
# the paper have 1000 and 3000 points, for 100 to 800 components.
_LANDMARKS = 1000
_LANDMARKS_PER_COMPONENT = 3
# Out-of-core rows that are drawn for each sample point, so that k-means and the greedy methods have
# something to choose from. Random points need one; the number is not critical.
_ROWS_PER_LANDMARK = 4


@dataclass(frozen=True, eq=False)
class SubspaceSettings:
    """Size of a subspace and its sample points.

    Attributes
    ----------
    n_components : int
    n_landmarks : int or None
        None is 1000, or three times ``n_components`` if that is more.
    landmarks : str or array-like of shape (n_landmarks, d)
        How the points are chosen, or the points.
    """

    n_components: int
    n_landmarks: int | None
    landmarks: str | ArrayLike

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The parameters of an estimator."""
        n_components = count("n_components", estimator.n_components)
        return cls(n_components, estimator.n_landmarks, estimator.landmarks)

    @property
    def n_wanted(self) -> int:
        """Sample points, where there are enough rows."""
        if self.n_landmarks is None:
            return max(_LANDMARKS, _LANDMARKS_PER_COMPONENT * self.n_components)
        return count("n_landmarks", self.n_landmarks)

    @property
    def n_drawn(self) -> int:
        """Out-of-core rows to draw, from which the sample points are chosen."""
        return _ROWS_PER_LANDMARK * self.n_wanted


def principal_space(rows: TrainingData, settings: SubspaceSettings) -> PrincipalMap:
    """The subspace of the leading eigenvectors of a sample of the rows, (3.4)-(3.6).

    There are no more sample points than distinct rows, and no more components than the Gram matrix
    has rank.
    """
    landmarks, n_vectors, n_components = settings.landmarks, None, settings.n_components
    if isinstance(landmarks, str):
        choice("landmarks", landmarks, SEEDERS)
        if settings.n_wanted < n_components:
            raise ValueError(
                f"n_landmarks={settings.n_wanted} points have no more than {settings.n_wanted} "
                f"eigenvectors; raise n_landmarks or lower n_components={n_components}."
            )
        n_distinct = canonical_rows(rows.X, None, rows.weights).costs.size
        n_vectors = min(settings.n_wanted, n_distinct)
    vectors = seed_vectors(rows.X, n_vectors, landmarks, rows.kernel, rows.rng, rows.weights)
    return PrincipalMap.from_vectors(rows.kernel, vectors, n_components)


def projecting_machine(space: PrincipalMap) -> KernelMachine:
    """A machine whose outputs are the features, evaluated in blocks of rows."""
    return KernelMachine(space.kernel, space.vectors, space.transform.T, np.zeros(space.rank))
