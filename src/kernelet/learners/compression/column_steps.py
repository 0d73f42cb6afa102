"""ColumnTransformer as the encoder of a table, where the two do the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from kernelet.learners.compression.affine_steps import shift_and_scale
from kernelet.machine.cells import as_texts
from kernelet.machine.columns import Category, ColumnEncoder, Number


def table_encoder(steps: Sequence[tuple[str, Any]]) -> ColumnEncoder | None:
    """What the steps of a pipeline do to the columns of a table.

    Parameters
    ----------
    steps : sequence of (str, fitted transformer)

    Returns
    -------
    ColumnEncoder or None
        None unless there is one step: a ColumnEncoder, or a ColumnTransformer of scalers,
        SimpleImputer and OneHotEncoder, fitted on a data frame, that takes each column once. Where
        there is no imputer, a missing number, which scikit-learn refuses, is replaced by the shift
        of its scaler.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.preprocessing import StandardScaler
    >>> frame = pd.DataFrame({"age": [20.0, 40.0], "colour": ["red", "blue"]})
    >>> transformer = ColumnTransformer(
    ...     [("numbers", StandardScaler(), ["age"]), ("texts", OneHotEncoder(), ["colour"])]
    ... ).fit(frame)
    >>> table_encoder([("columns", transformer)]).feature_names
    ['age', 'colour=blue', 'colour=red']
    """
    if len(steps) != 1:
        return None
    step = steps[0][1]
    if isinstance(step, ColumnEncoder):
        return step
    if not isinstance(step, ColumnTransformer) or not hasattr(step, "feature_names_in_"):
        return None
    if step.transformer_weights:
        return None
    columns: list[Number | Category] = []
    for _, transformer, chosen in step.transformers_:
        names = _names(step, chosen)
        if _is(transformer, "drop") or not names:  # without columns it has not been fitted
            continue
        made = _columns(transformer, names)
        if made is None:
            return None
        columns += made
    if not columns or len({column.name for column in columns}) < len(columns):
        return None
    return ColumnEncoder(tuple(columns))


def _is(transformer: Any, word: str) -> bool:
    return isinstance(transformer, str) and transformer == word


def _names(transformer: ColumnTransformer, chosen: Any) -> list[str]:
    """The names of columns that are chosen by name, number, slice or mask."""
    known = transformer.feature_names_in_
    if isinstance(chosen, str):
        return [chosen]
    if isinstance(chosen, slice) and isinstance(chosen.start or chosen.stop, str):
        places = list(known)
        start = 0 if chosen.start is None else places.index(chosen.start)
        stop = len(places) if chosen.stop is None else places.index(chosen.stop) + 1
        return [str(name) for name in known[start:stop]]
    if isinstance(chosen, slice | int):
        return [str(name) for name in np.atleast_1d(known[chosen])]
    listed = list(chosen)
    if all(isinstance(each, str) for each in listed):
        return listed
    return [str(name) for name in known[np.asarray(listed)]]


def _columns(transformer: Any, names: list[str]) -> list[Number | Category] | None:
    """What a transformer makes of its columns, None if it cannot be said."""
    if isinstance(transformer, OneHotEncoder):
        return _indicators(transformer, names)
    is_pipeline = isinstance(transformer, Pipeline)
    parts = [step for _, step in transformer.steps] if is_pipeline else [transformer]
    numbers = [Number(name, 0.0, 1.0, np.nan) for name in names]
    for part in parts:
        if _is(part, "passthrough") or part is None:
            continue
        made = _further(part, numbers)
        if made is None:
            return None
        numbers = made
    return [_filled(number) for number in numbers]


def _filled(number: Number) -> Number:
    return replace(number, fill=number.shift) if np.isnan(number.fill) else number


def _further(step: Any, numbers: list[Number]) -> list[Number] | None:
    """The numbers after one step more."""
    if isinstance(step, SimpleImputer):
        statistics = np.asarray(step.statistics_)
        if (
            statistics.dtype.kind not in "fiu"
            or statistics.shape != (len(numbers),)
            or not np.isfinite(statistics).all()
            or step.add_indicator
            or not (isinstance(step.missing_values, float) and np.isnan(step.missing_values))
            or any(number.shift != 0.0 or number.scale != 1.0 for number in numbers)
        ):
            return None
        return [
            replace(number, fill=float(fill))
            for number, fill in zip(numbers, statistics, strict=True)
        ]
    affine = shift_and_scale(step, len(numbers))
    if affine is None:
        return None
    return [
        Number(n.name, n.shift + n.scale * float(shift), n.scale * float(scale), n.fill)
        for n, shift, scale in zip(numbers, *affine, strict=True)
    ]


def _indicators(encoder: OneHotEncoder, names: list[str]) -> list[Number | Category] | None:
    rare = encoder.min_frequency is not None or encoder.max_categories is not None
    if encoder.drop is not None or rare:
        return None
    columns: list[Number | Category] = []
    for name, categories in zip(names, encoder.categories_, strict=True):
        texts = as_texts(np.asarray(categories, dtype=object))
        known = [text for text in texts if text is not None]
        # an empty text is a missing one in our tables, and a value to scikit-learn
        has_missing = texts[-1:] == [None]
        if (
            len(known) + has_missing < len(texts)
            or len({*known}) < len(known)
            or "" in list(categories)
        ):
            return None
        columns.append(Category(name, tuple(known), has_missing))
    return columns
