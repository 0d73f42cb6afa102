"""What a prediction of a fitted model costs: vectors, bytes, time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from kernelet.kernels.numerics.blocks import THREADED_ELEMENTS, one_blas_thread
from kernelet.machine import stored_bytes

# Rows are predicted in batches of this length, as the documentation says: the overhead of a call
# is shared by all of them.
BATCH = 1000
# A batch with more kernel values is split: with its scratch it would be worth several threads.
_MOST_VALUES = THREADED_ELEMENTS // 2
# A search measures every model of every fold, so a measurement must be short compared with a fit:
# no run begins after this many seconds. Slow models then have one run, which is long enough.
_ENOUGH = 0.02
# Runs of a quick model. The shortest counts; more runs hardly change it.
_RUNS = 10


def kernel_step(model: Any) -> Any:
    """The step that evaluates the kernel: the last such step of a Pipeline, or the model itself."""
    if isinstance(model, Pipeline):
        steps = [kernel_step(step) for _, step in model.steps]
        with_vectors = [step for step in steps if not np.isnan(vectors_used(step))]
        return with_vectors[-1] if with_vectors else steps[-1]
    return model


def vectors_used(model: Any) -> float:
    """Kernel evaluations per row; NaN for a model without kernels.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> vectors_used(SVC().fit([[0.0], [1.0], [5.0]], [0, 0, 1]))
    3.0
    """
    step: Any = kernel_step(model) if isinstance(model, Pipeline) else model
    machine = getattr(step, "machine_", None)
    if machine is not None:
        return float(machine.n_vectors)
    vectors = getattr(step, "support_vectors_", None)
    return float("nan") if vectors is None else float(vectors.shape[0])


def model_bytes(model: Any, target: str | None = None) -> float:
    """Bytes of vectors, coefficients and intercepts; NaN for a model without kernels.

    For a machine these are its `nbytes`. Behind a projection matrix, vectors are as long as the
    matrix has rows.

    Parameters
    ----------
    model : fitted model
    target : {"c"} or None, default=None
        Count the constants of the export instead, labels included (`stored_bytes`); those of a
        model that is not ours as float32.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> model = SVC().fit([[0.0], [1.0], [5.0]], [0, 0, 1])  # 3 + 3 + 1 numbers, 2 labels
    >>> model_bytes(model), model_bytes(model, "c")
    (56.0, 30.0)
    """
    step = kernel_step(model)
    machine = getattr(step, "machine_", None)
    n_labels = len(getattr(step, "classes_", ()))
    if machine is not None and target is not None:
        return float(stored_bytes(machine, target, n_labels=n_labels))
    if machine is not None:
        return float(machine.nbytes)
    names = ("support_vectors_", "dual_coef_", "intercept_")
    parts = [part for name in names if (part := getattr(step, name, None)) is not None]
    if len(parts) < len(names):
        return float("nan")
    # vectors of sparse rows are sparse: count their stored numbers
    stored = [part.data if issparse(part) else part for part in parts]
    if target is not None:
        return float(sum(4 * part.size for part in stored) + n_labels)
    return float(sum(part.nbytes for part in stored))


def microseconds_per_row(model: Any, X: Any) -> float:
    """Microseconds to predict a row on one thread, in batches of 1000.

    The shortest of a few runs, because other work on the computer can only add to the time.

    Parameters
    ----------
    model : fitted model
        Its ``decision_function`` is timed, or else its ``predict`` or ``transform``.
    X : array-like or sparse matrix
        Rows, repeated to fill a batch if there are fewer.

    Returns
    -------
    float
    """
    names = ("decision_function", "predict", "transform")
    methods = [method for name in names if (method := getattr(model, name, None)) is not None]
    if not methods:
        return float("nan")
    n_rows = _num_samples(X)
    n_vectors = np.nan_to_num(vectors_used(model), nan=1.0)
    batch = min(BATCH, max(10, int(_MOST_VALUES / max(n_vectors, 1.0))))
    # A tenth of a batch first: for a slow model that is enough.
    rows, few = (_safe_indexing(X, np.arange(size) % n_rows) for size in (batch, batch // 10))
    least, left = float("inf"), _ENOUGH
    with one_blas_thread():
        for part, length in [(few, batch // 10), *[(rows, batch)] * _RUNS]:
            start = time.perf_counter()
            methods[0](part)
            seconds = time.perf_counter() - start
            least, left = min(least, seconds / length), left - seconds
            if left < 0.0:
                break
    return 1e6 * least
