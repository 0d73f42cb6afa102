"""Rows for core sets, whether they are in memory, in a file or in batches, and their kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernelet.kernels import Kernel, resolve_kernel
from kernelet.learners.core_vector_survey import Piece, Survey
from kernelet.learners.saving import remember_training
from kernelet.learners.subspace_lp_batches import checked_batches
from kernelet.learners.training import TrainingSet
from kernelet.solvers.labelled_rows import LabelledRows, StreamRows, TableRows

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

# Numbers of a file that are read at once.
_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """Rows, and what balls around them have in common.

    Attributes
    ----------
    rows : LabelledRows
    kernel : Kernel
    diagonal : float
        The largest k(x, x).
    least_weight : float
        The smallest weight that is not zero.
    n_classes : int
    rng : RandomState
    told : dict
        X and y, for callbacks, where they are in memory.
    """

    rows: LabelledRows
    kernel: Kernel
    diagonal: float
    least_weight: float
    n_classes: int
    rng: np.random.RandomState
    told: dict[str, Any] = field(default_factory=dict)

    def lift(self, C: float) -> float:
        """|phi|^2 of (10) at its largest; rows below it are lifted by one more coordinate."""
        return self.diagonal + 1.0 + 1.0 / (C * self.least_weight)


def require_positive_definite(kernel: Kernel, who: str) -> None:
    """Refuse a kernel that has no feature space to put a ball into."""
    if not kernel.is_positive_definite:
        raise ValueError(
            f"{who} needs a positive definite kernel, which {kernel!r} is not. Use 'rbf', or "
            "another of kernelet.kernels."
        )


def source_in_memory(who: str, data: TrainingSet, classes: NDArray[Any]) -> Source:
    """Canonical rows."""
    require_positive_definite(data.kernel, who)
    return Source(
        TableRows.of_arrays(data.X, data.codes, data.weights),
        data.kernel,
        _largest_diagonal(data.kernel, [data.X]),
        float(data.weights.min()),
        data.n_classes,
        data.rng,
        {"X": data.X, "y": classes[data.codes]},
    )


def source_on_disk(
    estimator: Any, X: np.memmap[Any, Any], y: Any, sample_weight: Any
) -> tuple[Source, NDArray[Any]]:
    """Rows of a `numpy.memmap`, which are read a block at a time and never copied as a whole."""
    if X.ndim != 2 or X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(f"X must be two-dimensional and not empty, got shape {X.shape}.")
    labels = y if isinstance(y, np.ndarray) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y must have shape ({X.shape[0]},) as X has rows, got {labels.shape}.")
    given = None if sample_weight is None else np.asarray(sample_weight)
    if given is not None and given.shape != labels.shape:
        raise ValueError(f"sample_weight must have shape {labels.shape}, got {given.shape}.")
    length = max(1, _BLOCK // X.shape[1])

    def pieces() -> Iterator[Piece]:
        for start in range(0, X.shape[0], length):
            part = slice(start, start + length)
            rows = np.asarray(X[part])
            weights = np.ones(len(rows)) if given is None else given[part].astype(np.float64)
            yield rows, np.asarray(labels[part]), weights

    seen = Survey.of(pieces())
    factors = seen.factors(estimator, type(estimator).__name__)

    def codes(at: Any) -> IndexArray:
        return np.searchsorted(seen.classes, np.asarray(labels[at]))

    def weights(at: Any, of: IndexArray) -> FloatArray:
        own: FloatArray = factors[of] if given is None else factors[of] * given[at]
        return own

    rows = TableRows(X, codes, weights, seen.firsts[factors > 0.0])
    return _source(estimator, rows, seen, factors, pieces), seen.classes


def source_in_batches(
    estimator: Any, batches: Iterable[tuple[Any, Any]]
) -> tuple[Source, NDArray[Any]]:
    """Rows that come in batches, again and again."""

    def pieces() -> Iterator[Piece]:
        for X, y in checked_batches(batches):
            yield X, y, np.ones(y.size)

    seen = Survey.of(pieces())
    factors = seen.factors(estimator, type(estimator).__name__)

    def coded() -> Iterator[tuple[Any, IndexArray, FloatArray]]:
        for X, y, _ in pieces():
            of = np.minimum(np.searchsorted(seen.classes, y), seen.classes.size - 1)
            if (seen.classes[of] != y).any():
                raise ValueError("batches changed between two readings.")
            yield X, of, factors[of]

    rng = check_random_state(getattr(estimator, "random_state", None))
    rows = StreamRows(coded, (seen.n_rows, seen.n_features), rng)
    return _source(estimator, rows, seen, factors, pieces), seen.classes


def _source(
    estimator: Any, rows: LabelledRows, seen: Survey, factors: FloatArray, pieces: Any
) -> Source:
    estimator.n_features_in_ = seen.n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    remember_training(estimator, seen.n_rows, seen.counts)
    # nothing is looked up in the rows but gamma, which is a number by now
    kernel = resolve_kernel(
        estimator.kernel,
        np.zeros((1, seen.n_features)),
        seen.gamma(estimator.gamma, factors),
        estimator.degree,
        estimator.coef0,
    )
    require_positive_definite(kernel, type(estimator).__name__)
    present = factors > 0.0
    return Source(
        rows,
        kernel,
        _largest_diagonal(kernel, (piece[0] for piece in pieces())),
        float((factors * seen.least)[present].min()),
        seen.classes.size,
        check_random_state(getattr(estimator, "random_state", None)),
    )


def _largest_diagonal(kernel: Kernel, blocks: Iterable[Any]) -> float:
    largest = 0.0
    for X in blocks:
        if kernel.has_constant_diagonal:
            return float(kernel.diagonal(X[:1])[0])
        largest = max(largest, float(kernel.diagonal(X).max(initial=0.0)))
    return largest
