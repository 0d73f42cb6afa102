"""Scikit-learn's scalers in front of a model, as columns of numbers."""

from __future__ import annotations

import math

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.columns import Number


def scaled_columns(pipeline: Pipeline) -> tuple[Number, ...]:
    """What the scalers of a pipeline do together: (x - shift) / scale in each column.

    Parameters
    ----------
    pipeline : fitted Pipeline
        StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler, and an estimator last.

    Returns
    -------
    tuple of Number
        Their ``fill`` is NaN: a scaler leaves what is missing.

    Raises
    ------
    TypeError
        If another step is in front of the estimator.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> pipeline = make_pipeline(StandardScaler(), SVC()).fit([[1.0], [3.0], [5.0]], [0, 0, 1])
    >>> [(column.name, column.shift, round(column.scale, 3)) for column in scaled_columns(pipeline)]
    [('x0', 3.0, 1.633)]
    """
    check_is_fitted(pipeline)
    d = pipeline[-1].n_features_in_  # scalers keep the number of features
    shift, scale = np.zeros(d), np.ones(d)
    for name, step in pipeline.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        own_shift, own_scale = _affine(name, step, d)
        # ((x - shift) / scale - own_shift) / own_scale
        shift, scale = shift + scale * own_shift, scale * own_scale
    names = getattr(pipeline, "feature_names_in_", [f"x{i}" for i in range(d)])
    return tuple(
        Number(str(name), float(a), float(b), math.nan)
        for name, a, b in zip(names, shift, scale, strict=True)
    )


def _affine(name: str, step: object, d: int) -> tuple[FloatArray, FloatArray]:
    """(shift, scale) of one scaler."""
    zeros, ones = np.zeros(d), np.ones(d)
    if isinstance(step, StandardScaler):
        shift = step.mean_ if step.with_mean else None
        scale = step.scale_
    elif isinstance(step, MinMaxScaler) and not step.clip:
        low = step.feature_range[0]
        shift, scale = step.data_min_ - low / step.scale_, 1.0 / step.scale_
    elif isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        shift, scale = None, step.scale_
    elif isinstance(step, RobustScaler):
        shift = step.center_ if step.with_centering else None
        scale = step.scale_ if step.with_scaling else None
    else:
        raise TypeError(
            f"the step {name!r} of the pipeline, {step!r}, cannot be exported; StandardScaler, "
            "MinMaxScaler, MaxAbsScaler and RobustScaler without clipping can."
        )
    return zeros if shift is None else shift, ones if scale is None else scale
