"""The linear programming SVM in a Gram subspace: the estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from kernelet.kernels import Kernel
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.model_file import remember_training, saved
from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import count
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData, labelled_data
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.learners.lp_subspace.batches import projected_batches, survey
from kernelet.learners.lp_subspace.coordinates import coordinates_of
from kernelet.learners.lp_subspace.learn import LearnedSubspaceMachine, learn_subspace_machine
from kernelet.learners.lp_subspace.programs import Programs, programs_of
from kernelet.learners.lp_subspace.space import SubspaceSettings
from kernelet.machine import KernelMachine


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
        Dimensions S of the subspace; fewer if the sample has a smaller rank.
    n_landmarks : int or None, default=None
        Number of sample points L; None means 1000 or three times ``n_components``, whichever is
        more, but never more than there are distinct rows.
    C : float, default=12.5
        Cost of a margin violation; the paper's C multiplies the norm and is 1 / C.
    norm : {1, "inf"} or None, default=1
        The norm of w: (2.7), or (2.9) with p = infinity. None means robust linear programming,
        (2.4), with no norm at all.
    strategy : {"one_vs_rest", "direct"}, default="one_vs_rest"
        A linear program for each class against the rest, or one for all classes, in which the
        score of a row's own class should be larger by 2 than every other (norm 1 only).
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
        The sample points, or the vectors that replaced them.
    n_vectors_ : int
        Their number: kernel evaluations per row.
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
        Sum of the values of the linear programs.
    gap_ : float
        Largest relative duality gap among them.
    interrupted_ : bool
        Whether Ctrl-C ended the linear programs; the machine, ``objective_`` and ``gap_`` are then
        those of about 2000 of the rows.
    seconds_ : dict
        Processor time of the stages: eigenvectors, projection, linear_programs, compression.
    n_iter_ : int
        Total number of Newton systems (or pivots).
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

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

    def _leaves(self, X: Any) -> bool:
        # a file can be mapped into memory, where all programs can be solved
        is_mapped = isinstance(X, np.memmap)
        return super()._leaves(X) and (not is_mapped or programs_of(self).run_in_blocks)

    def _learn(self, data: TrainingData | OutOfCoreData) -> KernelMachine:
        settings, programs = self._settings()
        with Loop(self, verbose=self.verbose) as loop:
            coordinates = coordinates_of(data, settings, programs)
            learned = learn_subspace_machine(coordinates, programs, loop, self.n_vectors)
        return self._stored(learned)

    def fit_path(
        self,
        X: Any,
        y: ArrayLike,
        costs: Sequence[float],
        sample_weight: ArrayLike | None = None,
    ) -> list[SubspaceLPSVC]:
        """Fitted models for several values of C, over one subspace.

        The linear programs of each start from the last solutions, so a path costs a few times as
        much as one value. This estimator itself is not fitted.

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
        data, classes = labelled_data(models[0], X, y, sample_weight)
        coordinates = coordinates_of(data, *models[0]._settings())
        last = None
        for model in models:
            _, programs = model._settings()
            model.n_features_in_ = models[0].n_features_in_
            if hasattr(models[0], "feature_names_in_"):
                model.feature_names_in_ = models[0].feature_names_in_
            model.classes_ = classes
            remember_training(model, np.size(y), np.unique(np.asarray(y), return_counts=True)[1])
            loop = Loop(model, verbose=model.verbose)
            learned = learn_subspace_machine(coordinates, programs, loop, model.n_vectors, last)
            model.machine_, last = model._stored(learned), learned.solved
            warn_if_constant(model, data.X, data.codes, data.weights)
        return models

    @fit_method
    def fit_batches(
        self, batches: Iterable[tuple[Any, ArrayLike]], folder: str | Path | None = None
    ) -> Self:
        """Learn from rows that do not fit in memory.

        The batches are read twice: for a sample of the rows, and for the coordinates of all, which
        are written to a temporary file (4 bytes for each row and component). The linear programs
        read that file in blocks, and hold only the rows near the margin.

        Parameters
        ----------
        batches : iterable of (X, y)
            Rows and labels, the same each time it is read.
        folder : path-like or None, default=None
            Where the file goes; None means the system's folder for temporary files.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        settings, programs = self._settings()
        rng = check_random_state(self.random_state)
        seen = survey(batches, settings.n_drawn, rng)
        self.classes_, self.n_features_in_ = seen.classes, seen.sample.shape[1]
        ones = np.ones(len(seen.sample))
        kernel = training_kernel(self, seen.sample, ones)
        sample = TrainingData(seen.sample, ones, kernel, rng)
        projected = projected_batches(batches, seen, sample, settings, self.class_weight, folder)
        with projected as coordinates:
            remember_training(self, seen.n_rows, np.bincount(coordinates.codes))
            loop = Loop(self, verbose=self.verbose)
            learned = learn_subspace_machine(coordinates, programs, loop, self.n_vectors)
        self.machine_ = self._stored(learned)
        warn_if_constant(self, seen.sample)
        return self

    def _settings(self) -> tuple[SubspaceSettings, Programs]:
        """The parameters, checked."""
        programs = programs_of(self)
        if self.n_vectors is not None:
            count("n_vectors", self.n_vectors)
        return SubspaceSettings.of(self), programs

    def _stored(self, learned: LearnedSubspaceMachine) -> KernelMachine:
        """Set the fitted attributes, warn of an early end, and return the machine."""
        solved = learned.solved
        self.subspace_machine_ = learned.over_landmarks
        self.relative_error_ = learned.relative_error
        self.weights_, self.eigenvalues_ = solved.weights, learned.space.eigenvalues
        self.objective_, self.gap_, self.n_iter_ = solved.objective, solved.gap, solved.n_iter
        self.interrupted_, self.seconds_ = learned.interrupted, learned.seconds
        learned.warn_unless_solved(type(self).__name__)
        return learned.machine

    @property
    def n_components_(self) -> int:
        """Dimensions of the subspace."""
        return int(self.eigenvalues_.size)
