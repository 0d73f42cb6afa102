"""Rows without labels, made ready for the learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from kernelet.kernels import Kernel
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.base.training_data import FloatArray
from kernelet.learners.base.training_kernel import training_kernel
from kernelet.subspace import canonical_rows


@dataclass(frozen=True, eq=False)
class UnlabelledSet:
    """Canonical rows, with the kernel resolved on them.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
    weights : ndarray of shape (n,)
    kernel : Kernel
    rng : RandomState
    """

    X: Any
    weights: FloatArray
    kernel: Kernel
    rng: np.random.RandomState


def unlabelled_set(estimator: Any, X: Any, sample_weight: ArrayLike | None) -> UnlabelledSet:
    """Validate the arguments of ``fit`` for an estimator.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0`` and, where
    anything is random, ``random_state``.
    """
    X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64)
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    remember_training(estimator, X.shape[0])
    rows = canonical_rows(X, None, weights)
    kernel = training_kernel(estimator, rows.X, rows.costs)
    rng = check_random_state(getattr(estimator, "random_state", None))
    return UnlabelledSet(rows.X, rows.costs, kernel, rng)
