"""``cv_results_`` of a search, from the results of its folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.selection.budgets import Candidates
from kernelet.selection.folds import Fold, FoldOutcome
from kernelet.selection.rules import standard_errors

# name in cv_results_ -> attribute of a FoldOutcome
_MEASURED = {
    "fit_time": "fit_seconds",
    "score_time": "score_seconds",
    "n_vectors": "n_vectors",
    "microseconds": "microseconds",
    "bytes": "n_bytes",
}


def finished(folds: Sequence[Fold], n_budgets: int, with_reference: bool) -> list[Fold]:
    """The folds that Ctrl-C did not interrupt; if there are none, the finished part of the first.

    Parameters
    ----------
    folds : sequence of Fold
    n_budgets : int
    with_reference : bool
        Whether a fold ends with a reference.
    """
    whole = [
        fold
        for fold in folds
        if len(fold.outcomes) == n_budgets and (fold.reference is not None) == with_reference
    ]
    # folds that run in parallel may have reached different budgets, which one table cannot hold
    begun = [fold for fold in folds if fold.outcomes]
    return whole or begun[:1]


def check_failures(folds: Sequence[Fold]) -> None:
    """Warn about fits and scores that failed; raise an error if no budget has a score."""
    outcomes = [outcome for fold in folds for outcome in fold.outcomes]
    outcomes += [fold.reference for fold in folds if fold.reference is not None]
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    scores = np.array([[outcome.score for outcome in fold.outcomes] for fold in folds])
    has_scores = np.isfinite(scores.mean(axis=0)).any()
    if not failures:
        if not has_scores:
            raise ValueError(
                "No budget has a finite score in every fold. R2 needs two test rows or more: "
                "choose cv with fewer folds, or another scoring."
            )
        return
    first = failures[0]
    if len(failures) == len(outcomes):
        kind = TypeError if first.is_type_error else ValueError
        raise kind(f"{first.message}\n(All {len(outcomes)} fits of the search failed.)")
    summary = f"{len(failures)} of {len(outcomes)} fits failed or could not be scored"
    if not has_scores:
        raise ValueError(
            f"No budget has a score in every fold: {summary}, the first with "
            f"{first.message!r}. Choose cv such that every fold can be trained on and scored "
            '(every class in its training rows), or see where it fails with error_score="raise".'
        )
    warn_caller(
        f"{summary}, and count as error_score. The first failed with:\n{first.traceback}",
        FitFailedWarning,
    )


def tabulate(folds: Sequence[Fold], candidates: Candidates) -> dict[str, Any]:
    """The dictionary of scikit-learn's searches, one entry for each candidate, with costs.

    Parameters
    ----------
    folds : sequence of Fold
    candidates : Candidates
        Those that all folds have reached.
    """
    params = [candidates.params(candidate) for candidate in candidates.tried]
    # masked arrays, though nothing is masked: readers of scikit-learn's results expect them
    results: dict[str, Any] = {
        f"param_{name}": np.ma.masked_array(
            np.array([entry[name] for entry in params]), mask=np.zeros(len(params), dtype=bool)
        )
        for name in params[0]
    }
    results["params"] = params
    scores = _gathered([fold.outcomes for fold in folds], "score")
    for number, row in enumerate(scores):
        results[f"split{number}_test_score"] = row
    means = scores.mean(axis=0)
    results["mean_test_score"] = means
    results["std_test_score"] = scores.std(axis=0)
    results["standard_error_test_score"] = standard_errors(scores)
    # as in scikit-learn, budgets without a score are last
    worst = np.nanmin(means) - 1.0 if np.isfinite(means).any() else 0.0
    ranks = rankdata(-np.nan_to_num(means, nan=worst), method="min")
    results["rank_test_score"] = ranks.astype(np.int32)
    for name, attribute in _MEASURED.items():
        measured = _gathered([fold.outcomes for fold in folds], attribute)
        results[f"mean_{name}"] = measured.mean(axis=0)
        if name.endswith("_time"):
            results[f"std_{name}"] = measured.std(axis=0)
    return results


def reference_results(folds: Sequence[Fold]) -> dict[str, float]:
    """Mean score and costs of the reference over the folds, and the standard error."""
    outcomes = [[fold.reference] for fold in folds if fold.reference is not None]
    scores = _gathered(outcomes, "score")
    results = {
        "mean_test_score": float(scores.mean()),
        "standard_error_test_score": float(standard_errors(scores)[0]),
    }
    for name, attribute in _MEASURED.items():
        results[f"mean_{name}"] = float(_gathered(outcomes, attribute).mean())
    return results


def _gathered(outcomes: Sequence[Sequence[FoldOutcome]], attribute: str) -> FloatArray:
    """An attribute as an array of shape (folds, budgets)."""
    return np.array([[getattr(outcome, attribute) for outcome in row] for row in outcomes])
