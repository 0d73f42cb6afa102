"""Rows beyond memory: a sample from one pass, coordinates in a file from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_X_y

from kernelet.machine import KernelMachine
from kernelet.solvers.blocks.rows import BlockRows

FloatArray = NDArray[np.float64]

# Rows of the sample for each landmark that is chosen from it.
SAMPLE_PER_LANDMARK = 4


@dataclass(frozen=True, eq=False)
class Survey:
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
            "batches are read twice, and this iterator can be read once only; give a list, or an "
            "object whose __iter__ starts again."
        )
    width = None
    for X, y in batches:
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
        width = X.shape[1] if width is None else width
        if X.shape[1] != width:
            raise ValueError(f"a batch has {X.shape[1]} columns, those before had {width}.")
        yield X, y


def survey(batches: Iterable[tuple[Any, Any]], n_sample: int, rng: np.random.RandomState) -> Survey:
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
    return Survey(classes[0], n_rows, sample)


def write_features(
    batches: Iterable[tuple[Any, Any]],
    machine: KernelMachine,
    classes: NDArray[Any],
    n_rows: int,
    path: Path,
) -> tuple[BlockRows, NDArray[np.intp]]:
    """Read all batches again, and write the outputs of a machine to a file of floats.

    Returns
    -------
    rows : BlockRows
        The features, in single precision on disk.
    codes : ndarray of shape (n_rows,)
        Classes.
    """
    features = np.memmap(path, dtype=np.float32, mode="w+", shape=(n_rows, machine.n_outputs))
    codes = np.empty(n_rows, dtype=np.intp)
    start = 0
    for X, y in checked_batches(batches):
        stop = start + y.size
        if stop > n_rows or not np.isin(y, classes).all():
            raise ValueError("batches changed between the first and the second reading.")
        features[start:stop] = machine.decision_function(X).reshape(y.size, -1)
        codes[start:stop] = np.searchsorted(classes, y)
        start = stop
    if start < n_rows:
        raise ValueError("batches changed between the first and the second reading.")
    return BlockRows(features), codes
