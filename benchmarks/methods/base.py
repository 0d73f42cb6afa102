"""What a method is: something that measures itself on one training/test pair.

A method is a file with a ``METHOD``. `Classifier` is for what predicts labels, `Extractor` for
features that a classifier follows. The figures that they return are named as in the tables.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets.splits import Split

Parameters = Mapping[str, Any]
Figures = dict[str, float]

BYTES_PER_NUMBER = 4
_TIMING_SECONDS = 0.3
_TIMING_REPEATS = 20
# Extractors kept for the next classifier of a table: three sizes and three seeds.
_REMEMBERED = 9


@dataclass(frozen=True)
class Size:
    """The size of a fitted model.

    ``n_vectors`` counts as the papers do, in sum over the binary machines; ``kernel_evaluations``
    is the number of distinct vectors, hence of kernel values, that one row of data costs.
    ``n_bytes`` is what prediction needs, stored as float32.
    """

    n_vectors: float
    kernel_evaluations: float
    n_bytes: int


def kernel_size(n_vectors: int, n_columns: int, n_outputs: int) -> Size:
    """Return the size of a machine whose outputs share all vectors."""
    numbers = n_vectors * (n_columns + n_outputs) + n_outputs
    return Size(n_vectors, n_vectors, BYTES_PER_NUMBER * numbers)


@dataclass(frozen=True)
class Method(ABC):
    """A method by its id.

    Attributes
    ----------
    packages : mapping of import name to distribution name
        What has to be installed for it.
    inherits : tuple of names
        Parameters that it takes from the data set's file where the table gives none.
    grid : mapping of parameter to values
        What the frontier tunes by cross-validation; ``gamma`` in units of
        1 / (mean squared distance).
    budgeted : bool
        It takes ``n_vectors``, the number of vectors it may use at most; the frontier varies it.
    single_point : bool
        It has no budget and appears in the frontier as one point, to compare with.
    tuned_as : str
        The id of the method whose tuned parameters it takes in the frontier; its own if empty.
    max_rows : int or None
        More training rows than this take hours; it is then left out, with a word, unless asked for.
    two_classes_only : bool
        It knows no more than two classes.
    repeatable : bool
        The same seed gives the same model; not so where a search is limited by the clock.
    """

    name: str
    title: str
    reference: str
    packages: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    inherits: tuple[str, ...] = field(default=(), kw_only=True)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, kw_only=True)
    budgeted: bool = field(default=False, kw_only=True)
    single_point: bool = field(default=False, kw_only=True)
    tuned_as: str = field(default="", kw_only=True)
    max_rows: int | None = field(default=None, kw_only=True)
    two_classes_only: bool = field(default=False, kw_only=True)
    repeatable: bool = field(default=True, kw_only=True)

    def why_unavailable(self) -> str | None:
        """Return why it cannot run here, or None."""
        absent = [
            distribution
            for module, distribution in self.packages.items()
            if importlib.util.find_spec(module) is None
        ]
        return f"pip install {' '.join(absent)}" if absent else None

    @abstractmethod
    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        """Fit on the training part and return the figures of the test part."""


Fit = Callable[[np.ndarray, np.ndarray, Parameters, int], Any]


def no_figures(fitted: Any) -> Figures:
    """Return no figures beyond those of every method."""
    return {}


@dataclass(frozen=True)
class Classifier(Method):
    """``fit(X, y, parameters, seed)`` gives something with ``predict``; ``size`` looks at it."""

    fit: Fit
    size: Callable[[Any], Size]
    figures: Callable[[Any], Figures] = no_figures

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        start = time.process_time()
        fitted = self.fit(split.X_train, split.y_train, parameters, seed)
        seconds = time.process_time() - start
        size = self.size(fitted)
        return {
            **accuracy_figures(fitted, split.X_test, split.y_test),
            "n_vectors": size.n_vectors,
            "kernel_evaluations": size.kernel_evaluations,
            "n_bytes": size.n_bytes,
            "seconds": seconds,
            **self.figures(fitted),
        }


_LAST: dict[tuple[Any, ...], tuple[Any, float]] = {}


def _fitted(fit: Fit, split: Split, parameters: Parameters, seed: int) -> tuple[Any, float]:
    """Return an extractor and the seconds its fit took; several classifiers may follow one fit."""
    content = hashlib.sha256(np.ascontiguousarray(split.X_train)).hexdigest()
    key = (fit, content, tuple(sorted(parameters.items())), seed)
    if key not in _LAST:
        start = time.process_time()
        extractor = fit(split.X_train, split.y_train, parameters, seed)
        _LAST[key] = extractor, time.process_time() - start
        while len(_LAST) > _REMEMBERED:
            del _LAST[next(iter(_LAST))]
    return _LAST[key]


@dataclass(frozen=True)
class Extractor(Method):
    """``fit`` gives something with ``transform``; ``parameters["classifier"]`` may follow it."""

    fit: Fit
    size: Callable[[Any], Size]

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        from benchmarks.methods import get

        own = {key: value for key, value in parameters.items() if key != "classifier"}
        kept = _kept_features(self.name, split, own, seed)
        if kept is not None and kept.exists():
            found = dict(np.load(kept))
        else:
            found = self._extract(split, own, seed, kept is not None or "classifier" in parameters)
            if kept is not None:
                np.savez(kept, **found)
        figures = {
            name: float(found[name]) for name in ("seconds", "n_vectors", "kernel_evaluations")
        }
        if "classifier" in parameters:
            features = Split(found["train"], split.y_train, found["test"], split.y_test)
            follower = get(parameters["classifier"]).measure(features, {}, seed)
            n_bytes = float(found["n_bytes"]) + follower["n_bytes"]
            figures = {**follower, **figures, "n_bytes": n_bytes}
        return figures

    def _extract(
        self, split: Split, own: Parameters, seed: int, with_features: bool
    ) -> dict[str, Any]:
        extractor, seconds = _fitted(self.fit, split, own, seed)
        size = self.size(extractor)
        found = {
            "seconds": seconds,
            "n_vectors": size.n_vectors,
            "kernel_evaluations": size.kernel_evaluations,
            "n_bytes": size.n_bytes,
        }
        if with_features:
            found["train"] = extractor.transform(split.X_train)
            found["test"] = extractor.transform(split.X_test)
        return found


def _kept_features(name: str, split: Split, own: Parameters, seed: int) -> Path | None:
    """Where features are kept for the next classifier, if KERNELET_FEATURES names a folder."""
    folder = os.environ.get("KERNELET_FEATURES")
    if folder is None:
        return None
    digest = hashlib.sha256(repr((name, sorted(own.items()), seed)).encode())
    digest.update(np.ascontiguousarray(split.X_train).tobytes())
    return Path(folder) / f"{digest.hexdigest()}.npz"


def accuracy_figures(fitted: Any, X: np.ndarray, y: np.ndarray) -> Figures:
    """Return error and accuracy in per cent, and the time that prediction takes.

    Times are of the processor, not of the clock on the wall, so that what else the computer does
    matters little; the runner allows one thread.
    """
    timings: list[float] = []
    while sum(timings) < _TIMING_SECONDS and len(timings) < _TIMING_REPEATS:
        start = time.process_time()
        predicted = fitted.predict(X)
        timings.append(time.process_time() - start)
    accuracy = 100.0 * float(np.mean(predicted == y))
    # the least of several: what the machine does besides only adds
    return {
        "error": 100.0 - accuracy,
        "accuracy": accuracy,
        "correctness": accuracy,
        "predict_seconds": min(timings),
        "predict_us": 1e6 * min(timings) / len(y),
    }
