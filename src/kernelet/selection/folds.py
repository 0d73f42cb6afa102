"""One fold of a search: a path over the budgets, scored on the held-out rows."""

from __future__ import annotations

import inspect
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from kernelet.kernels.silence import restoring_filters
from kernelet.learners.base.validation import check_classification_targets, column_or_1d
from kernelet.selection.budgets import Candidate, Candidates
from kernelet.selection.cost import kernel_step, microseconds_per_row, model_bytes, vectors_used
from kernelet.selection.routing import Routed, routing_enabled

Parameters = Mapping[str, Any]
# scikit-learn's: of a model, rows, targets and further arguments.
Scorer = Callable[..., float]


@runtime_checkable
class HasPath(Protocol):
    """A model that fits several budgets, each started from the one before."""

    def iter_path(self, X: Any, y: Any, budgets: Sequence[int], **fit: Any) -> Iterator[Any]:
        """Fitted models, one after the other."""


@dataclass(frozen=True)
class Failure:
    """Why a model could not be fitted or scored, in a form that can be sent between processes."""

    is_type_error: bool
    message: str
    traceback: str


@dataclass(frozen=True)
class FoldOutcome:
    """One model of one fold."""

    score: float
    fit_seconds: float
    score_seconds: float = float("nan")
    n_vectors: float = float("nan")
    microseconds: float = float("nan")
    n_bytes: float = float("nan")
    failure: Failure | None = None


@dataclass
class Fold:
    """The results of one fold; fewer outcomes than budgets if Ctrl-C ended it."""

    outcomes: list[FoldOutcome] = field(default_factory=list)
    reference: FoldOutcome | None = None
    interrupted: bool = False


@dataclass(frozen=True)
class FoldTask:
    """What is the same in every fold.

    Arguments in ``routed`` with a value for every row are reduced to the rows of the fold.
    """

    estimator: Any
    candidates: Candidates
    scorer: Scorer
    reference: Any = None
    routed: Routed = field(default_factory=Routed)
    error_score: float | str = float("nan")
    verbose: int = 0
    target: str | None = None


def checked_targets(estimator: Any, y: Any) -> Any:
    """The targets that an estimator can be fitted to; None if it needs none."""
    if y is None:
        if get_tags(estimator).target_tags.required:
            raise ValueError("BudgetSearchCV requires y to be passed, but the target y is None.")
        return None
    if is_classifier(estimator):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
    return y


