"""What holds of every method that fits: it succeeds, or it leaves everything as it was."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from kernelet.kernels.numerics.blocks import threads_as_before
from kernelet.kernels.silence import filters_as_before
from kernelet.learners.base.progress import Method, with_callbacks


@contextmanager
def settings_as_before() -> Iterator[None]:
    """Put back what belongs to the process: BLAS threads, warning filters, NumPy's error handling.

    Contexts inside change it for a moment. Where Ctrl-C comes just as one is about to put it back,
    it would stay changed: in one of some hundred interrupted fits (``python -m benchmarks.hardening
    interrupts``).
    """
    # a plain errstate changes nothing, but takes back what those inside it have left
    with np.errstate(), threads_as_before(), filters_as_before():
        yield


def fit_method(method: Method) -> Method:
    """Wrap a method that fits: if it fails, the estimator stays as it was.

    Fitted attributes are set one after the other. Without this, an error or Ctrl-C between two of
    them would leave some of the new fit and some of the last one, and predictions that mix them.

    The settings of the process are put back as well, and registered callbacks end with the method.
    """
    managed = with_callbacks(method)

    @functools.wraps(method)
    def fit(estimator: Any, *arguments: Any, **options: Any) -> Any:
        before = dict(vars(estimator))
        try:
            with settings_as_before():
                return managed(estimator, *arguments, **options)
        except BaseException:
            estimator.__dict__ = before
            raise

    return cast(Method, fit)
