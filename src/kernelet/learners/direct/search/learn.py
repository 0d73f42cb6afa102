"""The direct method for any inner problem: the search over the vectors (section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelet.kernels import Kernel, require_input_gradient
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.kernels.radial import RadialKernel
from kernelet.learners.direct.kernel_learning.choice import KernelTask
from kernelet.learners.direct.kernel_learning.input_stage import are_distances_precise
from kernelet.learners.direct.kernel_learning.small_scales import without_small_scales
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.inner_problem import InnerProblem, Start
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.marginal_objective import MarginalObjective, SampledObjective
from kernelet.learners.direct.search.objective import Objective
from kernelet.learners.direct.search.out_of_core_objective import BlockObjective
from kernelet.learners.direct.search.result import Descent, Progress
from kernelet.learners.direct.search.rows import RowsInMemory, RowsOutOfCore, SearchRows
from kernelet.learners.direct.search.vector_exchange import resized, revived

# What is called after every step; the search ends when it returns True.
OnStep = Callable[[Progress], bool | None]

# The tolerance of inner solves, in units of tol: they need not be more accurate than the search
# over Z can notice, which ends where steps lower W by a share of a tenth of tol or less.
INNER_SHARE = 1e-2
# The least tolerance of a search that another one goes on from: the default of `SparseSVC`. What it
# would win by more steps belongs to another loss.
_FIRST_TOL = 1e-2
# L-BFGS goes on from a checkpoint without its memory: its first steps are small wherever it is. On
# digits a search that was broken off half way could end after three of them, at a W 11 % above.
UNJUDGED_STEPS = 10
# The vectors that memory is set aside for where there is no joint search, which knows how many
# there are. More only make the largest sample too large, in proportion to their kernel values.
_MANY_VECTORS = 100


@dataclass(frozen=True, eq=False)
class SearchStart:
    """At seeds, at the end of another search, or where one was broken off.

    Attributes
    ----------
    vectors : ndarray of shape (m, d)
    kernel : Kernel or None
        The one found with them; None for the one given.
    n_vectors : int or None
        Grow or shrink to this many first.
    n_steps : int
        Steps that a search which was broken off has taken.
    is_preliminary : bool
        Whether that was one from where another goes on.
    unit : float or None
        What its regulariser is measured in, where it has one.
    n_rows : int or None
        Rows that it had in use.
    solution : tuple of ndarray or None
        Its coefficients and intercepts.
    """

    vectors: FloatArray
    kernel: Kernel | None = None
    n_vectors: int | None = None
    n_steps: int = 0
    is_preliminary: bool = True
    unit: float | None = None
    n_rows: int | None = None
    solution: Start | None = None

    @property
    def is_prepared(self) -> bool:
        """Whether a preliminary search is at its end."""
        return self.n_steps > 0 and not self.is_preliminary


@dataclass(frozen=True)
class SearchLimits:
    """How far a search may go.

    Attributes
    ----------
    max_iter : int
        Steps in all.
    tol : float
        The search ends where steps lower W by less; see `minimize_over_vectors`.
    n_before : int
        Steps that an earlier search has taken.
    n_unjudged : int
        Steps at the beginning that may be as small as they like.
    """

    max_iter: int
    tol: float
    n_before: int = 0
    n_unjudged: int = 0


def learn_direct(
    X: Rows,
    kernel: Kernel,
    inner: InnerProblem,
    vectors: FloatArray,
    *,
    max_iter: int = 300,
    tol: float = 3e-3,
    n_vectors: int | None = None,
    random_state: int = 0,
) -> Descent:
    """Minimise W(Z) of an inner problem, from the given vectors.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    kernel : Kernel
    inner : InnerProblem
        The convex (or eigenvalue) problem over the features of the vectors.
    vectors : ndarray of shape (m, d)
        Where the search starts.
    max_iter : int, default=300
    tol : float, default=3e-3
    n_vectors : int, default=None
        Grow or shrink to this many vectors first.
    random_state : int, default=0
        Draws the rows that are looked at as new vectors.

    Returns
    -------
    Descent
    """
    require_input_gradient(kernel, "the direct method")
    return descend(
        MarginalObjective(X, kernel, inner),
        vectors,
        SearchLimits(max_iter, tol),
        n_vectors=n_vectors,
        random_state=random_state,
    )


def search_vectors(
    rows: SearchRows,
    task: KernelTask,
    start: SearchStart,
    *,
    max_iter: int,
    tol: float,
    seed: int = 0,
    is_trial: bool = False,
    on_step: OnStep | None = None,
) -> Descent:
    """The search over vectors, and over the kernel's scales, for rows wherever they are.

    Where the kernel is radial and the loss is smooth, or has a smooth twin, the search goes over
    both together. A loss that is not smooth is searched from where that ends, with the kernel that
    was found.

    Parameters
    ----------
    rows : SearchRows
    task : KernelTask
    start : SearchStart
    max_iter, tol
        As in `learn_direct`.
    seed : int
    is_trial : bool, default=False
        Whether only the end of the search counts: not what it gains, nor which features are left.
    on_step : callable, default=None
        Called after every step; the search ends when it returns True.
    """
    n_before = min(start.n_steps, max_iter - 1)
    limits = SearchLimits(max_iter, tol, n_before, UNJUDGED_STEPS if n_before else 0)
    is_twin = rows.inner.smooth is not rows.inner  # another loss, whose end is only a start
    joint = _joint_objective(rows, task, start, seed)
    objective: Objective = joint or _objective(rows, task.kernel, seed, start.n_rows or 0)
    is_first = joint is not None and is_twin
    first_limits = limits
    if is_first:
        steps = n_before if start.is_prepared else max(1, max_iter // 2)
        first_limits = replace(limits, max_iter=steps, tol=max(tol, _FIRST_TOL))
    first = descend(
        objective,
        start.vectors,
        first_limits,
        n_vectors=start.n_vectors,
        random_state=seed,
        on_step=_preliminary(on_step) if is_first else on_step,
    )
    if joint is not None and not task.learn.is_nothing and not is_trial:
        # what is no sum over rows has no loss on rows held out
        drops = task.learn.has_scale_per_feature and joint.is_sum
        first = _settled(first, joint, drops, seed)
    if not is_first:
        return first
    end = descend(
        _objective(rows, first.best.kernel, seed),
        first.best.vectors,
        SearchLimits(
            first.n_iter if first.was_ended else max_iter,
            tol,
            first.n_iter,
            limits.n_unjudged if start.is_prepared else 0,
        ),
        random_state=seed,
        # a sample of out-of-core rows has shown which vectors help
        revives=not isinstance(rows, RowsOutOfCore),
        on_step=on_step,
    )
    return end.after(first)


def _objective(rows: SearchRows, kernel: Kernel, seed: int, n_first: int = 0) -> Objective:
    """W(Z) in the vectors alone; where it is on a sample, of at least ``n_first`` rows."""
    if not isinstance(rows, RowsOutOfCore):
        return MarginalObjective(rows.X, kernel, rows.inner)
    if rows.problem.is_smooth:
        return SampledObjective(rows.sample(seed, _MANY_VECTORS), kernel, n_first)
    return BlockObjective(rows.data.rows, rows.data.sample, kernel, rows.problem)


def _joint_objective(
    rows: SearchRows, task: KernelTask, start: SearchStart, seed: int
) -> JointObjective | None:
    """W of the smooth problem in vectors and kernel; None where the search does without it."""
    smooth = rows.inner.smooth
    is_twin = smooth is not rows.inner
    m = start.vectors.shape[0]
    n_vectors = m if start.n_vectors is None else start.n_vectors
    # vectors that are added or dropped are not where a search would end
    is_near = (start.n_vectors == m or start.is_prepared) and task.learn.is_nothing
    if smooth is None or (is_near and is_twin) or task.vectors_alone:
        return None
    # the twin of a loss that is not smooth can do with a sample of out-of-core rows
    searched = RowsInMemory(rows.X, rows.weights, smooth) if is_twin else rows
    sample, kernel = searched.sample(seed, n_vectors), task.kernel
    if not isinstance(kernel, RadialKernel):
        return None
    if not are_distances_precise(sample.extent, kernel, np.float64):
        return None
    solution = start.solution
    if solution is not None and solution[1].size != smooth.n_outputs:
        solution = None  # read from a file that is not to be trusted
    return JointObjective(
        sample,
        kernel,
        task.learn,
        n_vectors,
        n_first=start.n_rows,
        learned=start.kernel,
        rank=task.rank,
        unit=start.unit,
        start=solution,
    )


def _settled(end: Descent, objective: JointObjective, drops: bool, seed: int) -> Descent:
    """The end of a search, and what its kernel gains; it may drop features that hardly count."""
    best = end.best
    try:
        if drops:
            best = without_small_scales(objective.source, best, seed)
        gain = objective.kernel_gain(best)
    except KeyboardInterrupt:  # the search is not lost; Ctrl-C once more is passed on
        best, end, gain = end.best, end.interrupted_later(), objective.kernel_gain(end.best)
    return replace(end, best=best, kernel_gain=gain)


def _preliminary(on_step: OnStep | None) -> OnStep | None:
    """What is called after the steps of a search from where another goes on."""
    if on_step is None:
        return None
    return lambda step: on_step(replace(step, is_preliminary=True))


def descend(
    objective: Objective,
    vectors: FloatArray,
    limits: SearchLimits,
    *,
    n_vectors: int | None = None,
    random_state: int = 0,
    revives: bool = True,
    on_step: OnStep | None = None,
) -> Descent:
    """`learn_direct` for an objective, wherever its rows are.

    Unless it ``revives`` vectors that no longer help, the search ends where they come to rest.
    """
    rng = np.random.default_rng(random_state)
    if n_vectors is not None and n_vectors != vectors.shape[0]:
        vectors = resized(objective, objective(vectors), n_vectors, rng)
    return minimize_over_vectors(
        objective,
        vectors,
        max_iter=limits.max_iter,
        n_before=limits.n_before,
        n_unjudged=limits.n_unjudged,
        tol=limits.tol,
        revive=(lambda at: revived(objective, at, rng)) if revives else None,
        on_step=on_step,
    )
