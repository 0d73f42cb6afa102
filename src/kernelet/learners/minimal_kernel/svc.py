"""Minimal kernel classifiers: the estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.parameters import choice, count, factor, positive
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.minimal_kernel.candidates import (
    BoolArray,
    Kept,
    ReducedKernel,
    draw_candidates,
)
from kernelet.learners.minimal_kernel.learn import MinimalKernelSettings, learn_minimal_kernel
from kernelet.learners.minimal_kernel.linearisation import SOLVERS, Linearisation, PoundLoss
from kernelet.learners.minimal_kernel.partial_fit import StreamClassifier
from kernelet.machine import KernelMachine


@saved(
    Kept,
    ReducedKernel,
    n_constraints_=int,
    n_coefficients_=int,
    loo_error_bound_=float,
    loo_correctness_bound_=float,
    objective_=float,
    history_=list,
    n_iter_=int,
    n_rows_seen_=int,
    interrupted_=bool,
)
class MinimalKernelSVC(StreamClassifier):
    r"""A classifier over few rows, which counts errors and coefficients as well as adding them up.

    .. math:: &\min_{u, b} \sum_i C_i\, (\xi_i)_\# + \sum_j (|u_j|)_\#,
        \\ &x_\# = |x| + \mu |x|_*, \qquad
        \xi_i = \max\bigl(0, 1 - y_i (\textstyle\sum_j k(x_i, z_j) u_j + b)\bigr)

    where :math:`|x|_*` is 1 for x other than 0. The vectors :math:`z_j` are rows. The search starts
    from the solution of the linear program (10), which has no such steps, and goes to a stationary
    vertex by successive linearisation of a smooth form (algorithm 4.2). Many classes are
    one-vs-rest.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation, the paper's nu.
    mu : float, default=1.0
        What the presence of a coefficient or an error costs in addition to its size.
    alpha : float, default=5.0
        Steepness of the smooth form, (24).
    n_candidates : int, float or None, default=None
        Number of random rows among which the vectors are chosen: a number, or a share of the rows
        as a float. None means all rows if there are at most 500, otherwise a fifth of them, but no
        more than 500 (remark 4.3).
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    solver : {"interior_point", "simplex"}, default="interior_point"
        Solver of the linear programs after the first, each started from the last solution: on the
        rows and columns that matter, by pivots where these are few, otherwise by our interior point
        method with crossover to a vertex; or by the simplex method of HiGHS on all of them. Both
        end in vertices, where zeros are exact; the first is mostly several times faster.
    max_iter : int, default=100
        Linear programs after the first, for each class.
    tol : float, default=1e-8
        Relative duality gap of each linear program.
    max_kept : int, default=2000
        Number of rows that ``partial_fit`` keeps of all it has seen; more only if there are more
        vectors and rows on the margin.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    verbose : int, default=0
        Print every ``verbose``-th linear program to standard error.
    random_state : int, RandomState instance or None, default=None
        Draws the candidates, and the rows kept of a stream.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The rows with a coefficient in any machine.
    n_vectors_ : int
        Number of vectors; m2 of remark 4.4 for two classes.
    n_constraints_ : int
        Rows with a positive multiplier in the last linear program, m1 of remark 4.4, summed over
        the machines.
    n_coefficients_ : int
        Number of nonzero coefficients, summed over the machines; m2 for two classes.
    reduced_kernels_ : list of ReducedKernel
        For each machine the m1 x m2 rectangular kernel, on which the last linear program can be
        solved again.
    loo_error_bound_ : float
        Upper bound on the leave-one-out error of the machine of the linear program (10), equation
        (13): the share, by weight, of rows that have a multiplier or a coefficient there, in any
        of the machines. It does not hold for the final machine of algorithm 4.2, which has fewer
        vectors, nor for a procedure that draws other candidates or resolves another ``gamma`` when
        a row is left out. If (10) has several solutions, it holds for the one that stays a
        solution.
    loo_correctness_bound_ : float
        One minus that, equation (12).
    objective_ : float
        The smooth objective (25), summed over the machines.
    history_ : list of ndarray
        The smooth objective after (10) and after each linearisation, for each machine.
    n_iter_ : int
        Linear programs solved.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early, with a usable model.
    n_rows_seen_ : int
        Number of rows in the last ``fit`` and all batches since.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    G. Fung, O. L. Mangasarian, A. J. Smola, "Minimal kernel classifiers", JMLR 3 (2002),
    equations (10)-(30).

    Examples
    --------
    >>> from kernelet.datasets import make_checkerboard
    >>> X, y = make_checkerboard(400, random_state=0)
    >>> model = MinimalKernelSVC(C=100.0, gamma=1.0).fit(X, y)
    >>> model.n_vectors_ < 40, bool(model.score(X, y) > 0.97)
    (True, True)
    >>> model.reduced_kernels_[0].shape == (model.n_constraints_, model.n_vectors_)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        mu: float = 1.0,
        alpha: float = 5.0,
        n_candidates: int | float | None = None,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: str = "interior_point",
        max_iter: int = 100,
        tol: float = 1e-8,
        max_kept: int = 2000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.mu = mu
        self.alpha = alpha
        self.n_candidates = n_candidates
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.max_kept = max_kept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state

    def _learn_from(self, data: TrainingData, is_vector: BoolArray | None) -> KernelMachine:
        settings = MinimalKernelSettings(
            loss=PoundLoss(factor("mu", self.mu), factor("alpha", self.alpha)),
            solver=SOLVERS[choice("solver", self.solver, SOLVERS)],
            tol=positive("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            max_kept=count("max_kept", self.max_kept),
            C=factor("C", self.C),
        )
        candidates = draw_candidates(
            data.X, data.weights, self.n_candidates, data.rng, always=is_vector
        )
        rows = {"X": data.X, "y": self.classes_[data.codes]}
        max_steps = self.max_iter * data.targets.shape[1]
        with Loop(self, max_steps, self.verbose, **rows) as loop:
            learned = learn_minimal_kernel(data, candidates, settings, loop)
        ends = learned.ends
        self.reduced_kernels_ = learned.reduced_kernels
        self.loo_error_bound_ = learned.loo_error_bound
        self.loo_correctness_bound_ = 1.0 - self.loo_error_bound_
        self.n_constraints_ = sum(reduced.shape[0] for reduced in self.reduced_kernels_)
        self.n_coefficients_ = sum(reduced.shape[1] for reduced in self.reduced_kernels_)
        self.objective_ = float(sum(end.value for end in ends))
        self.history_ = [np.array(end.history) for end in ends]
        self.n_iter_ = sum(len(end.history) for end in ends)
        self.interrupted_ = loop.interrupted
        self._rng, self._kept = data.rng, learned.kept
        self._warn(ends)
        return learned.machine

    def _warn(self, ends: list[Linearisation]) -> None:
        name = type(self).__name__
        stuck = [end.solution for end in ends if not end.solution.is_optimal]
        early = [end for end in ends if not end.is_stationary]
        if stuck:
            gap = max(solution.gap for solution in stuck)
            warn_caller(
                f"{name} only reached a relative gap of {gap:.1e}: {stuck[0].status.value}.",
                ConvergenceWarning,
            )
        elif early:
            worst = max(early, key=lambda end: end.n_linearisations)
            why = "Ctrl-C" if self.interrupted_ else "max_iter or a callback"
            warn_caller(
                f"{name} stopped early, by {why}: {len(early)} of {len(ends)} machines are not "
                f"stationary after {worst.n_linearisations} linear programs (objective "
                f"{self.objective_:.6g}). Raise max_iter; the model is usable.",
                ConvergenceWarning,
            )
