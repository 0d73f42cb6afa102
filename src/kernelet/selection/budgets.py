"""The budgets to try, and the parameter of a model that sets them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernelet.learners.base.parameters import count

_NAME = "n_vectors"


def distinct_budgets(budgets: Any) -> NDArray[np.intp]:
    """The budgets in ascending order, each once.

    Parameters
    ----------
    budgets : sequence of int

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> distinct_budgets([20, 5, 20])
    array([ 5, 20])
    """
    if isinstance(budgets, str) or not isinstance(budgets, Iterable):
        raise ValueError(
            "budgets must be a sequence of numbers of vectors, such as (5, 10, 20); "
            f"got {budgets!r}."
        )
    values = {count("every budget", value) for value in budgets}
    if not values:
        raise ValueError("budgets is empty; name at least one number of vectors.")
    return np.array(sorted(values), dtype=np.intp)


def budget_parameter(estimator: Any) -> str:
    """The name of the parameter that sets a model's number of vectors.

    That is ``n_vectors``, or the one parameter of a Pipeline or another meta-estimator that ends in
    ``__n_vectors``; if there are several, that of the last step of a Pipeline.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    str

    Examples
    --------
    >>> from kernelet import ReducedSVC
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> budget_parameter(make_pipeline(StandardScaler(), ReducedSVC()))
    'reducedsvc__n_vectors'
    """
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"estimator must be an estimator instance, got {estimator!r}.")
    names: set[str] = set(estimator.get_params(deep=True))
    last = last_step_prefix(estimator) + _NAME
    if last in names:
        return last
    found = sorted(name for name in names if name == _NAME or name.endswith(f"__{_NAME}"))
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"estimator has several numbers of vectors ({', '.join(found)}); search one at a time, "
            "and fit the others separately."
        )
    raise ValueError(
        f"estimator must have the parameter n_vectors, or be a Pipeline with a step that has it; "
        f"{type(estimator).__name__} does not."
    )


def last_step_prefix(estimator: Any) -> str:
    """The prefix of the parameters of a Pipeline's last step; "" for any other model."""
    if isinstance(estimator, Pipeline):
        name, step = estimator.steps[-1]
        return f"{name}__{last_step_prefix(step)}"
    return ""
