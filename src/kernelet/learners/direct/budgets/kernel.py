"""Which kernel to learn: where bytes are few, and where held-out rows compare what can be learned.

A scale for each feature leaves vectors as long as the rows; a projection onto r combinations costs
a matrix of r rows once, and makes every vector r numbers long. Where columns are many, a few
kilobytes then hold several times as many vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelet.learners.direct.budgets.tried import Tried
from kernelet.learners.direct.kernel_learning.choice import KernelTask, LearnedPart

# By validation on usps and optdigits in 4 bits, 8 combinations are best below about 1 kB, and 12 or
# 16 from there to 5 kB; 6 and 24 never are.
RANKS = (8, 12, 16)
# Vectors of the machines that kernels are compared by, at most: more take long, and change little.
MOST_COMPARED = 100
# Searches for a kernel: for few vectors, and for as many as fit.
N_SEARCHES = 2 * (1 + len(RANKS))


def kernels_to_try(task: KernelTask, n_features: int) -> list[KernelTask]:
    """What ``learn_kernel="auto"`` learns otherwise, and projections to fewer columns.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> tasks = kernels_to_try(KernelTask(Gaussian(1.0), LearnedPart.FEATURES), 12)
    >>> [(task.learn.value, task.rank) for task in tasks]
    [('features', None), ('projection', 8)]
    """
    if task.learn not in (LearnedPart.FEATURES, LearnedPart.PROJECTION):
        return [task]
    ranks = [rank for rank in RANKS if rank < n_features]
    return [task, *(replace(task, learn=LearnedPart.PROJECTION, rank=rank) for rank in ranks)]


@dataclass(frozen=True)
class ComparedKernel:
    """What is learned of a kernel, and how well the usual number of vectors then does."""

    learn: LearnedPart
    score: float
    standard_error: float
    is_chosen: bool

    @property
    def parameter(self) -> str | bool:
        """The value of ``learn_kernel`` that asks for it."""
        return True if self.learn is LearnedPart.WIDTH else self.learn.value


def kernels_to_compare(task: KernelTask, n_features: int) -> list[KernelTask]:
    """What ``learn_kernel="auto"`` learns otherwise, and what else can be learned.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> tasks = kernels_to_compare(KernelTask(Gaussian(1.0), LearnedPart.FEATURES), 12)
    >>> [task.learn.value for task in tasks]
    ['features', 'width', 'projection']
    """
    parts = (LearnedPart.WIDTH, LearnedPart.FEATURES, LearnedPart.PROJECTION)
    if task.learn not in parts[1:] or n_features == 1:
        return [task]
    return [task, *(replace(task, learn=part) for part in parts if part is not task.learn)]


def worth_it(tried: Sequence[Tried]) -> int:
    """The place of the best, if it is better than the first by a standard error; otherwise 0."""
    best = max(range(len(tried)), key=lambda k: tried[k].score)
    return best if tried[best].score > tried[0].score + tried[0].standard_error else 0