@restoring_filters
def splits_of(
    cv: Any, X: Any, y: Any, stratified: bool, parameters: Parameters
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows of each fold."""
    return list(check_cv(cv, y, classifier=stratified).split(X, y, **parameters))


def run_fold(
    task: FoldTask, X: Any, y: Any, train: NDArray[np.intp], test: NDArray[np.intp], number: int
) -> Fold:
    """Fit and score all budgets, and the reference, on one split."""
    fold = Fold()
    rows = (_safe_indexing(X, train), None if y is None else _safe_indexing(y, train))
    held_out = (_safe_indexing(X, test), None if y is None else _safe_indexing(y, test))
    score = rows_of(task.routed.score, X, test)
    try:
        while len(left := task.candidates.some(len(fold.outcomes))):
            # a failure ends the path; a new one begins at the next budget
            n_before = len(fold.outcomes)
            models = path(task.estimator, left, *rows, rows_of(task.routed.fit, X, train))
            for outcome in _outcomes(task, models, held_out, score):
                if task.verbose > 1:
                    _print_outcome(number, task.candidates, len(fold.outcomes), outcome)
                fold.outcomes.append(outcome)
            if len(fold.outcomes) == n_before:
                raise RuntimeError(f"{task.estimator!r} has a path that ends before {left.tried}.")
        if task.reference is not None:
            fit = rows_of(task.routed.reference_fit, X, train)
            model = _fitted(clone(task.reference), *rows, fit)
            (fold.reference,) = _outcomes(task, model, held_out, score)
    except KeyboardInterrupt:
        fold.interrupted = True
    return fold


def path(
    estimator: Any, candidates: Candidates, X: Any, y: Any, fit: Parameters
) -> Iterator[BaseEstimator]:
    """Fitted models for ascending budgets, along a path if the model or its last step has one.

    Parameters
    ----------
    estimator : estimator
    candidates : Candidates
    X, y : arrays
    fit : dict
        Further arguments of ``fit``.

    Yields
    ------
    estimator
    """
    has_bits = candidates.bits_parameter is not None
    if _has_path(estimator, has_bits):
        yield from _along(estimator, candidates, X, y, fit)
        return
    if isinstance(estimator, Pipeline) and _has_path(estimator.steps[-1][1], has_bits):
        name, last = estimator.steps[-1]
        own = {key.removeprefix(f"{name}__"): value for key, value in fit.items()}
        # With metadata routing it is the Pipeline that knows which step gets what.
        is_own = all(key.startswith(f"{name}__") for key in fit)
        if is_own and not (fit and routing_enabled()):
            head = clone(estimator[:-1])
            features = head.fit_transform(X, y) if len(head) else X
            for model in _along(last, candidates, features, y, own):
                whole = clone(estimator)
                whole.steps = [*head.steps, (name, model)]
                yield whole
            return
    for candidate in candidates.tried:
        yield from _fitted(clone(estimator).set_params(**candidates.params(candidate)), X, y, fit)


def _has_path(model: Any, has_bits: bool) -> bool:
    """Whether a model has a path; for numbers of bits it has to make several models of a search."""
    if not isinstance(model, HasPath):
        return False
    return not has_bits or "vector_bits" in inspect.signature(model.iter_path).parameters


def _along(
    model: Any, candidates: Candidates, X: Any, y: Any, fit: Parameters
) -> Iterator[BaseEstimator]:
    """The models of a path, or of several if it was broken off among the bits of a budget."""
    for budgets, bits in candidates.paths():
        variants = {} if candidates.bits_parameter is None else {"vector_bits": bits}
        yield from model.iter_path(X, y, budgets, **variants, **fit)


def _fitted(model: Any, X: Any, y: Any, fit: Parameters) -> Iterator[Any]:
    """The model, fitted when it is asked for."""
    yield model.fit(X, **fit) if y is None else model.fit(X, y, **fit)


def _outcomes(
    task: FoldTask, models: Iterator[Any], held_out: tuple[Any, Any], score: Parameters
) -> Iterator[FoldOutcome]:
    """Scores and costs of the models, up to the first that cannot be fitted or scored."""
    while True:
        start = fitted = time.perf_counter()
        try:
            model = next(models, None)
            if model is None:
                return
            fitted = time.perf_counter()
            if getattr(kernel_step(model), "interrupted_", False):
                raise KeyboardInterrupt  # the model has caught it, to remain usable
            # scorers check their arguments as estimators do
            scorer = restoring_filters(task.scorer)
            value = scorer(model, *(part for part in held_out if part is not None), **score)
            scored = time.perf_counter()
            if not isinstance(value, Real):
                raise ValueError(f"scoring must give one number, got {value!r}.")
        except Exception as error:
            # scikit-learn's error_score: a fold that fails gets this score, and a warning
            if task.error_score == "raise":
                raise
            seconds = time.perf_counter() - start
            failure = Failure(isinstance(error, TypeError), str(error), traceback.format_exc())
            yield FoldOutcome(float(task.error_score), seconds, failure=failure)
            return
        yield FoldOutcome(
            score=float(value),
            fit_seconds=fitted - start,
            score_seconds=scored - fitted,
            n_vectors=vectors_used(model),
            # measured separately, because scoring has other batches and threads
            microseconds=microseconds_per_row(model, held_out[0]),
            n_bytes=model_bytes(model, task.target),
        )


def rows_of(parameters: Parameters, X: Any, index: NDArray[np.intp]) -> dict[str, Any]:
    """The parameters; those with one value per row of X are reduced to some of the rows."""
    n_rows = _num_samples(X)
    cut = {}
    for name, value in parameters.items():
        shape = np.shape(value) if not hasattr(value, "shape") else value.shape
        cut[name] = _safe_indexing(value, index) if shape and shape[0] == n_rows else value
    return cut


def _print_outcome(number: int, candidates: Candidates, place: int, outcome: FoldOutcome) -> None:
    candidate: Candidate = candidates.tried[place]
    bits = "" if candidates.bits_parameter is None else f"vector_bits {candidate.vector_bits}  "
    print(
        f"fold {number}  n_vectors {candidate.n_vectors:5d}  {bits}score {outcome.score:.4f}  "
        f"fit {outcome.fit_seconds:.2f} s",
        file=sys.stderr,
    )
