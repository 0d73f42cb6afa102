"""What a small method is: something that is fitted so that its constants take few bytes.

Counted are the constants that depend on the model: weights, thresholds, scales, the labels of the
classes (a byte each). Code, and tables that are the same for every model, are not counted, nor is
what turns sensor readings into the columns of the data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Parameters = Mapping[str, Any]
# A choice and its alternatives, each a few parameters; the first is where the search starts.
Axis = tuple[Parameters, ...]

# The name of a class is a number of this many bytes.
LABEL_BYTES = 1
# A scale, or an integer multiplier with a shift: float32, or as TFLite stores it.
SCALE_BYTES = 4


class DoesNotFit(ValueError):
    """No model with these parameters takes as few bytes."""


class Predictor(Protocol):
    def predict(self, X: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Small:
    """A fitted model that predicts with the integers that are shipped.

    ``size`` is the number of vectors, hidden units, trees, or prototypes.
    """

    predictor: Predictor
    n_bytes: int
    size: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predictor.predict(X)


@dataclass(frozen=True)
class Task:
    """What decides how large a model of a byte budget can be.

    ``approximate``: a few bytes more do no harm, since only parameters are compared.
    ``few_rows``: so few that smaller machines and more regularisation have to be tried.
    """

    n_columns: int
    n_classes: int
    n_bytes: int
    approximate: bool = False
    few_rows: bool = False

    @property
    def n_outputs(self) -> int:
        """Scores: one of two classes is the opposite of the other."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def n_free(self) -> int:
        """Bytes for all but the labels."""
        return self.n_bytes - LABEL_BYTES * self.n_classes


Fit = Callable[[np.ndarray, np.ndarray, Task, Parameters, int], Small]


@dataclass(frozen=True)
class SmallMethod:
    """A method by its id.

    Attributes
    ----------
    fit : callable (X, y, task, parameters, seed) -> Small
        Raises `DoesNotFit` if the budget is too small.
    axes : callable Task -> axes
        What is tuned, one axis after the other.
    one_size : bool
        More bytes do not change it: it is measured at the least budget that it fits into.
    """

    name: str
    title: str
    reference: str
    fit: Fit
    axes: Callable[[Task], tuple[Axis, ...]]
    one_size: bool = False


def one_of(name: str, *values: Any) -> Axis:
    """An axis of the values of one parameter."""
    return tuple({name: value} for value in values)
