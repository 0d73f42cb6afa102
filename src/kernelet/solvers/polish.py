"""Multipliers to the last digit, once the interior point has told which of them are free."""

from __future__ import annotations

import numpy as np

from kernelet.solvers.solution import FloatArray

# A multiplier within this share of its bounds counts as being at the bound.
_AT_BOUND = 1e-5


def polish(
    A: FloatArray, linear: FloatArray, u: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Solve the KKT equations of hinge + ridge for the free multipliers a in (0, u).

    Free rows lie on the margin, A_i v = 1; the others keep the bound they are at. Returns the
    weights and multipliers, or None when the guess of the free rows was wrong.
    """
    m = A.shape[1] - 1
    free = (a > _AT_BOUND * u) & (a < (1.0 - _AT_BOUND) * u)
    n_free = int(np.count_nonzero(free))
    if n_free == 0 or n_free > m + 1:
        return None
    exact = np.where(a >= 0.5 * u, u, 0.0)
    exact[free] = 0.0
    q = exact @ A + linear
    F = A[free]
    system = np.zeros((n_free + 1, n_free + 1))
    system[:-1, :-1] = F[:, :m] @ F[:, :m].T
    system[:-1, -1] = system[-1, :-1] = F[:, m]
    rhs = np.append(1.0 - F[:, :m] @ q[:m], -q[m])
    solved, *_ = np.linalg.lstsq(system, rhs, rcond=None)
    inside = (solved[:-1] >= 0.0) & (solved[:-1] <= u[free])
    if not (np.isfinite(solved).all() and inside.all()):
        return None
    exact[free] = solved[:-1]
    return q[:m] + solved[:-1] @ F[:, :m], exact
