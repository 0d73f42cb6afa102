"""Scikit-learn's scalers in front of a model, as columns of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelet.learners.compression.affine_steps import shift_and_scale
from kernelet.machine.columns import Number


def scaled_columns(steps: Sequence[tuple[str, Any]], n_columns: int) -> tuple[Number, ...]:
    """What the scalers of a pipeline do together: (x - shift) / scale in each column.

    Parameters
    ----------
    steps : sequence of (str, fitted transformer)
        StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler, in order.
    n_columns : int

    Returns
    -------
    tuple of Number
        Their ``fill`` is NaN: a scaler leaves what is missing.

    Raises
    ------
    TypeError
        If there is another step.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[1.0], [3.0], [5.0]])
    >>> [(column.name, column.shift, round(column.scale, 3))
    ...  for column in scaled_columns([("scaler", scaler)], 1)]
    [('x0', 3.0, 1.633)]
    """
    shift, scale = np.zeros(n_columns), np.ones(n_columns)
    for name, step in steps:
        affine = shift_and_scale(step, n_columns)
        if affine is None:
            raise TypeError(
                f"the step {name!r} of the pipeline, {step!r}, cannot be exported; StandardScaler, "
                "MinMaxScaler, MaxAbsScaler and RobustScaler without clipping can, and so can one "
                "ColumnTransformer of these and OneHotEncoder. Export the last step alone, or the "
                "whole with skl2onnx (kernelet.export.register_skl2onnx)."
            )
        own_shift, own_scale = affine
        # ((x - shift) / scale - own_shift) / own_scale
        shift, scale = shift + scale * own_shift, scale * own_scale
    first = steps[0][1] if steps else None
    names = getattr(first, "feature_names_in_", [f"x{i}" for i in range(n_columns)])
    return tuple(
        Number(str(name), float(a), float(b), math.nan)
        for name, a, b in zip(names, shift, scale, strict=True)
    )
