"""What a model that was read answers: finite numbers, or an error that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import kernelet
from kernelet.machine import Predictor
from kernelet.machine.reading import Reading


def answer(model: Any) -> None:
    """Let a model that was loaded predict a few rows of ordinary size.

    Raises
    ------
    AssertionError
        If a prediction is not finite.
    """
    rows = np.random.default_rng(0).normal(size=(4, 64))
    rows[0] = 0.0
    if isinstance(model, kernelet.TableModel | Predictor) and model.encoder is not None:
        table = {
            column.name: np.array(["up", "?", "", "down"])
            if hasattr(column, "categories")
            else 10.0 * rows[:, place % 64]
            for place, column in enumerate(model.encoder.columns)
        }
        asked = ("predict",) if isinstance(model, kernelet.TableModel) else _answers_of(model)
        _ask(model, asked, table)
        return
    inner = model[-1] if isinstance(model, Pipeline) else model
    machine = getattr(inner, "machine_", getattr(inner, "machine", inner))
    if machine.n_features:
        repeated = np.resize(rows, (4, machine.n_features))
        everything = ("predict_proba", "predict", "decision_function", "transform")
        asked = _answers_of(model) if isinstance(model, Predictor) else everything
        _ask(model, asked, repeated)
        if isinstance(model, kernelet.RelevanceVectorRegressor):
            _ask(model, ("predict",), repeated, return_std=True)


def _answers_of(predictor: Predictor) -> tuple[str, ...]:
    """The methods that do not refuse every row."""
    names = ["decision_function", "transform"]
    names += [] if predictor.calibration is None else ["predict_proba"]
    names += [] if predictor.reading in (Reading.SCORES, Reading.FEATURES) else ["predict"]
    return tuple(names)


def _ask(model: Any, names: tuple[str, ...], rows: Any, **options: Any) -> None:
    for name in names:
        method = getattr(model, name, None)
        if method is None:
            continue
        try:
            answers = method(rows, **options)
        except ValueError as error:
            # kernels without bounds overflow where they like, but never in silence
            if "not finite" not in str(error):
                raise
            continue
        for values in answers if isinstance(answers, tuple) else (answers,):
            numbers = np.asarray(values)
            is_good = numbers.dtype.kind not in "fc" or np.isfinite(numbers).all()
            assert is_good, f"{name} gives {numbers.ravel()[:4]}"
