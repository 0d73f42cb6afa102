"""Rows beyond memory: a sample from one pass, coordinates in a file from another."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.training_data import TrainingData, class_weights
from kernelet.learners.base.validation import check_X_y
from kernelet.learners.lp_subspace.coordinates import KnownCoordinates, stage
from kernelet.learners.lp_subspace.space import (
    SubspaceSettings,
    principal_space,
    projecting_machine,
)
from kernelet.machine import KernelMachine
from kernelet.solvers.blocks.rows import BlockRows


@dataclass(frozen=True, eq=False)
class BatchSurvey:
    """What the first pass finds.

    Attributes
    ----------
    classes : ndarray
        Labels.
    n_rows : int
    sample : ndarray of shape (n, d)
        Rows drawn at random, each with the same probability.
    """

    classes: NDArray[Any]
    n_rows: int
    sample: FloatArray


def checked_batches(batches: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Batches as arrays, all with as many columns."""
    if iter(batches) is batches:
        raise ValueError(
            "batches are read twice, but this iterator can be read only once; give a list, or an "
            "object whose __iter__ starts again."
        )
    width = None
    for X, y in batches:
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
        width = X.shape[1] if width is None else width
        if X.shape[1] != width:
            raise ValueError(f"a batch has {X.shape[1]} columns, those before had {width}.")
        yield X, y


def survey(
    batches: Iterable[tuple[Any, Any]], n_sample: int, rng: np.random.RandomState
) -> BatchSurvey:
    """Read all batches once: the labels, the number of rows, and a random sample of them."""
    classes: list[NDArray[Any]] = []
    keys, sample = np.empty(0), None
    n_rows = 0
    for X, y in checked_batches(batches):
        classes = [np.unique(np.concatenate([*classes, y]))]
        n_rows += y.size
        # the rows with the least of uniform keys, whatever the batches
        drawn = np.append(keys, rng.uniform(size=y.size))
        kept = np.sort(np.argsort(drawn, kind="stable")[:n_sample])
        new = X[kept[kept >= keys.size] - keys.size]
        new = new.toarray() if sparse.issparse(new) else new
        old = new[:0] if sample is None else sample[kept[kept < keys.size]]
        sample, keys = np.vstack([old, new]), drawn[kept]
    if sample is None:
        raise ValueError("batches hold no rows.")
    if classes[0].size < 2:
        raise ValueError(f"batches hold one class only: {classes[0].tolist()}.")
    return BatchSurvey(classes[0], n_rows, sample)


@contextmanager
def projected_batches(
    batches: Iterable[tuple[Any, Any]],
    seen: BatchSurvey,
    sample: TrainingData,
    settings: SubspaceSettings,
    class_weight: Mapping[Any, float] | str | None = None,
    folder: str | Path | None = None,
) -> Iterator[KnownCoordinates]:
    """Read all batches again, and write their coordinates to a file that goes with the context.

    Parameters
    ----------
    batches : iterable of (X, y)
    seen : BatchSurvey
        Of these.
    sample : TrainingData
        Its sample, from which the sample points of the subspace are chosen.
    settings : SubspaceSettings
    class_weight : dict, "balanced" or None, default=None
    folder : path-like or None, default=None
        Where the file goes.
    """
    seconds: dict[str, float] = {}
    with stage(seconds, "eigenvectors"):
        space = principal_space(sample, settings)
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        with stage(seconds, "projection"):
            machine, path = projecting_machine(space), Path(place) / "coordinates"
            rows, codes = _write_coordinates(batches, machine, seen, path)
        weights = class_weights(class_weight, seen.classes, codes, np.ones(codes.size))
        yield KnownCoordinates(space, rows, codes, weights, seen.classes.size, seconds)


def _write_coordinates(
    batches: Iterable[tuple[Any, Any]], machine: KernelMachine, seen: BatchSurvey, path: Path
) -> tuple[BlockRows, NDArray[np.intp]]:
    """The outputs of a machine in a file of floats, and the classes of the rows."""
    n_rows = seen.n_rows
    features = np.memmap(path, dtype=np.float32, mode="w+", shape=(n_rows, machine.n_outputs))
    codes = np.empty(n_rows, dtype=np.intp)
    start = 0
    for X, y in checked_batches(batches):
        stop = start + y.size
        if stop > n_rows or not np.isin(y, seen.classes).all():
            raise ValueError("batches changed between the first and the second reading.")
        values = machine.decision_function(X).reshape(y.size, -1)
        largest = float(np.abs(values).max(initial=0.0))
        if largest > float(np.finfo(features.dtype).max):
            raise ValueError(
                f"coordinates of up to {largest:.0e} are too large for the file, which is of "
                "single precision; scale X, or lower gamma or degree."
            )
        features[start:stop] = values
        codes[start:stop] = np.searchsorted(seen.classes, y)
        start = stop
    if start < n_rows:
        raise ValueError("batches changed between the first and the second reading.")
    return BlockRows(features), codes
