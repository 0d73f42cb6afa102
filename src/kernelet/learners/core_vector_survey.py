"""One pass over rows that are not in memory: labels, weights, moments for the kernel's width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from kernelet.learners.weights import class_weights

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
# Rows, labels and weights.
Piece = tuple[Any, NDArray[Any], FloatArray]


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over the rows tells, for each class.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Labels.
    firsts : ndarray of shape (k,)
        The first row of a positive weight, or -1.
    counts : ndarray of shape (k,)
        Rows.
    totals, least : ndarray of shape (k,)
        Sum of the weights, and the smallest that is not zero.
    sums, squares : ndarray of shape (k, d)
        Weighted sums of x - shift and of its squares.
    shift : ndarray of shape (d,)
    n_rows : int
    """

    classes: NDArray[Any]
    firsts: IndexArray
    counts: IndexArray
    totals: FloatArray
    least: FloatArray
    sums: FloatArray
    squares: FloatArray
    shift: FloatArray
    n_rows: int

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Survey:
        found: dict[Any, list[Any]] = {}
        n_rows, shift = 0, None
        for X, y, weights in pieces:
            is_dense = not sparse.issparse(X)
            if not np.isfinite(X if is_dense else X.data).all():
                raise ValueError("X contains NaN or infinity; impute or drop these rows first.")
            if not np.isfinite(weights).all() or (weights < 0.0).any():
                raise ValueError("sample_weight must hold finite weights that are not negative.")
            if shift is None:
                # moments about a typical row keep their digits
                shift = X.mean(axis=0, dtype=np.float64) if is_dense else np.zeros(X.shape[1])
            check_classification_targets(y)
            for label in np.unique(y).tolist():
                rows = np.flatnonzero((y == label) & (weights > 0.0))
                part, w = X[rows], weights[rows]
                part = part - shift if is_dense else part
                square = part * part if is_dense else part.multiply(part)
                new = [rows.size, w.sum(), w.min(initial=np.inf), w @ part, w @ square]
                first = n_rows + int(rows[0]) if rows.size else -1
                if label not in found:
                    found[label] = [first, *new]
                    continue
                old = found[label]
                old[0] = first if old[0] < 0 else old[0]
                old[1], old[2] = old[1] + new[0], old[2] + new[1]
                old[3] = min(old[3], new[2])
                old[4], old[5] = old[4] + new[3], old[5] + new[4]
            n_rows += y.size
        if not found:
            raise ValueError("there are no rows.")
        order = sorted(found)
        columns = list(zip(*(found[label] for label in order), strict=True))
        return cls(
            classes=np.array(order),
            firsts=np.array(columns[0], dtype=np.intp),
            counts=np.array(columns[1], dtype=np.intp),
            totals=np.array(columns[2], dtype=np.float64),
            least=np.array(columns[3], dtype=np.float64),
            sums=np.array(columns[4], dtype=np.float64),
            squares=np.array(columns[5], dtype=np.float64),
            shift=np.asarray(shift, dtype=np.float64),
            n_rows=n_rows,
        )

    @property
    def n_features(self) -> int:
        return int(self.sums.shape[1])

    def factors(self, estimator: Any, who: str) -> FloatArray:
        """Class weights; 0 for a class that has no row of a positive weight."""
        weight: Mapping[Any, float] | str | None = estimator.class_weight
        factors = class_weights(weight, self.classes, np.arange(self.classes.size), self.totals)
        factors = np.where(self.totals > 0.0, factors, 0.0)
        if np.count_nonzero(factors) < 2:
            present = self.classes[factors > 0.0].tolist()
            raise ValueError(
                f"{who} needs rows of at least two classes; with a positive weight there is only "
                f"one class: {present}."
            )
        return factors

    def gamma(self, gamma: float | str, factors: FloatArray) -> float | str:
        """A number for the gammas that depend on the rows."""
        if not isinstance(gamma, str) or gamma not in ("scale", "mean_distance"):
            return gamma
        total = float(factors @ self.totals)
        offset = (factors @ self.sums) / total
        variances = (factors @ self.squares) / total - offset**2
        spread = float(variances.sum())
        if gamma == "mean_distance":
            return 1.0 / (2.0 * spread) if spread > 0.0 else 1.0
        # of all numbers together: within the columns, and between their means
        whole = spread + self.n_features * float((self.shift + offset).var())
        return 1.0 / whole if whole > 0.0 else 1.0
