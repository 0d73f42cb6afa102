"""The linear programming SVM in a Gram subspace: the estimator."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.model_file import remember_training, saved
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import choice, count, positive
from kernelet.learners.base.progress import reporting
from kernelet.learners.base.training_data import FloatArray, TrainingSet, training_set
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.base.weights import class_weights
from kernelet.learners.direct.reduced_set import learn_reduced_set
from kernelet.learners.lp_subspace.batches import SAMPLE_PER_LANDMARK, survey, write_features
from kernelet.learners.lp_subspace.kernel_subspace import principal_space, projecting_machine
from kernelet.learners.lp_subspace.programs import (
    STRATEGIES,
    SubspaceMachine,
    checked_norm,
    learn_subspace_lp,
    learn_subspace_lp_out_of_core,
    rows_of_each_class,
)
from kernelet.machine import KernelMachine
from kernelet.solvers import Rows
from kernelet.solvers.blocks.margins import Targets
from kernelet.solvers.rows import as_rows
from kernelet.subspace import PrincipalMap

# Rows that the linear programs are solved on after Ctrl-C.
_INTERRUPTED_ROWS = 2000


@saved(
    weights_=np.ndarray,
    eigenvalues_=np.ndarray,
    relative_error_=float,
    objective_=float,
    gap_=float,
    n_iter_=int,
    interrupted_=bool,
)
class SubspaceLPSVC(KernelClassifier):
    r"""A support vector machine by linear programming, in the span of Gram eigenvectors.

    .. math:: \min_{w, b} \|w\|_1
        + \sum_i C_i \max\bigl(0, 1 - y_i (w'[x_i]_V + b)\bigr)

    over the coordinates :math:`[x]_V` of `KernelSubspace`, equation (3.3); its dual is (3.2) and
    (4.3). All classes share the subspace, so that a prediction costs L kernel values, however many
    classes there are.

    The rows may be a `numpy.memmap`, `kernelet.rows.Chunks` of files or Dask collections. Sample
    points are then chosen among 20000 random rows, and the linear programs are solved by passes
    over all rows, which compute the coordinates each time; `fit_batches` writes them to a file.

    Parameters
    ----------
    n_components : int, default=200
        Dimensions S of the subspace; fewer where the sample has a smaller rank.
    n_landmarks : int or None, default=None
        Number of sample points L; None is 1000 or three times ``n_components``, whichever is more,
        and never more than there are distinct rows.
    C : float, default=12.5
        Cost of a margin violation; the paper's C multiplies the norm and is 1 / C.
    norm : {1, "inf"} or None, default=1
        The norm of w: (2.7), or (2.9) with p = infinity. None is robust linear programming, (2.4),
        with no norm at all.
    strategy : {"one_vs_rest", "direct"}, default="one_vs_rest"
        A linear program for each class against the rest, or one for all classes, which asks the
        score of a row's own class to be larger by 2 than that of each other (norm 1 only).
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    landmarks : {"random", "kmeans", "greedy", "sgma"} or array, default="random"
        How the sample points are chosen, as in `KernelSubspace`.
    n_vectors : int or None, default=None
        Make the machine sparse in points as well: `compress` it to this many vectors. None keeps
        all L sample points.
    tol : float, default=1e-6
        Relative duality gap of the linear programs.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_jobs : int or None, default=None
        Threads for the classes; None means 1, -1 all cores.
    verbose : int, default=0
        Print what each stage took to standard error.
    random_state : int, RandomState instance or None, default=None
        Draws the sample.

    Attributes
    ----------
    machine_ : KernelMachine
        The compact predictor.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    vectors_ : ndarray of shape (n_vectors, n_features)
        The sample points, or the vectors that took their place.
    n_vectors_ : int
        How many there are: kernel evaluations per row.
    subspace_machine_ : KernelMachine
        The machine over all L sample points, before it was compressed.
    relative_error_ : float
        How far the compressed machine is from that, in the norm of the feature space.
    weights_ : ndarray of shape (n_components, n_outputs)
        w, in the coordinates of the subspace.
    eigenvalues_ : ndarray of shape (n_components,)
        The leading eigenvalues of the Gram matrix of the sample.
    n_components_ : int
        Dimensions of the subspace.
    objective_ : float
        Value of the linear programs, in sum.
    gap_ : float
        Largest relative duality gap among them.
    interrupted_ : bool
        Whether Ctrl-C ended the linear programs; the machine, ``objective_`` and ``gap_`` are then
        those of about 2000 of the rows.
    seconds_ : dict
        Processor time of the stages: eigenvectors, projection, linear_programs, compression.
    n_iter_ : int
        Newton systems (or pivots) in all.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, when X had any.

    References
    ----------
    Y. Yajima, H. Ohi, M. Mori, "Extracting feature subspace for kernel based linear programming
    support vector machines", J. Oper. Res. Soc. Japan 46 (2003), equations (2.4)-(4.3).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SubspaceLPSVC(50, n_landmarks=300, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.92), model.n_vectors_
    (True, 300)
    """

    def __init__(
        self,
        n_components: int = 200,
        *,
        n_landmarks: int | None = None,
        C: float = 12.5,
        norm: int | str | None = 1,
        strategy: str = "one_vs_rest",
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        landmarks: str | ArrayLike = "random",
        n_vectors: int | None = None,
        tol: float = 1e-6,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.C = C
        self.norm = norm
        self.strategy = strategy
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.n_vectors = n_vectors
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _learns_out_of_core = True

    def _learn(self, data: TrainingSet | OutOfCoreData) -> KernelMachine:
        if isinstance(data, OutOfCoreData):
            return self._learn_out_of_core(data)
        self._check_options()
        with reporting(self, verbose=0, max_steps=0):
            space, Phi = self._project(data)
            return self._solve(space, Phi, data.targets, data.weights, None)[0]

    def _leaves(self, X: Any) -> bool:
        # a file can be mapped into memory, where all programs can be solved
        is_left = self.strategy == "one_vs_rest" and self.norm is not None
        return super()._leaves(X) and (is_left or not isinstance(X, np.memmap))

    def _learn_out_of_core(self, data: OutOfCoreData) -> KernelMachine:
        """The linear programs by passes over the rows, which compute the coordinates each time."""
        self._check_options()
        if self.strategy != "one_vs_rest" and data.n_classes > 2:
            raise ValueError(
                f"strategy={self.strategy!r} needs all rows in memory; take "
                'strategy="one_vs_rest", or fit an array.'
            )
        if self.norm is None:
            raise ValueError(
                "norm=None needs all rows in memory; take norm=1 or norm='inf', or fit an array."
            )
        n_sample = data.sample.block.codes.size
        if self.n_landmarks is not None and n_sample < min(self.n_landmarks, data.rows.shape[0]):
            raise ValueError(
                f"n_landmarks={self.n_landmarks} points cannot be chosen among the {n_sample} rows "
                "that are drawn of rows that are not in memory; lower n_landmarks."
            )
        with reporting(self, verbose=0, max_steps=0):
            start = time.process_time()
            rows, weights = data.sample.block.X, data.sample.weights
            space = self._space(rows, weights, data.kernel, data.rng)
            self.seconds_ = {"eigenvectors": time.process_time() - start}

            targets = Targets.of_classes(data.n_classes).of(data.sample.block.codes)
            learned = self._interruptible(
                lambda: learn_subspace_lp_out_of_core(data, space, self.C, self.norm, self.tol),
                lambda: self._programs_of_part(space.features(rows), targets, weights),
            )
            return self._finish(space, learned)

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        costs: Sequence[float],
        sample_weight: ArrayLike | None = None,
    ) -> list[SubspaceLPSVC]:
        """Fitted models for several values of C, over one subspace.

        The linear programs of each start from the solutions before, so that a path costs a few
        times what one value does. This estimator itself is left unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Class labels.
        costs : sequence of float
            Values of C, best in increasing or decreasing order.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        list of SubspaceLPSVC
            One fitted estimator for each value.
        """
        models: list[SubspaceLPSVC] = [clone(self).set_params(C=C) for C in costs]
        if not models:
            return models
        data, classes = training_set(models[0], X, y, sample_weight)
        models[0]._check_options()
        space, Phi = models[0]._project(data)
        last = None
        for model in models:
            model._check_options()
            model.n_features_in_ = models[0].n_features_in_
            if hasattr(models[0], "feature_names_in_"):
                model.feature_names_in_ = models[0].feature_names_in_
            model.classes_ = classes
            remember_training(model, np.size(y), np.unique(np.asarray(y), return_counts=True)[1])
            model.seconds_ = dict(models[0].seconds_)
            model.machine_, last = model._solve(space, Phi, data.targets, data.weights, last)
            warn_if_constant(model, data.X, data.codes, data.weights)
        return models

    def fit_batches(
        self, batches: Iterable[tuple[Any, ArrayLike]], folder: str | Path | None = None
    ) -> Self:
        """Learn from rows that do not fit in memory.

        The batches are read twice: for a sample of the rows, and for the coordinates of all, which
        are written to a temporary file (4 bytes for each row and component). The linear programs
        read that file in blocks, and hold the rows near the margin only.

        Parameters
        ----------
        batches : iterable of (X, y)
            Rows and labels, the same each time it is read.
        folder : path-like or None, default=None
            Where the file goes; None is the system's folder for temporary files.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_options()
        rng = check_random_state(self.random_state)
        n_landmarks = self.n_landmarks or max(1000, 3 * self.n_components)
        seen = survey(batches, SAMPLE_PER_LANDMARK * n_landmarks, rng)
        if seen.classes.size < 2:
            raise ValueError(f"batches hold one class only: {seen.classes.tolist()}.")
        self.classes_ = seen.classes
        self.n_features_in_ = seen.sample.shape[1]
        ones = np.ones(len(seen.sample))
        kernel = training_kernel(self, seen.sample, ones)
        start = time.process_time()
        space = self._space(seen.sample, ones, kernel, rng)
        middle = time.process_time()
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            projection, path = projecting_machine(space), Path(place) / "coordinates"
            rows, codes = write_features(batches, projection, self.classes_, seen.n_rows, path)
            self.seconds_ = {
                "eigenvectors": middle - start,
                "projection": time.process_time() - middle,
            }
            remember_training(self, codes.size, np.bincount(codes))
            weights = class_weights(self.class_weight, self.classes_, codes, np.ones(codes.size))
            # the targets of a training set need nothing of it but the classes
            data = TrainingSet(None, codes, weights, self.classes_.size, kernel, rng)
            self.machine_, _ = self._solve(space, rows, data.targets, weights, None)
        warn_if_constant(self, seen.sample)
        return self

    def _check_options(self) -> None:
        checked_norm(self.norm)
        choice("strategy", self.strategy, STRATEGIES)
        positive("C", self.C)
        positive("tol", self.tol)
        count("n_components", self.n_components)
        if self.n_vectors is not None:
            count("n_vectors", self.n_vectors)

    def _space(
        self, X: Any, weights: FloatArray, kernel: Kernel, rng: np.random.RandomState
    ) -> PrincipalMap:
        return principal_space(
            X, weights, kernel, self.n_components, self.n_landmarks, self.landmarks, rng
        )

    def _project(self, data: TrainingSet) -> tuple[PrincipalMap, FloatArray]:
        start = time.process_time()
        space = self._space(data.X, data.weights, data.kernel, data.rng)
        middle = time.process_time()
        Phi = projecting_machine(space).decision_function(data.X).reshape(-1, space.rank)
        self.seconds_ = {
            "eigenvectors": middle - start,
            "projection": time.process_time() - middle,
        }
        return space, Phi

    def _solve(
        self,
        space: PrincipalMap,
        Phi: FloatArray | Rows,
        Y: FloatArray,
        weights: FloatArray,
        warm_start: SubspaceMachine | None,
    ) -> tuple[KernelMachine, SubspaceMachine]:
        learned = self._interruptible(
            lambda: self._programs(Phi, Y, self.C * weights, warm_start),
            lambda: self._programs_of_part(Phi, Y, weights),
        )
        return self._finish(space, learned), learned

    def _interruptible(
        self, solve: Callable[[], SubspaceMachine], solve_part: Callable[[], SubspaceMachine]
    ) -> SubspaceMachine:
        """The linear programs; after Ctrl-C those of a part of the rows, which take a moment."""
        start = time.process_time()
        self.interrupted_ = False
        try:
            learned = solve()
        except KeyboardInterrupt:
            self.interrupted_ = True
            learned = solve_part()
        self.seconds_["linear_programs"] = time.process_time() - start
        return learned

    def _programs(
        self,
        Phi: FloatArray | Rows,
        Y: FloatArray,
        costs: FloatArray,
        warm_start: SubspaceMachine | None = None,
    ) -> SubspaceMachine:
        return learn_subspace_lp(
            Phi,
            Y,
            costs,
            norm=self.norm,
            strategy=self.strategy,
            tol=self.tol,
            warm_start=warm_start,
            n_jobs=self.n_jobs or 1,
        )

    def _programs_of_part(
        self, Phi: FloatArray | Rows, Y: FloatArray, weights: FloatArray
    ) -> SubspaceMachine:
        part = rows_of_each_class(Y, _INTERRUPTED_ROWS)
        costs = self.C * weights[part] * (weights.sum() / weights[part].sum())
        return self._programs(as_rows(Phi).take(part), Y[part], costs)

    def _finish(self, space: PrincipalMap, learned: SubspaceMachine) -> KernelMachine:
        """The machine over the sample points, or fewer; attributes are set on the way."""
        start = time.process_time()
        machine = learned.over_landmarks(space.kernel, space.vectors, space.transform)
        self.subspace_machine_, self.relative_error_ = machine, 0.0
        if self.n_vectors is not None and self.n_vectors < machine.n_vectors:
            reduced = learn_reduced_set(machine, self.n_vectors)
            machine, self.relative_error_ = reduced.machine, float(reduced.relative_error)
        self.seconds_["compression"] = time.process_time() - start
        self.weights_ = learned.weights
        self.eigenvalues_ = space.eigenvalues
        self.objective_, self.gap_ = learned.objective, learned.gap
        self.n_iter_ = learned.n_iter
        self._tell(learned)
        return machine

    def _tell(self, learned: SubspaceMachine) -> None:
        if self.verbose > 0:
            stages = ", ".join(f"{stage} {spent:.1f} s" for stage, spent in self.seconds_.items())
            print(f"{stages}; objective {self.objective_:.6e}", file=sys.stderr)
        stuck = [solution for solution in learned.solutions if not solution.is_optimal]
        if self.interrupted_:
            warn_caller(
                f"{type(self).__name__} was stopped by Ctrl-C: the linear programs are solved on "
                f"about {_INTERRUPTED_ROWS} of the rows. The model is usable.",
                ConvergenceWarning,
            )
        elif stuck:
            warn_caller(
                f"{type(self).__name__} reached a relative gap of {self.gap_:.1e} only: "
                f"{stuck[0].status.value}.",
                ConvergenceWarning,
            )

    @property
    def n_components_(self) -> int:
        """Dimensions of the subspace."""
        return int(self.eigenvalues_.size)
