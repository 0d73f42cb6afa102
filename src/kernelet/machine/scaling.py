"""Scalers of scikit-learn, with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, is_sparse


@dataclass(frozen=True, eq=False)
class Scaling:
    """One number for each column in one to four steps, in this order; None leaves a step out.

    Attributes
    ----------
    subtracted, divided, multiplied, added : ndarray of shape (d,), or None
    limits : (float, float) or None
        Between which numbers are clipped.

    Examples
    --------
    >>> Scaling(subtracted=np.array([1.0, 0.0]), divided=np.array([2.0, 4.0])).applied(
    ...     np.array([[5.0, 2.0]])
    ... )
    array([[2. , 0.5]])
    """

    subtracted: FloatArray | None = None
    divided: FloatArray | None = None
    multiplied: FloatArray | None = None
    added: FloatArray | None = None
    limits: tuple[float, float] | None = None

    def applied(self, rows: Rows) -> FloatArray:
        """The scaled rows, which are dense, in the type that they had."""
        given: Any = rows
        scaled: FloatArray = given.toarray() if is_sparse(rows) else np.array(given)
        # in place, so that rows in single precision are rounded where scikit-learn rounds them
        if self.subtracted is not None:
            scaled -= self.subtracted
        if self.divided is not None:
            scaled /= self.divided
        if self.multiplied is not None:
            scaled *= self.multiplied
        if self.added is not None:
            scaled += self.added
        if self.limits is not None:
            np.clip(scaled, *self.limits, out=scaled)
        return scaled
