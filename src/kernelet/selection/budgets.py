"""The budgets to try, in vectors and in bits, and the parameters of a model that set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernelet.learners.base.parameters import bits_or_none, count

_NAME = "n_vectors"
_BITS = "vector_bits"


class Candidate(NamedTuple):
    """A number of vectors, and of bits of their entries; None for vectors as they are."""

    n_vectors: int
    vector_bits: int | None = None


@dataclass(frozen=True)
class Candidates:
    """What a search tries, from few vectors to many, and for each number from few bits to many.

    Attributes
    ----------
    parameter : str
        Sets the number of vectors.
    bits_parameter : str or None
        Sets the number of bits; None if it is not searched.
    tried : tuple of Candidate
    """

    parameter: str
    bits_parameter: str | None
    tried: tuple[Candidate, ...]

    @classmethod
    def of(cls, estimator: Any, budgets: Any, vector_bits: Any = None) -> Candidates:
        """All pairs of the budgets and the numbers of bits, for a model.

        Parameters
        ----------
        estimator : estimator
        budgets : sequence of int
        vector_bits : int, None or sequence of these, default=None
            None leaves the parameter of the model alone.
        """
        parameter = budget_parameter(estimator)
        numbers = distinct_budgets(budgets).tolist()
        if vector_bits is None:
            return cls(parameter, None, tuple(map(Candidate, numbers)))
        name = parameter.removesuffix(_NAME) + _BITS
        if name not in estimator.get_params(deep=True):
            raise ValueError(
                f"vector_bits is given, but {type(estimator).__name__} has no parameter {name}."
            )
        bits = distinct_bits(vector_bits)
        return cls(parameter, name, tuple(Candidate(m, b) for m in numbers for b in bits))

    def __len__(self) -> int:
        return len(self.tried)

    def some(self, start: int, end: int | None = None) -> Candidates:
        """Some of them."""
        return replace(self, tried=self.tried[start:end])

    def params(self, candidate: Candidate) -> dict[str, Any]:
        """What to set in the model."""
        if self.bits_parameter is None:
            return {self.parameter: candidate.n_vectors}
        return {
            self.parameter: candidate.n_vectors,
            self.bits_parameter: candidate.vector_bits,
        }

    def paths(self) -> Iterator[tuple[list[int], list[int | None]]]:
        """Budgets, one after the other, and the bits that are tried with each of them."""
        groups = groupby(self.tried, key=lambda one: one.n_vectors)
        by_budget = [(m, [one.vector_bits for one in group]) for m, group in groups]
        for bits, run in groupby(by_budget, key=lambda pair: pair[1]):
            yield [m for m, _ in run], bits


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


def distinct_bits(vector_bits: Any) -> list[int | None]:
    """Numbers of bits in ascending order, each once; None is the last.

    Examples
    --------
    >>> distinct_bits((None, 6, 4, 6))
    [4, 6, None]
    """
    is_one = vector_bits is None or isinstance(vector_bits, str)
    several = not is_one and isinstance(vector_bits, Iterable)
    values = {bits_or_none(_BITS, value) for value in (vector_bits if several else [vector_bits])}
    if not values:
        raise ValueError("vector_bits is empty; name at least one number of bits.")
    return sorted(values, key=lambda bits: float("inf") if bits is None else bits)


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
