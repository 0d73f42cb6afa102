"""The search for Fisher directions over few vectors, or over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.kernels import require_input_gradient
from kernelet.kernels.numerics.arrays import dense
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.base.progress import reporting
from kernelet.learners.base.training_data import TrainingSet
from kernelet.learners.direct.kernel_learning.choice import learned_part, rank_of
from kernelet.learners.direct.search.checkpoint import checkpoint_of
from kernelet.learners.direct.search.ground import Ground, TableGround
from kernelet.learners.direct.search.learn import UNJUDGED_STEPS, descend, search_vectors
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import Evaluation, InnerProblem
from kernelet.learners.direct.search.result import Progress
from kernelet.learners.direct.search.start import KernelTask, SearchStart


def learn_fisher(estimator: Any, data: TrainingSet, problem: InnerProblem) -> Evaluation:
    """Directions in the span of all rows, or of ``n_vectors`` learned vectors."""
    if estimator.n_vectors is None:
        estimator.n_iter_ = 1
        estimator.interrupted_ = False
        rows = np.asarray(dense(data.X), dtype=np.float64)
        objective = MarginalObjective(data.X, data.kernel, problem)
        with reporting(estimator, verbose=0, max_steps=0):
            return objective.without_gradient(np.unique(rows, axis=0))
    return learn_sparse_fisher(estimator, TableGround(data.X, data.weights), data, problem)


def learn_sparse_fisher(
    estimator: Any, ground: Ground, data: TrainingSet | OutOfCoreData, problem: Any
) -> Evaluation:
    """Directions in the span of ``n_vectors`` learned vectors."""
    budget = count("n_vectors", estimator.n_vectors)
    require_input_gradient(data.kernel, type(estimator).__name__)
    learn = learned_part(estimator, data.kernel, ground.shape)
    seed = int(data.rng.randint(np.iinfo(np.int32).max))
    max_iter, tol = count("max_iter", estimator.max_iter), positive("tol", estimator.tol)
    saved = checkpoint_of(estimator, ground.shape)
    start = None if saved is None else saved.start(0)
    if start is None:
        start = SearchStart(ground.seed(budget, estimator.init, data.kernel, seed))
    with reporting(estimator, estimator.verbose, estimator.max_iter) as report:

        def on_step(step: Progress) -> bool:
            if saved is not None:
                saved.write(0, step, data.kernel)
            return report(step, None)

        if learn == "nothing":
            descent = descend(
                ground.objective(data.kernel, problem, seed, start.n_rows or 0),
                start.vectors,
                max_iter=max_iter,
                tol=tol,
                n_before=min(start.n_steps, max_iter - 1),
                n_unjudged=UNJUDGED_STEPS if start.n_steps else 0,
                random_state=seed,
                on_step=on_step,
            )
        else:
            descent = search_vectors(
                ground,
                KernelTask(data.kernel, learn, rank_of(estimator)),
                problem,
                start,
                max_iter=max_iter,
                tol=tol,
                seed=seed,
                on_step=on_step,
            )
    if saved is not None and not descent.interrupted:
        saved.remove()
    if hasattr(estimator, "learn_kernel"):
        estimator.kernel_gain_ = descent.kernel_gain
    estimator.n_iter_ = max(1, descent.n_iter)
    estimator.interrupted_ = descent.interrupted
    descent.warn_unless_converged(type(estimator).__name__)
    return descent.best
