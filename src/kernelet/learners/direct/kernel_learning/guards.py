"""What rows held out have to say about the width of a kernel."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray, Rows, dense
from kernelet.learners.direct.search.inner_problem import LossProblem
from kernelet.machine import KernelMachine

# Rows of the reference measure, so that they leave an area a standard error of at most
# 0.5 / sqrt(2000) = 0.011; and the numbers they may hold in all, 128 MB.
_REFERENCE_ROWS = 2000
_REFERENCE_NUMBERS = 1 << 24


class Guard(Protocol):
    """A figure of machines, the lower the better, that can be compared between widths."""

    @property
    def follows_objective(self) -> bool:
        """Whether going down in W by the width tends to lower it."""
        ...

    @property
    def worth(self) -> float:
        """The share that it has to fall by: less is noise."""
        ...

    def __call__(self, machine: KernelMachine) -> float: ...


@final
class HeldOutLoss(Guard):
    """The loss of rows held out."""

    follows_objective = True
    # a mean over the same rows, whose noise mostly cancels between two machines
    worth = 1e-3

    def __init__(self, X: Rows, problem: LossProblem) -> None:
        self.X, self.problem = X, problem

    def __call__(self, machine: KernelMachine) -> float:
        scores = machine.decision_function(self.X)
        return self.problem.loss(scores.reshape(self.X.shape[0], -1))


@final
class HeldOutVolume(Guard):
    r"""How much of a reference measure a level set holds that holds rows held out.

    .. math:: \sum_i p_i \, \mu\{x : f(x) > f(x_i)\}

    A set of high density has little volume for the rows that it holds; as a problem of two classes,
    rows against a reference, this is one minus the area under the curve, and can be compared
    between any two machines. The uniform measure knows nothing in many dimensions, where all of it
    is far from all rows; the product of the distributions of the features, from which one draws by
    shuffling columns, is as near as can be without what makes rows of features.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        Rows held out.
    weights : ndarray of shape (n,)
    reference : ndarray of shape (n_reference, d)
        See `shuffled_features`.

    References
    ----------
    I. Steinwart, D. Hush, C. Scovel, "A classification framework for anomaly detection", JMLR 6
    (2005).
    """

    # W falls as the kernel grows wider, down to one that does not distinguish the rows
    follows_objective = False
    # ranks among random rows are noisier than a loss
    worth = 1e-2

    def __init__(self, X: Rows, weights: FloatArray, reference: FloatArray) -> None:
        self.X, self.shares = X, weights / weights.sum()
        self.reference = reference

    def __call__(self, machine: KernelMachine) -> float:
        others = np.sort(machine.decision_function(self.reference))
        scores = machine.decision_function(self.X)
        # equal scores count half
        below = sum(np.searchsorted(others, scores, side) for side in ("left", "right"))
        return 1.0 - float(self.shares @ below) / (2 * others.size)


def shuffled_features(X: Rows, weights: FloatArray, seed: int) -> FloatArray:
    """Rows whose features are those of rows drawn by their weights, each feature by itself."""
    rng = np.random.default_rng(seed)
    n = max(1, min(_REFERENCE_ROWS, _REFERENCE_NUMBERS // X.shape[1]))
    drawn = rng.choice(X.shape[0], n, p=weights / weights.sum())
    shuffled: FloatArray = rng.permuted(np.asarray(dense(X[drawn]), dtype=np.float64), axis=0)
    return shuffled
