"""Steps of scikit-learn that shift and scale each column by itself."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from kernelet.kernels.numerics.arrays import FloatArray

SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def shift_and_scale(step: object, n_columns: int) -> tuple[FloatArray, FloatArray] | None:
    """What a fitted step does to each column: (x - shift) / scale.

    Parameters
    ----------
    step : fitted transformer
        StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, or a FunctionTransformer that
        does nothing.
    n_columns : int

    Returns
    -------
    tuple of ndarray of shape (n_columns,), or None
        None for a step that does something else.

    Examples
    --------
    >>> shift_and_scale(MinMaxScaler().fit([[1.0], [5.0]]), 1)
    (array([1.]), array([4.]))
    """
    shift = scale = None
    if isinstance(step, StandardScaler):
        shift = step.mean_ if step.with_mean else None
        scale = step.scale_ if step.with_std else None
    elif isinstance(step, MinMaxScaler) and not step.clip:
        low = step.feature_range[0]
        shift, scale = step.data_min_ - low / step.scale_, 1.0 / step.scale_
    elif isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        scale = step.scale_
    elif isinstance(step, RobustScaler):
        shift = step.center_ if step.with_centering else None
        scale = step.scale_ if step.with_scaling else None
    elif not (isinstance(step, FunctionTransformer) and step.func is step.inverse_func is None):
        return None
    zeros, ones = np.zeros(n_columns), np.ones(n_columns)
    return zeros if shift is None else shift, ones if scale is None else scale
