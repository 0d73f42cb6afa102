"""Kernel ridge regression as an inner problem, and its leave-one-out error in closed form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.learners.direct.search.inner_problem import InnerSolution, Start
from kernelet.machine import KernelMachine
from kernelet.solvers.ridge_system import ridge_triangle
from kernelet.subspace import WhitenedMap


class RidgeProblem:
    r"""Squared loss, one target or several that share the vectors.

    .. math:: \sum_k \min_{w_k, b_k} \tfrac12 \|w_k\|^2
        + \tfrac12 \sum_i C_i (y_{ik} - \phi_i' w_k - b_k)^2

    A linear system of the size of the subspace, the same for all targets.

    Parameters
    ----------
    Y : ndarray of shape (n, k)
        Targets.
    C : ndarray of shape (n,)
        Cost of each row.
    fit_intercept : bool, default=True
        Whether there are biases; they are not penalised.
    """

    def __init__(self, Y: FloatArray, C: FloatArray, fit_intercept: bool = True) -> None:
        self.Y = Y
        self.C = C
        self.share = C / C.sum()
        self.fit_intercept = fit_intercept
        # what the biases take up is taken off first: targets far from zero keep their digits
        self.centre = self.share @ Y if fit_intercept else np.zeros(Y.shape[1])
        self.rest = Y - self.centre

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve the system; a start is not needed."""
        centred, middle = self._centred(Phi)
        W = self._solved(centred, centred.T @ (self.C[:, None] * self.rest))
        deviation = self.rest - centred @ W
        multipliers = self.C[:, None] * deviation
        value = 0.5 * float(np.vdot(W, W) + np.vdot(multipliers, deviation))
        # the dual point C (y - f) proves the value, 1/2 |w - Phi'C (y - f)|^2 below it
        lack = W - centred.T @ multipliers
        gap = 0.5 * float(np.vdot(lack, lack)) / max(value, np.finfo(np.float64).tiny)
        return InnerSolution(
            value=value,
            weights=W,
            intercepts=self.centre - middle @ W,
            score_gradient=-multipliers,
            norm_gradient=np.ones(W.shape[1]),
            gap=gap,
        )

    is_sum = True

    @property
    def n_outputs(self) -> int:
        """How many targets there are."""
        return int(self.Y.shape[1])

    @property
    def smooth(self) -> RidgeProblem:
        """The problem itself: its loss has a derivative."""
        return self

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """A linear system is solved as it is."""
        return self.solve(Phi.astype(np.float64, copy=False), start)

    def row_losses(self, solution: InnerSolution) -> FloatArray:
        """What each row costs at the solution, all targets together."""
        slopes = solution.score_gradient
        losses: FloatArray = np.einsum("ij,ij->i", slopes, slopes) / (2.0 * self.C)
        return losses

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> RidgeProblem:
        """The same problem over some of its rows, whose costs are multiplied."""
        return RidgeProblem(self.Y[index], scale * self.C[index], self.fit_intercept)

    def scaled(self, cost: float) -> RidgeProblem:
        """The same problem with all costs multiplied."""
        return self.subset(np.arange(self.C.size), cost)

    def loss(self, scores: FloatArray) -> float:
        """Half the squared deviations, weighted."""
        return 0.5 * float(self.C @ np.square(self.Y - scores).sum(axis=1))

    def leverages(self, Phi: FloatArray) -> FloatArray:
        """How far the prediction of each row moves with its own target, for a unit of cost."""
        centred, _ = self._centred(Phi)
        solved = self._solved(centred, centred.T)
        own: FloatArray = np.einsum("ij,ji->i", centred, solved)
        return own + 1.0 / self.C.sum() if self.fit_intercept else own

    def _centred(self, Phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.fit_intercept:
            return Phi, np.zeros(Phi.shape[1])
        middle = self.share @ Phi
        return Phi - middle, middle

    def _solved(self, centred: FloatArray, right: FloatArray) -> FloatArray:
        if not centred.shape[1]:  # the kernel is zero; SciPy before 1.14 solves no empty system
            return np.zeros_like(right)
        solved: FloatArray = cho_solve((ridge_triangle(centred, self.C), False), right)
        return solved


def leave_one_out(
    machine: KernelMachine, X: Rows, Y: FloatArray, weights: FloatArray, C: float, bias: bool
) -> FloatArray:
    """Deviations of each row from the machine that is fitted without it, the vectors held.

    A row of weight 2 counts as two rows, of which one is left out; one whose weight is below 1 is
    left out as a whole.

    Parameters
    ----------
    machine : KernelMachine
        The solution of the ridge problem over its vectors.
    X : array or CSR of shape (n, d)
    Y : ndarray of shape (n, k)
    weights : ndarray of shape (n,)
    C : float
        Cost of a row of weight 1.
    bias : bool
        Whether the machine has one.

    Returns
    -------
    ndarray of shape (n, k)
        y_i - f_{-i}(x_i) = (y_i - f(x_i)) / (1 - h_i), h_i the row's leverage.
    """
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    space = WhitenedMap.from_vectors(machine.kernel, vectors)
    h = RidgeProblem(Y, C * weights, bias).leverages(space.features(X))
    left_out = C * np.minimum(weights, 1.0)
    deviation: FloatArray = Y - machine.decision_function(X).reshape(Y.shape)
    # a row that alone decides its prediction says nothing about others
    kept = np.maximum(1.0 - left_out * h, np.sqrt(np.finfo(np.float64).eps))
    return deviation / kept[:, None]
