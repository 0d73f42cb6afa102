"""Fewer rows that stand for all: evenly spaced ones, of each class in proportion."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray


def evenly_spaced(n: int, most: int) -> IndexArray:
    """At most this many of the numbers below n, the first and the last among them.

    Examples
    --------
    >>> evenly_spaced(9, 3)
    array([0, 4, 8])
    """
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def thinned(y: FloatArray, C: FloatArray, step: int, fewest: int) -> tuple[IndexArray, FloatArray]:
    """About every step-th row of each class, and the costs with which they stand for all of it.

    A class keeps at least ``fewest`` rows, if it has them; rows without cost are left out.

    Examples
    --------
    >>> index, costs = thinned(np.array([-1.0, 1.0, 1.0, 1.0, 1.0]), np.ones(5), 2, 1)
    >>> index, costs
    (array([0, 1, 4]), array([1., 2., 2.]))
    """
    index, costs = [], []
    for label in (-1.0, 1.0):
        members = np.flatnonzero((y == label) & (C > 0))
        chosen = members[evenly_spaced(members.size, max(fewest, members.size // step))]
        index.append(chosen)
        costs.append(C[chosen] * (C[members].sum() / C[chosen].sum()))
    return np.concatenate(index), np.concatenate(costs)
