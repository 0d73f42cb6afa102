"""Warnings of kernels and columns that leave a search over vectors nothing to go by.

Where kernel values are next to 0, or next to 1, for nearly all rows, W is flat: the search ends
where it began, and looks as if it had converged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import Rows, is_sparse
from kernelet.learners.direct.search.objective import Evaluation

# Rows by which kernel values are judged, spread evenly: a share of 90 % is known to 1.3 points.
_ROWS = 500
# Kernel values below this add nothing to a score; above the other, rows are all the same. On six
# standardised features the first is met from gamma = 10 on, the second up to gamma = 1e-3, where
# errors are several times those of gamma="scale".
_NOTHING = 1e-6
_SAME = 0.99
# The share of the rows that has to be met: a few lie far from all others in any data.
_MOST = 0.9
# A column's standard deviation over that without its most extreme rows, one in a thousand: above
# this, what is left of the column is below a thirtieth of its unit, and is lost.
_STRETCHED = 30.0
_EXTREME = 1e-3
# A column that a few rows make the unit of has one of them at least at this share of where it would
# be if they were all equally far; the rest is room for the mean, which they move.
_SUSPECT = 0.9
# Columns that are looked at together: the memory of 64 columns is small beside that of the rows.
_COLUMNS_AT_ONCE = 64


def warn_of_flat_kernel(
    estimator: object, X: Rows, given: Kernel, ends: Sequence[Evaluation]
) -> None:
    """Warn where neither the kernel given nor the one learned distinguishes the rows.

    Parameters
    ----------
    estimator : estimator
        Named in the warning.
    X : array or CSR of shape (n, d)
    given : Kernel
    ends : sequence of Evaluation
        Where the searches ended, one for each set of vectors.
    """
    gamma = getattr(given, "gamma", getattr(getattr(given, "kernel", None), "gamma", None))
    is_bounded = given.has_constant_diagonal and given.is_translation_invariant
    if gamma is None or not is_bounded or any(end.vectors.shape[0] == 0 for end in ends):
        return
    rows = X[:: max(1, X.shape[0] // _ROWS)]
    if rows.shape[0] < 2:
        return
    problems = {_problem([given] * len(ends), ends, rows)}
    problems.add(_problem([end.kernel for end in ends], ends, rows))
    problem = problems.pop()
    if problems or problem is None:
        return
    name = type(estimator).__name__
    if problem == "nothing":
        warn_caller(
            f"{name}: the kernel is next to 0 between the vectors and nearly all rows, for which "
            f"the model predicts a constant: gamma = {gamma:.3g} is too large for the distances "
            'in X. Try gamma="scale" or a smaller gamma, or scale the columns of X.'
        )
    else:
        warn_caller(
            f"{name}: the kernel is nearly the same between all rows and vectors: gamma = "
            f'{gamma:.3g} is too small for the distances in X. Try gamma="scale" or a larger '
            "gamma, or scale the columns of X."
        )


def _problem(kernels: Sequence[Kernel], ends: Sequence[Evaluation], rows: Rows) -> str | None:
    """What nearly all rows have in common: "nothing" or "the same"."""
    K = np.hstack([k(rows, end.vectors) for k, end in zip(kernels, ends, strict=True)])
    K = K / kernels[0].largest_value
    if np.mean(K.max(axis=1) < _NOTHING) > _MOST:
        return "nothing"
    return "the same" if np.mean(K.min(axis=1) > _SAME) > _MOST else None


def warn_of_outliers(estimator: object, X: Rows) -> None:
    """Warn where a few rows lie so far out in a column that all others are the same in it.

    Parameters
    ----------
    estimator : estimator
        Named in the warning.
    X : array or CSR of shape (n, d)
        Sparse rows are not looked at.
    """
    if is_sparse(X) or X.shape[0] < 3:  # without one of two rows there is no spread
        return
    stretched = [
        first + column
        for first in range(0, X.shape[1], _COLUMNS_AT_ONCE)
        for column in _stretched(np.asarray(X[:, first : first + _COLUMNS_AT_ONCE], np.float64))
    ]
    if not stretched:
        return
    column = stretched[0]
    names = getattr(estimator, "feature_names_in_", None)
    named = f"column {column}" if names is None else f"column {names[column]!r}"
    more = f" (and {len(stretched) - 1} more)" if len(stretched) > 1 else ""
    row = int(np.abs(X[:, column] - np.median(X[:, column])).argmax())
    warn_caller(
        f"{type(estimator).__name__}: a few rows lie so far out in {named}{more}, up to "
        f"{X[row, column]:.3g}, that all others are nearly the same in it. Clip the column, drop "
        "these rows, or use sklearn.preprocessing.QuantileTransformer."
    )


def _stretched(X: NDArray[np.float64]) -> list[int]:
    """Columns whose unit is made by one row in a thousand, or by a single row."""
    n = X.shape[0]
    n_extreme = max(1, int(_EXTREME * n))
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.abs(X - X.mean(axis=0))
        size = np.sqrt(np.mean(np.square(deviations), axis=0))
        # for n_extreme rows to make a unit, one of them has to be at least this far out
        suspects = np.flatnonzero(deviations.max(axis=0) > _SUSPECT * np.sqrt(n / n_extreme) * size)
    found = []
    for column in suspects:
        x = X[:, column]
        order = np.argsort(np.abs(x - np.median(x)), kind="stable")
        rest = float(np.std(x[order[:-n_extreme]]))
        # none is left of an indicator that is 1 in a few rows
        if 0.0 < rest * _STRETCHED < size[column]:
            found.append(int(column))
    return found
