"""From a model that is already trained to one with fewer vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels import Kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray, Rows
from kernelet.learners.base.fit_method import settings_as_before
from kernelet.learners.base.parameters import bits_or_none, choice, count, positive
from kernelet.learners.base.training_data import class_weights
from kernelet.learners.base.validation import check_X_y
from kernelet.learners.compression.compressed_models import READINGS, Compressed
from kernelet.learners.compression.exact_conversion import warn_of_losses
from kernelet.learners.compression.fewest_vectors import (
    ScoreError,
    fewest_vectors,
    warn_of_fewer,
)
from kernelet.learners.compression.sklearn_adapters import Adapted, adapt
from kernelet.learners.compression.unwrapping import Unwrapped, unwrapped
from kernelet.learners.direct.coefficient_bits import in_few_bits
from kernelet.learners.direct.few_bits import svm_judge
from kernelet.learners.direct.fixed_vectors import FixedVectors, learn_with_vectors
from kernelet.learners.direct.problems.svm import SVMProblem
from kernelet.learners.direct.reduced_set import (
    ReducedSet,
    nearest_of,
    reduced_set_of,
    reduced_sets,
    rounded_reduced_set,
)
from kernelet.learners.direct.search.learn import INNER_SHARE, learn_direct
from kernelet.learners.direct.search.result import Descent
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading
from kernelet.machine.rounding import vector_grid
from kernelet.machine.summary import shipped_bytes

# A third of the default of `SparseSVC`: a search that starts at a reduced set is near its end, and
# with a larger tolerance would stop at once.
_DIRECT_TOL = 3e-3
REFITS = ("none", "margin", "direct")


def compress(
    model: Any,
    n_vectors: int | str,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    max_error: float = 0.005,
    refit: str = "none",
    C: float | None = None,
    n_init: int = 1,
    max_iter: int | None = None,
    vector_bits: int | None = None,
    random_state: int = 0,
) -> Any:
    r"""Give a fitted model fewer vectors.

    .. math:: \min_{Z, \beta} \sum_k \bigl\| w_k - \sum_j \beta_{jk} \phi(z_j) \bigr\|^2

    Equation (4) of Wu, Schölkopf and Bakır (2006), summed over the outputs of the model, which
    share the vectors (for a many-class SVC: its one-vs-one functions).

    Parameters
    ----------
    model : fitted estimator or KernelMachine
        scikit-learn's SVMs, KernelRidge, KernelPCA or GaussianProcessRegressor (of which the mean
        is kept), or one of this package; also inside a Pipeline, search, OneVsRestClassifier,
        OneVsOneClassifier, CalibratedClassifierCV, TransformedTargetRegressor or `TableModel`.
    n_vectors : int or "auto"
        At most this many; "auto" takes as few as keep ``max_error``.
    X, y : arrays, default=None
        Rows as the model takes them, to measure ``score_error_`` on; with labels, for ``refit``.
    max_error : float, default=0.005
        For "auto": the largest ``score_error_``, the root mean square of the differences between
        scores on X divided by that of the scores; without X the largest ``relative_error_``.
    refit : {"none", "margin", "direct"}, default="none"
        Then do nothing more (RS); learn the coefficients again by the SVM over the vectors, (45)
        (MRS); or move the vectors as well (SLMC). The last two minimise the model's own loss.
    C : float, default=None
        Cost for ``refit``; by default the model's own.
    n_init : int, default=1
        Starts of the search, of which the nearest is kept; with refit that of lowest objective.
    max_iter : int or None, default=None
        Steps of L-BFGS over the vectors. None: 50 for up to 50 vectors, 10 from 250 on.
    vector_bits : int or None, default=None
        Round the vectors to this many bits an entry (2 to 16), and learn the coefficients again.
    random_state : int, default=0
        Seeds the initial vectors.

    Returns
    -------
    estimator or KernelMachine
        A machine for a machine; otherwise an estimator that predicts like the original. A new
        Pipeline for a Pipeline, which shares all steps but the last.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> X, y = load_digits(return_X_y=True)
    >>> small = compress(SVC(C=10.0).fit(X[:1000], y[:1000]), 60)
    >>> small.n_vectors_, bool(small.score(X[1000:], y[1000:]) > 0.95)
    (60, True)
    """
    again = _Again.checked(refit, vector_bits, n_init, max_iter, random_state)
    warn_of_losses(inner := _with_its_scores(unwrapped(model), refit))
    adapted, X = adapt(inner.model), inner.rows(X)
    rows = None if refit == "none" else _refit_rows(adapted, X, y, refit, C)
    error = None if X is None or rows is not None else ScoreError(adapted.machine, X)
    reduced = _watched(lambda: again.reduced(adapted, n_vectors, rows, max_error, error))
    return inner.wrapped(_read_like(adapted, reduced, inner.model, error))


def _watched(search: Callable[[], ReducedSet]) -> ReducedSet:
    """The result of a search; settings are as before, and a warning says if Ctrl-C ended it."""
    with settings_as_before():
        reduced = search()
    if reduced.interrupted:
        warn_caller(
            "compress was interrupted; the best vectors so far are kept. The model is usable.",
            ConvergenceWarning,
        )
    return reduced


def _with_its_scores(inner: Unwrapped, refit: str) -> Unwrapped:
    """Without a calibration where other scores are learned, for which it would be wrong."""
    if refit == "none" or inner.calibration is None:
        return inner
    lost = (
        f'the probabilities are left out, as refit="{refit}" learns other scores; '
        "kernelet.calibrate(model, X, y) makes new ones, on rows that the model has not seen."
    )
    return replace(inner, calibration=None, lost=lost)


def _read_like(
    adapted: Adapted, reduced: ReducedSet, model: Any, error: ScoreError | None
) -> Compressed | KernelMachine:
    """The smaller machine, with predictions like those of the model."""
    if adapted.reading is Reading.SCORES:
        return reduced.machine
    attributes: dict[str, Any] = {
        **adapted.attributes,
        "error_norm_": reduced.error_norm,
        "relative_error_": reduced.relative_error,
        "n_vectors_before_": adapted.machine.n_vectors,
        "score_error_": np.nan if error is None else error(reduced),
        "n_bytes_before_": shipped_bytes(adapted.machine),
    }
    if adapted.classes is not None:
        attributes["classes_"] = adapted.classes
    small: Compressed = READINGS[adapted.reading].from_machine(reduced.machine, model, **attributes)
    return small


@dataclass(frozen=True, eq=False)
class _RefitRows:
    """Training rows, and the problems of the model over them."""

    X: Rows
    Y: FloatArray
    costs: FloatArray
    loss: str

    def over(self, kernel: Kernel, vectors: ArrayLike) -> FixedVectors:
        """The machine over given vectors, (45)."""
        vectors = np.asarray(vectors, dtype=np.float64)
        return learn_with_vectors(self.X, self.Y, self.costs, kernel, vectors, loss=self.loss)


def _refit_rows(
    adapted: Adapted, X: ArrayLike | None, y: ArrayLike | None, refit: str, C: float | None
) -> _RefitRows:
    if adapted.classes is None:
        raise ValueError(
            f'refit="{refit}" fits class labels; this model has none. Use refit="none".'
        )
    if X is None or y is None:
        raise ValueError(f'refit="{refit}" needs the training rows X and labels y.')
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    unknown = np.setdiff1d(y, adapted.classes)
    if unknown.size:
        raise ValueError(f"y holds {unknown.tolist()!r}, which the model does not know.")
    cost = C if C is not None else adapted.C
    codes = np.searchsorted(adapted.classes, y)
    return _RefitRows(X, *_targets(adapted, codes, 1.0 if cost is None else cost), adapted.loss)


@dataclass(frozen=True)
class _Again:
    """How machines are reduced, and learned again: ``refit`` and what goes with it."""

    refit: str
    bits: int | None
    n_init: int
    max_iter: int | None
    random_state: int

    @classmethod
    def checked(
        cls, refit: str, bits: int | None, n_init: int, max_iter: int | None, random_state: int
    ) -> _Again:
        """From the arguments of `compress`."""
        choice("refit", refit, REFITS)
        n_init = count("n_init", n_init)
        max_iter = None if max_iter is None else count("max_iter", max_iter)
        return cls(refit, bits_or_none("vector_bits", bits), n_init, max_iter, random_state)

    def reduced(
        self,
        adapted: Adapted,
        n_vectors: int | str,
        rows: _RefitRows | None,
        max_error: float,
        error: ScoreError | None,
    ) -> ReducedSet:
        """Of a number of vectors, or of as few as keep the error."""
        if not isinstance(n_vectors, str):
            return self.reduced_set(adapted, warn_of_fewer(adapted.machine, n_vectors), rows)
        if n_vectors != "auto":
            raise ValueError(f'n_vectors must be a whole number or "auto"; got {n_vectors!r}.')
        if rows is not None:
            raise ValueError(
                f'n_vectors="auto" keeps the scores of the model, and refit="{self.refit}" learns '
                'others; use refit="none", then compress again to the number that it finds.'
            )
        return fewest_vectors(
            lambda number: self.reduced_set(adapted, number, None),
            error or (lambda reduced: reduced.relative_error),
            positive("max_error", max_error),
            adapted.machine.n_vectors,
        )

    def reduced_set(self, adapted: Adapted, n_vectors: int, rows: _RefitRows | None) -> ReducedSet:
        """Of a number of vectors, learned again if that is asked for."""
        steps = self._steps(n_vectors)
        found = reduced_sets(
            adapted.machine,
            n_vectors,
            n_init=self.n_init,
            max_iter=steps,
            random_state=self.random_state,
        )
        if found[0].machine.n_vectors == 0:
            rows = None  # a constant has nothing to learn again
        nearest = nearest_of(found)
        ended = False
        if rows is not None:
            # nobody waits for more after Ctrl-C
            steps = 1 if nearest.interrupted else steps
            machine, ended = self._learned_again(found, rows, steps)
        elif self.bits is not None:
            machine = rounded_reduced_set(adapted.machine, nearest.machine, self.bits)
        else:
            return nearest
        again = reduced_set_of(adapted.machine, machine)
        return replace(again, interrupted=nearest.interrupted or ended)

    def _steps(self, n_vectors: int) -> int:
        # with more vectors the start is nearer to the model, and steps cost more
        return max(10, min(50, 2500 // n_vectors)) if self.max_iter is None else self.max_iter

    def _learned_again(
        self, found: Sequence[ReducedSet], rows: _RefitRows, steps: int
    ) -> tuple[KernelMachine, bool]:
        """Over the vectors of one of the machines, or better or rounded ones.

        A refit minimises (28), so it starts from the vectors where that is lowest. With few vectors
        the machine nearest to the model may be one of the worst: on titanic at 5 %, best of six
        starts, its (28) is 14 % higher. The second value says whether Ctrl-C ended the search.
        """
        machine, interrupted = found[0].machine, False
        if len(found) > 1 or self.refit == "margin":
            fits = [rows.over(each.machine.kernel, each.machine.vectors) for each in found]
            machine = min(fits, key=lambda fit: fit.objective).machine
        if self.refit == "direct":
            search = self._better_vectors(machine, rows, steps)
            machine, interrupted = search.best.machine, search.interrupted
        if self.bits is None:
            return machine, interrupted
        grid = vector_grid(machine.kernel, np.asarray(machine.vectors, np.float64), self.bits)
        machine = rows.over(grid.full_kernel, grid.vectors).machine
        judge = svm_judge(rows.X, rows.Y, rows.costs, rows.loss, machine)
        return in_few_bits(grid, machine, judge), interrupted

    def _better_vectors(self, machine: KernelMachine, rows: _RefitRows, steps: int) -> Descent:
        return learn_direct(
            rows.X,
            machine.kernel,
            SVMProblem(rows.Y, rows.costs, rows.loss, INNER_SHARE * _DIRECT_TOL),
            np.asarray(machine.vectors, dtype=np.float64),
            max_iter=steps,
            tol=_DIRECT_TOL,
            random_state=self.random_state,
        )


def _targets(adapted: Adapted, codes: NDArray[np.intp], C: float) -> tuple[FloatArray, FloatArray]:
    """Labels and costs of the model's problems; rows outside a pair of classes cost nothing."""
    assert adapted.classes is not None
    costs = C * class_weights(adapted.class_weight, adapted.classes, codes, np.ones(codes.size))
    Y, costs = _sides(adapted, codes, costs)
    if adapted.problem_weights is None:
        return Y, costs
    if costs.ndim == 1:
        costs = costs[:, None]
    return Y, costs * np.where(Y > 0, *adapted.problem_weights.T[::-1, None, :])


def _sides(
    adapted: Adapted, codes: NDArray[np.intp], costs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    assert adapted.classes is not None
    n_classes = adapted.classes.size
    if adapted.reading is Reading.PAIRS:
        pairs = list(combinations(range(n_classes), 2))
        Y = np.stack([np.where(codes == i, 1.0, -1.0) for i, _ in pairs], axis=1)
        member = np.stack([(codes == i) | (codes == j) for i, j in pairs], axis=1)
        return Y, costs[:, None] * member
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None], costs
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0), costs
