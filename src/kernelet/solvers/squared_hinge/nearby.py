r"""Problems with squared losses over the same rows, from the solutions of nearby problems.

.. math:: F_k(w, b) = \tfrac12 w^\top w + \sum_i C_i\, \bigl(f_{ik} - [f_{ik}]_{l_{ik}}^{u_{ik}}
    \bigr)^2, \qquad f_{ik} = \phi_i^\top w + b

A score costs the square of its distance from an interval: that around a target for regression, all
that is at least 1 or at most -1 for the squared hinge. In a search over vectors each problem
differs little from the one before, so Newton's method (`nearby_newton`) begins next to the solution
and takes one to three steps. Where a step does not lower F enough, or digits run out, the answer is
None, and a solver that assumes nothing of its start has to be asked
(`kernelet.solvers.squared_hinge_ridge_many`, `squared_interval_ridge`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.solvers.rounding import TINY
from kernelet.solvers.squared_hinge.nearby_newton import Intervals, NearbyNewton

# The tolerance for a search over features: what is left after the last step is smaller by its
# square. With ten times as much, searches for vectors on letter and usps end early.
SEARCH_TOL = 3e-3
# Newton systems for each problem. Next to a solution one to three are enough; after this many a
# solver that assumes nothing of its start has to be asked.
_MAX_STEPS = 20


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines over the same rows, and what proves them.

    Attributes
    ----------
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    pulls : ndarray of shape (n, k)
        2 C_i times what the scores lack to their intervals: minus the derivatives of the losses.
    values : ndarray of shape (k,)
        F of each.
    gaps : ndarray of shape (k,)
        Relative duality gaps.
    n_iter : int
        Newton systems, in all.
    """

    weights: FloatArray
    intercepts: FloatArray
    pulls: FloatArray
    values: FloatArray
    gaps: FloatArray
    n_iter: int


def squared_losses_nearby(
    Phi: FloatArray,
    intervals: Intervals,
    C: FloatArray,
    weights: FloatArray,
    intercepts: FloatArray,
    *,
    slopes: FloatArray | None = None,
    tol: float,
    prove: bool = True,
) -> Machines | None:
    """Solve all problems from machines that are nearly theirs.

    Parameters
    ----------
    Phi : ndarray of shape (n, m)
        In single precision, products with it are; sums of losses and factors are in double.
    intervals : Intervals
        Of the problems, in the precision of Phi.
    C : ndarray of shape (n,)
        Costs, all positive.
    weights : ndarray of shape (m, k)
    intercepts : ndarray of shape (k,)
    slopes : ndarray of shape (n, k), default=None
        Derivatives of the losses at the solution of a nearby problem over other features of the
        same rows. Which rows have a loss changes less from one problem to the next than the scores
        of its weights do (on letter a fifth as many rows), so that the machines begin where these
        rows want them, and not with the weights and intercepts.
    tol : float
        Relative duality gap to reach.
    prove : bool, default=True
        Whether to compute duality gaps, and to go on until they are reached. Without, a problem
        ends with the first step that promises less than the tolerance.

    Returns
    -------
    Machines or None
        None if the tolerance was not reached.

    Examples
    --------
    >>> Phi = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> y, C = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.full(4, 10.0)
    >>> found = squared_losses_nearby(
    ...     Phi, Intervals.of_labels(y), C, np.array([[0.9]]), np.array([-1.9]), tol=1e-9
    ... )
    >>> print(found.weights.round(6), found.intercepts.round(6), bool(found.gaps.max() < 1e-9))
    [[0.97561]] [-1.95122] True
    """
    if not Phi.shape[1]:  # the kernel is zero: a bias is all there is to find
        return None
    newton = NearbyNewton(Phi, intervals, C, weights, intercepts, slopes)
    pending = np.arange(intercepts.size)
    for _ in range(_MAX_STEPS):
        pending = newton.step(pending, tol)
        if not newton.is_sound:
            return None
        if not pending.size:
            if not prove:
                return _promised(newton)
            found = _proven(newton)
            if found.gaps.max(initial=0.0) <= tol:
                return found
            pending = np.flatnonzero(found.gaps > tol)
    return None


def _promised(newton: NearbyNewton) -> Machines:
    """The machines, with what their last steps promised in place of gaps."""
    newton.look()
    gaps = newton.hopes / np.maximum(newton.values, TINY)
    pulls = newton.lacks * (2.0 * newton.C).astype(newton.lacks.dtype)
    return Machines(
        newton.weights.T, newton.intercepts, pulls.T, newton.values, gaps, newton.n_iter
    )


def _proven(newton: NearbyNewton) -> Machines:
    """The machines with their duality gaps.

    The pulls g of the side, upwards or downwards, with the larger sum are scaled down, so that both
    are in balance.
    """
    newton.look()
    W, losses = newton.weights, newton.losses
    pulls = newton.lacks * (2.0 * newton.C)
    signed, total = pulls.sum(axis=1), np.abs(pulls).sum(axis=1)
    both = 0.5 * np.stack([total - signed, total + signed])
    share = np.divide(both.min(axis=0), both, out=np.zeros_like(both), where=both > 0.0)
    # with the shares s of the pulls the distance of the dual value is
    # 1/2 |w - Phi'g|^2 + sum_i (1 - s_i)^2 C_i lack_i^2: no term is negative
    balanced = pulls * np.where(pulls > 0.0, share[1][:, None], share[0][:, None])
    rest = W - balanced @ newton.Phi[:, 1:]
    upwards = np.square(np.maximum(newton.lacks, 0.0)) @ newton.C
    distances = 0.5 * np.square(rest).sum(axis=1)
    distances += (1.0 - share[1]) ** 2 * upwards + (1.0 - share[0]) ** 2 * (losses - upwards)
    values = newton.values
    gaps = np.divide(distances, values, out=np.full(values.size, np.inf), where=values > 0.0)
    gaps[distances == 0.0] = 0.0
    return Machines(W.T, newton.intercepts, pulls.T, values, gaps, newton.n_iter)
