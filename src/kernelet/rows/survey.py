"""One pass over out-of-core rows: shape, labels, weights, and moments of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import multiclass

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.kernels.numerics.deviations import mean_squared_deviations
from kernelet.kernels.silence import restoring_filters
from kernelet.rows.block import largest_number, stored_numbers
from kernelet.rows.pieces import Piece, Pieces

# Rows that are looked at together: their copies in double precision have to fit beside the piece,
# and for some hundred columns they take some tens of MB.
_AT_ONCE = 65_536

check_classification_targets = restoring_filters(multiclass.check_classification_targets)


@dataclass(eq=False)
class ClassMoments:
    """Weighted moments of the rows of one class.

    Attributes
    ----------
    total, least : float
        Sum of the weights, and the smallest that is not zero.
    largest : float
        Of the absolute values of the numbers. Where these cannot be squared, mean and scatter are
        not finite, and the caller silences NumPy.
    mean, scatter : ndarray of shape (d,)
        Of each column, the latter as the weighted sum of squared deviations.
    """

    total: float
    least: float
    largest: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(cls, X: Any, weights: FloatArray) -> ClassMoments:
        total = float(weights.sum())
        if not total:
            return cls(0.0, np.inf, 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        share = weights / total
        if sparse.issparse(X):
            mean = np.asarray(share @ X).ravel()
            scatter = total * mean_squared_deviations(X, mean, share)
        else:
            mean = share @ X
            scatter = total * (share @ np.square(X - mean))
        return cls(total, float(weights.min()), largest_number(X), mean, scatter)

    def __add__(self, other: ClassMoments) -> ClassMoments:
        total = self.total + other.total
        if not total:
            return self
        # about the means themselves, so that digits are kept however far from zero the data are
        step = other.mean - self.mean
        return ClassMoments(
            total,
            min(self.least, other.least),
            max(self.largest, other.largest),
            self.mean + step * (other.total / total),
            self.scatter + other.scatter + step**2 * (self.total * other.total / total),
        )


@dataclass(eq=False)
class PieceSurvey:
    """What one piece holds, or what is wrong with it."""

    n_rows: int = 0
    n_features: int = 0
    labels: NDArray[Any] = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    counts: list[int] = field(default_factory=list)
    moments: list[ClassMoments] = field(default_factory=list)
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class Survey:
    """What a pass over all pieces finds; rows of weight zero are not counted.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Labels, sorted; a single 0 for rows without labels.
    lengths : ndarray of shape (n_pieces,)
        All rows.
    counts : ndarray of shape (n_pieces, k)
        Rows of a positive weight.
    totals, least : ndarray of shape (k,)
        Sum of the weights of each class, and the smallest that is not zero.
    largest : ndarray of shape (k,)
        The largest absolute value of a number of each class.
    means, scatters : ndarray of shape (k, d)
    """

    classes: NDArray[Any]
    lengths: IndexArray
    counts: IndexArray
    totals: FloatArray
    least: FloatArray
    largest: FloatArray
    means: FloatArray
    scatters: FloatArray

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.means.shape[1])

    def moments(self, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each column, the classes weighted by these factors."""
        weights = factors * self.totals
        share = weights / weights.sum()
        mean = share @ self.means
        within = (factors @ self.scatters) / weights.sum()
        return mean, within + share @ np.square(self.means - mean)


def survey(pieces: Pieces) -> Survey:
    """Look at all rows once.

    Raises
    ------
    ValueError
        If a piece has NaN, labels or weights that do not go with its rows, or other columns than
        those before it; the message names the piece.
    """
    found: list[PieceSurvey] = []
    for number, piece in enumerate(pieces.map(_look, "kernelet_survey")):
        problem = piece.problem
        if problem is None and found and piece.n_features != found[0].n_features:
            problem = f"has {piece.n_features} columns, those before it {found[0].n_features}"
        if problem is not None:
            raise ValueError(f"{pieces.described(number)} {problem}.")
        found.append(piece)
    classes = np.unique(np.concatenate([piece.labels for piece in found]))
    counts = np.zeros((len(found), classes.size), dtype=np.intp)
    moments: list[ClassMoments | None] = [None] * classes.size
    for number, piece in enumerate(found):
        for label, count, mine in zip(piece.labels, piece.counts, piece.moments, strict=True):
            code = int(np.searchsorted(classes, label))
            counts[number, code] = count
            before = moments[code]
            # as below: who asks for moments looks at the largest number first
            with np.errstate(over="ignore", invalid="ignore"):
                moments[code] = mine if before is None else before + mine
    known = [of for of in moments if of is not None]
    return Survey(
        classes,
        np.array([piece.n_rows for piece in found], dtype=np.intp),
        counts,
        np.array([of.total for of in known]),
        np.array([of.least for of in known]),
        np.array([of.largest for of in known]),
        np.array([of.mean for of in known]),
        np.array([of.scatter for of in known]),
    )


def _look(number: int, piece: Piece) -> PieceSurvey:
    X, y = piece.X, piece.y
    problem = _problem(piece)
    if problem is not None:
        return PieceSurvey(problem=problem)
    n, d = X.shape
    weights = np.ones(n) if piece.weights is None else piece.weights
    counted = weights > 0.0
    if y is None:
        labels, codes = np.zeros(1, dtype=np.intp), np.zeros(n, dtype=np.intp)
    else:
        labels, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes[counted], minlength=labels.size)
    moments: list[ClassMoments] = []
    # a few rows at a time: copies of a whole piece would not fit beside it
    for first in range(0, max(1, n), _AT_ONCE):
        part = slice(first, min(first + _AT_ONCE, n))
        rows = X[part].astype(np.float64)
        for code in range(labels.size):
            mine = np.flatnonzero((codes[part] == code) & counted[part])
            with np.errstate(over="ignore", invalid="ignore"):
                found = ClassMoments.of(rows[mine], weights[part][mine])
                if first:
                    moments[code] = moments[code] + found
                else:
                    moments.append(found)
    return PieceSurvey(n, d, labels, counts.tolist(), moments)


def _problem(piece: Piece) -> str | None:
    """What is wrong with a piece, or None."""
    X, y, weights = piece.X, piece.y, piece.weights
    if X.ndim != 2:
        return f"must have rows and columns, and has the shape {X.shape}"
    if X.dtype.kind not in "fiub":
        return f"must hold numbers, and holds {X.dtype}"
    numbers = stored_numbers(X)
    if not all(
        np.isfinite(numbers[first : first + _AT_ONCE]).all()
        for first in range(0, len(numbers), _AT_ONCE)
    ):
        return "contains NaN or infinity; impute or drop these rows first"
    for name, column in (("y", y), ("sample_weight", weights)):
        if column is not None and column.shape != (X.shape[0],):
            return f"has {X.shape[0]} rows, but {name} there has the shape {column.shape}"
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        return "has a sample_weight that is negative, NaN or infinite"
    if y is None:
        return None
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        return "has labels that are NaN or infinite"
    try:
        check_classification_targets(y)
    # labels of several types, such as text and None, cannot be sorted
    except (TypeError, ValueError) as error:
        return f"has labels of another kind than classes ({error})"
    return None
