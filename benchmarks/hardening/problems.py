"""Random problems as ugly as those of users: what `fits` gives to every estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix

MOST_ROWS = 60
# the largest power of ten by which columns and targets are scaled up or down
DIGITS = 8.0


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels or targets, plain and as an estimator gets them.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        Doubles.
    codes : ndarray of shape (n,)
        Classes, from 0 without gaps.
    values : ndarray of shape (n,)
        Targets.
    X, y : any
        Rows, and labels or targets, in one of the forms that users have.
    weights : ndarray of shape (n,) or None
    has_labels : bool
        Whether y holds labels.
    ugly : tuple of str
        What was done to them.
    """

    rows: np.ndarray
    codes: np.ndarray
    values: np.ndarray
    X: Any
    y: Any
    weights: Any
    has_labels: bool
    ugly: tuple[str, ...]

    @property
    def positive_weights(self) -> np.ndarray:
        """The weights as numbers, 1 where none are given."""
        return np.ones(len(self.rows)) if self.weights is None else np.asarray(self.weights)

    @property
    def plain(self) -> Problem:
        """The same rows and labels as arrays of their usual types."""
        return replace(self, X=self.rows, y=self.codes if self.has_labels else self.values)

    @property
    def y_codes(self) -> np.ndarray:
        """The labels as numbers from 0, in their order."""
        return np.unique(np.asarray(self.y), return_inverse=True)[1]

    def some(self, rows: Any) -> Problem:
        """Rows of a plain problem, in an order of any kind."""
        weights = None if self.weights is None else self.weights[rows]
        parts = {name: getattr(self, name)[rows] for name in ("rows", "codes", "values", "X", "y")}
        return replace(self, weights=weights, **parts)


def _rows(rng: np.random.Generator) -> np.ndarray:
    n = int(rng.integers(1, MOST_ROWS + 1)) if rng.random() < 0.8 else int(rng.integers(1, 8))
    shape = n, int(rng.integers(1, 8))
    kind = rng.choice(["normal", "uniform", "whole", "sparse", "heavy"])
    if kind == "uniform":
        return np.asarray(rng.random(shape))
    if kind == "whole":
        return rng.integers(-2, 3, shape).astype(float)
    if kind == "sparse":
        return rng.normal(size=shape) * (rng.random(shape) < 0.3)
    return rng.standard_t(1.5, shape) if kind == "heavy" else rng.normal(size=shape)


