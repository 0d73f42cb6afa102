"""The widths of the kernel, learned along with the vectors and judged by rows held out.

W(Z) falls with the width as well, and its derivative costs no more than that in the vectors; but
at another width W measures another norm, so it alone would over-fit. A share of the rows is held
out. First gamma is divided or multiplied by three as long as that lowers the loss of these rows;
then the search goes down in vectors and width together, and the width is taken at which their loss
is least. From there it goes on with one width per feature, if that is asked for. Where the guard
has nothing to do with W, smaller factors take the place of the descent. Where no width is better
than the one given, that one stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray, IndexArray, Rows
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import with_gamma
from kernelet.learners.direct.kernel_learning.guards import Guard
from kernelet.learners.direct.kernel_learning.widths import OneWidth, WidthPerFeature, Widths
from kernelet.learners.direct.search.descent import MEMORY
from kernelet.learners.direct.search.inner_problem import (
    DivisibleProblem,
    InnerProblem,
    SearchProblem,
)
from kernelet.learners.direct.search.learn import SearchLimits, learn_direct
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation

# One row in _EVERY is held out, as for a cost; if these are fewer than _FEWEST, no kernel is
# learned: their loss could not distinguish two.
_EVERY = 4
_FEWEST = 5
# How far gamma may go: beyond, a kernel is next to constant or next to zero between most rows. And
# the steps without a better guard after which the search along W ends: W goes on falling where it
# fits noise, and the guard comes back to its least only by chance.
_FARTHEST = 1e4
_PATIENCE = 15
# Steps over the vectors after gamma has changed by this factor: they start near their end. Two
# factors of three are a decade, and the descent that follows finds what lies between.
_SHORT = 30
_FACTOR = 3.0
# A volume does not change with the width while all rows see each other, or none does: five steps
# are a factor of 243.
_BLIND = 5
# One width per feature adds parameters, so it has to gain ten times as much as one for all.
_WORTH_PER_FEATURE = 1e-2
# L-BFGS ends here where the guard has not ended it: far below any step that the guard notices.
_ENDS = {"ftol": 1e-9, "gtol": 1e-6}


@dataclass(frozen=True, eq=False)
class LearnedKernel:
    """The kernel, and the share by which the guard fell."""

    kernel: Kernel
    gain: float
    interrupted: bool = False


def learn_widths(
    X: Rows,
    kernel: RadialKernel,
    problem: SearchProblem,
    vectors: FloatArray,
    make_guard: Callable[[IndexArray], Guard],
    limits: SearchLimits,
    *,
    per_feature: bool = False,
    seed: int,
) -> LearnedKernel:
    """Learn gamma of a radial kernel with the vectors, guarded by rows held out.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kernel : RadialKernel
        Where the search starts.
    problem : DivisibleProblem
    vectors : ndarray of shape (m, d)
    make_guard : callable
        From the indices of the rows held out.
    limits : SearchLimits
        Steps over the vectors alone, again over both, and again with a width per feature.
    per_feature : bool, default=False
        Whether to go on with one width per feature.
    seed : int
        Draws the rows held out.

    Returns
    -------
    LearnedKernel
        The kernel given, with a gain of zero, where no other is better or there are too few rows
        to compare kernels.
    """
    n, max_iter, tol = X.shape[0], limits.max_iter, limits.tol
    order = np.random.default_rng(seed).permutation(n)
    held, kept = np.sort(order[: n // _EVERY]), np.sort(order[n // _EVERY :])
    if held.size < _FEWEST:
        return LearnedKernel(kernel, 0.0)
    assert isinstance(problem, DivisibleProblem)
    inner = problem.subset(kept)
    guard = make_guard(held)
    given = learn_direct(
        X[kept], kernel, inner, vectors, max_iter=max_iter, tol=tol, random_state=seed
    )
    search = _Search(X[kept], inner, given.best, guard, kernel)
    interrupted = given.interrupted
    try:
        if not interrupted:
            blind = 0 if guard.follows_objective else _BLIND
            interrupted = search.approach(_FACTOR, blind, tol, seed)
        if not interrupted and not guard.follows_objective:
            interrupted = search.approach(_FACTOR**0.5, 0, tol, seed)
        elif not interrupted:
            search.run(OneWidth(search.nearest), max_iter)
            if per_feature:
                search.run_per_feature(max_iter)
    except KeyboardInterrupt:
        interrupted = True
    gain = 1.0 - search.least / search.first if search.first > 0.0 else 0.0
    if gain < guard.worth:
        return LearnedKernel(kernel, 0.0, interrupted)
    return LearnedKernel(search.best, gain, interrupted)


class _Search:
    """L-BFGS over (Z, log widths), which remembers the kernel of the least guard."""

    def __init__(
        self, X: Rows, inner: InnerProblem, at: Evaluation, guard: Guard, kernel: RadialKernel
    ) -> None:
        self.objective = MarginalObjective(X, kernel, inner)
        self.guard = guard
        self.nearest = kernel  # of those with one width
        self.best: Kernel = kernel
        self.first = self.least = guard(at.machine)
        self.at = at

    def run(self, widths: Widths, max_iter: int) -> None:
        """Go down in both until the guard has not fallen for a while."""
        self.waited = 0
        shape, unit = self.at.vectors.shape, abs(self.at.value) or 1.0
        scale = float(np.sqrt(np.mean(np.var(self.at.vectors, axis=0)))) or 1.0
        split = self.at.vectors.size

        def value(z: FloatArray) -> tuple[float, FloatArray]:
            self.objective.kernel = widths.kernel(z[split:])
            self.last = at = self.objective(z[:split].reshape(shape) * scale)
            slopes = widths.derivatives(self.objective.X, at)
            gradient = np.append(at.gradient.ravel() * scale, slopes)
            return at.value / unit, gradient / unit

        span = float(np.log(_FARTHEST))
        with np.errstate(divide="ignore"):  # as in `descent`
            minimize(
                value,
                np.append(self.at.vectors.ravel() / scale, np.zeros(widths.size)),
                jac=True,
                method="L-BFGS-B",
                bounds=[(None, None)] * split + [(-span, span)] * widths.size,
                callback=self._accepted,
                options={"maxiter": max_iter, "maxcor": MEMORY, **_ENDS},
            )

    def run_per_feature(self, max_iter: int) -> None:
        """Go on with one width per feature, from the best that all have in common."""
        before = self.least
        self.run(WidthPerFeature(self.nearest, self.at.vectors.shape[1]), max_iter)
        if self.least > (1.0 - _WORTH_PER_FEATURE) * before:
            self.best, self.least = self.nearest, before

    def _accepted(self, intermediate_result: object) -> None:
        value = self.guard(self.last.machine)
        self.waited += 1
        if value < self.least:
            self.waited, self.least, self.at = 0, value, self.last
            self.best = self.last.kernel
            if isinstance(self.best, RadialKernel):
                self.nearest = self.best
        if self.waited >= _PATIENCE:
            raise StopIteration

    def approach(self, factor: float, blind: int, tol: float, seed: int) -> bool:
        """Change gamma by a factor while the guard falls; returns whether Ctrl-C came.

        ``blind`` is the number of steps in a row that need not lower it.
        """
        for times in (1.0 / factor, factor):
            kernel, lost = self.nearest, 0
            while lost <= blind:
                kernel = with_gamma(kernel, times * kernel.gamma)
                end = learn_direct(
                    self.objective.X,
                    kernel,
                    self.objective.inner,
                    self.at.vectors,
                    max_iter=_SHORT,
                    tol=tol,
                    random_state=seed,
                )
                value = self.guard(end.best.machine)
                if end.interrupted:
                    return True
                if value < (1.0 - self.guard.worth) * self.least:
                    lost, self.least, self.at = 0, value, end.best
                    self.best = self.nearest = kernel
                else:
                    lost += 1
        return False
