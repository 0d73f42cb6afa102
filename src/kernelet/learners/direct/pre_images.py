"""Rows from their features: a small machine that learns the inverse."""

from __future__ import annotations

import numpy as np

from kernelet.kernels import Gaussian
from kernelet.kernels.numerics.arrays import FloatArray, Rows, dense
from kernelet.learners.base.training_kernel import gamma_of_weighted_rows
from kernelet.learners.direct.problems.ridge import RidgeProblem, leave_one_out
from kernelet.learners.direct.search.learn import learn_direct
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.result import Descent
from kernelet.machine import KernelMachine

# The leave-one-out error chooses among these costs, in units of the rows' variance: powers of ten,
# as for C="auto", from strong regularisation to almost none.
_COSTS = (1.0, 1e1, 1e2, 1e3, 1e4)


def learn_pre_images(
    machine: KernelMachine, X: Rows, weights: FloatArray, max_iter: int, tol: float, seed: int
) -> Descent:
    """A machine from the outputs of another back to its rows, with the same number of vectors.

    It is learned by kernel ridge regression with the direct method. The first vectors are the
    features of the other machine's vectors, the width is that of the features, and the cost is
    the one with the least leave-one-out error at the start.

    Parameters
    ----------
    machine : KernelMachine
        Computes features.
    X : array or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    max_iter : int
    tol : float
    seed : int

    Returns
    -------
    Descent
        Of its machine the features are the outputs of the other, and the outputs its features.
    """
    rows = np.asarray(dense(X), dtype=np.float64)
    features = _features(machine, rows)
    start = _features(machine, np.asarray(machine.vectors, dtype=np.float64))
    kernel = Gaussian(float(gamma_of_weighted_rows("scale", features, weights)))
    errors = []
    for C in _COSTS:
        problem = RidgeProblem(rows, C * weights)
        fitted = MarginalObjective(features, kernel, problem).without_gradient(start).machine
        deviations = leave_one_out(fitted, features, rows, weights, C, True)
        errors.append(float(weights @ np.square(deviations).sum(axis=1)))
    problem = RidgeProblem(rows, _COSTS[int(np.argmin(errors))] * weights)
    return learn_direct(
        features, kernel, problem, start, max_iter=max_iter, tol=tol, random_state=seed
    )


def _features(machine: KernelMachine, rows: FloatArray) -> FloatArray:
    outputs: FloatArray = machine.decision_function(rows)
    return outputs.reshape(rows.shape[0], -1)