def _duplicated(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(X[rng.integers(0, max(1, len(X) // 3), len(X))])


def _one_point(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(X[:1], len(X), axis=0)


def _constant_column(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = rng.choice([0.0, 1.0, -0.1, 1e6, 1e10])
    return X


def _huge_column(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[:, rng.integers(X.shape[1])] *= 10.0 ** rng.choice([-12, 4, 6, 8, 12])
    return X


def _equal_columns(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(X[:, rng.integers(0, X.shape[1], X.shape[1])])


def _offset(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X + rng.choice([1e6, -1e6, 1e3, 1e9])


def _scaled(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(X * 10.0 ** rng.uniform(-DIGITS, DIGITS))


def _outlier(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[rng.integers(len(X))] *= 10.0 ** rng.uniform(2, DIGITS)
    return X


_WAYS = {
    "duplicates": (0.2, _duplicated),
    "one point": (0.02, _one_point),
    "a constant column": (0.15, _constant_column),
    "a huge column": (0.1, _huge_column),
    "equal columns": (0.1, _equal_columns),
    "an offset": (0.1, _offset),
    "units": (0.15, _scaled),
    "an outlier": (0.1, _outlier),
}


def _codes(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Classes by a curved boundary, at random, one row each, or one for all."""
    n, kind = len(X), rng.random()
    if kind < 0.03:
        return np.zeros(n, dtype=int)
    if kind < 0.07:
        return np.arange(n) % max(1, min(n, 12))
    if kind < 0.12:
        return (np.arange(n) == n - 1).astype(int)
    k = int(rng.choice([2, 2, 2, 3, 4, 5]))
    if kind < 0.3:
        return rng.integers(0, k, n)
    with np.errstate(all="ignore"):
        centred = X - X.mean(axis=0)
        scaled = centred / np.maximum(X.std(axis=0), 1e-300)
        score = np.sin(2.0 * scaled[:, 0]) + scaled.mean(axis=1) + 0.2 * rng.normal(size=n)
    ranks = np.argsort(np.argsort(score))
    return np.asarray(ranks * k // n)


def _values(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, kind = len(X), rng.random()
    if kind < 0.05:
        return np.full(n, rng.choice([0.0, 1.0, -1e6, 0.1]))
    spread = np.maximum(X.std(axis=0), 1e-300)
    values = np.sin(2.0 * ((X - X.mean(axis=0)) / spread)[:, 0]) + 0.1 * rng.normal(size=n)
    if rng.random() < 0.1:
        values[rng.integers(n)] *= 10.0 ** rng.uniform(1, 6)
    if rng.random() < 0.15:
        values = values * 10.0 ** rng.uniform(-DIGITS, DIGITS)
    if rng.random() < 0.15:
        values = values + rng.choice([1e6, -1e3, 1e9])
    return np.asarray(np.round(values) if rng.random() < 0.1 else values)


def _weights(n: int, rng: np.random.Generator) -> np.ndarray | None:
    kind = rng.random()
    if kind < 0.55:
        return None
    if kind < 0.7:
        return rng.integers(0, 4, n).astype(float)
    if kind < 0.75:
        return np.where(rng.random(n) < 0.5, 0.0, rng.random(n))
    if kind < 0.8:
        return np.asarray(10.0 ** rng.uniform(-DIGITS, DIGITS, n))
    if kind < 0.85:
        return np.full(n, 10.0 ** rng.uniform(-DIGITS, DIGITS))
    if kind < 0.87:
        return np.zeros(n)
    if kind < 0.89:
        return np.where(np.arange(n) == 0, rng.choice([-1.0, np.nan, np.inf]), 1.0)
    return np.asarray(rng.random(n))


LABELS = ("numbers", "strings", "objects", "signs", "floats", "bools", "bytes", "large", "unicode")


def labels_of(codes: np.ndarray, kind: str) -> Any:
    """Labels whose order is that of the codes."""
    if kind == "strings":
        return np.array([f"class {code:02d}" for code in codes])
    if kind == "objects":
        return np.array([f"{code:02d}" for code in codes], dtype=object)
    if kind == "signs" and codes.max(initial=0) < 2:
        return 2 * codes - 1
    if kind == "floats":
        return codes.astype(float)
    if kind == "bools" and codes.max(initial=0) < 2:
        return codes.astype(bool)
    if kind == "bytes":
        return codes.astype(np.uint8)
    if kind == "large":
        return codes.astype(np.int64) * 10**9 - 10**15
    if kind == "unicode":
        return _TEXTS[codes]
    return codes


# as many as there are classes at most
_TEXTS = np.array(
    sorted(["é", "\u202e<b>", '"', "日本", "😀", "a'b", "*/", "</script>", "\\", "ß", "%s", "{\n"])
)


def _dressed(X: np.ndarray, rng: np.random.Generator) -> tuple[Any, str]:
    kinds = ["doubles"] * 5 + [
        "float32", "csr", "csr matrix", "read-only", "pandas", "fortran", "lists", "slices", "whole"
    ]  # fmt: skip
    kind = str(rng.choice(kinds))
    if kind == "float32":
        X = X.astype(np.float32)
    elif kind.startswith("csr"):
        return (csr_array if kind == "csr" else csr_matrix)(X), kind
    elif kind == "read-only":
        X = X.copy()
        X.flags.writeable = False
    elif kind == "pandas":
        return pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]), kind
    elif kind == "fortran":
        X = np.asfortranarray(X)
    elif kind == "lists":
        return X.tolist(), kind
    elif kind == "slices":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif kind == "whole" and np.abs(X).max(initial=0.0) < 2**62:
        return X.astype(np.int64), kind
    return X, kind


def problem(rng: np.random.Generator, has_labels: bool) -> Problem:
    """Draw a problem of classification, or of regression."""
    X, ugly = _rows(rng), []
    for name, (share, way) in _WAYS.items():
        if rng.random() < share:
            X = way(X, rng)
            ugly.append(name)
    codes = np.unique(_codes(X, rng), return_inverse=True)[1]
    values = _values(X, rng)
    weights = _weights(len(X), rng)
    if rng.random() < 0.03:
        X = X.copy()
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
        ugly.append("not finite")
        given: Any = X
    else:
        given, kind = _dressed(X, rng)
        ugly.append(kind)
        with np.errstate(over="ignore"):
            dense = given.toarray() if hasattr(given, "toarray") else np.asarray(given)
        X = np.array(dense, dtype=np.float64)
    y: Any = values
    if has_labels:
        names = str(rng.choice(LABELS))
        y = labels_of(codes, names)
        ugly.append(names)
    elif rng.random() < 0.1:
        y = values.astype(np.float32)
        values = y.astype(np.float64)
    return Problem(X, codes, values, given, y, weights, has_labels, tuple(ugly))
