"""Predictions of fitted models for out-of-core rows: lazy, like the rows."""

from __future__ import annotations

import copy
import functools
import inspect
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelet.rows import Chunks
from kernelet.rows.opening import is_dask

Method = TypeVar("Method", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

_METHODS = (
    "decision_function",
    "predict",
    "predict_proba",
    "score_samples",
    "transform",
)


def lazy_methods(cls: Class) -> Class:
    """Let the methods that a class of fitted models defines itself take out-of-core rows.

    It must be the outermost decorator: scikit-learn's ``set_output`` would compute a data frame.
    """
    for name in _METHODS:
        if inspect.isfunction(vars(cls).get(name)):
            setattr(cls, name, lazily(vars(cls)[name]))
    return cls


def lazily(method: Method) -> Method:
    """Let a method of a fitted model take `Chunks` and Dask collections.

    For `Chunks` the result is `Chunks`, for Dask arrays and data frames a Dask array; nothing is
    computed. It is the result of the model as it is now, even if that is fitted again before the
    result is computed.
    """

    @functools.wraps(method)
    def either(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not (isinstance(X, Chunks) or is_dask(X)):
            return method(self, X, *args, **options)
        name = method.__name__
        if any(args) or any(options.values()):
            raise ValueError(
                f"{name} takes only X for rows that are not in memory; got "
                f"{(*args, *options)!r:.60}. Call it for each block of rows."
            )
        check_is_fitted(self)
        return Call(copy.copy(self), name).over(X)

    wrapped: Method = either  # type: ignore[assignment]  # of the same signature
    return wrapped


@dataclass(frozen=True, eq=False)
class Call:
    """A method of a model, for some rows.

    Attributes
    ----------
    model : object
    name : str
        Of the method.
    columns : sequence of str or None
        Names of the columns, for rows that have lost them.
    nothing : ndarray or None
        What it returns for no rows, where this is known.
    """

    model: Any
    name: str
    columns: Sequence[Any] | None = None
    nothing: NDArray[Any] | None = None

    def over(self, X: Any) -> Any:
        """What it will return for `Chunks` or a Dask collection."""
        return X.map(self) if isinstance(X, Chunks) else _over_dask(self, X)

    def __call__(self, rows: Any) -> Any:
        if self.columns is not None:
            from pandas import DataFrame

            rows = DataFrame(rows, columns=self.columns)
        method = getattr(self.model, self.name)
        if rows.shape[0]:
            # an array, whatever set_output says
            return np.asarray(method(rows))
        # scikit-learn takes no empty arrays, which Dask has many of
        if self.nothing is not None:
            return self.nothing
        one = np.zeros((1, rows.shape[1]))
        if hasattr(rows, "columns"):
            one = type(rows)(one, columns=rows.columns)
        return np.asarray(method(one))[:0]


def _over_dask(call: Call, X: Any) -> Any:
    from dask.delayed import delayed

    if hasattr(X, "columns"):
        call = replace(call, columns=list(X.columns))
        X = X.to_dask_array()
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, got {X.ndim}; take X.to_frame() of a series."
        )
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    if call.nothing is None:
        # this also reports at once what is wrong with the columns
        call = replace(call, nothing=call(np.zeros((1, X.shape[1]), dtype=X.dtype))[:0])
    meta = np.asarray(call.nothing)
    # the model is a node of the graph: it goes to each worker once, not with every block
    key = f"kernelet_{call.name}"
    shared = delayed(call, name=f"{key}_model-{uuid.uuid4().hex}", traverse=False)
    options: dict[str, Any] = {"name": f"{key}-{uuid.uuid4().hex}", "dtype": meta.dtype}
    if meta.ndim == 1:
        options["drop_axis"] = 1
    else:
        options["chunks"] = (X.chunks[0], (meta.shape[1],))
    return X.map_blocks(_applied, call=shared, meta=meta, **options)


def _applied(rows: Any, call: Call) -> Any:
    return call(rows)
