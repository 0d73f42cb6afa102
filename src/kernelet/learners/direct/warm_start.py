"""Paths over budgets and warm starts, for estimators whose vectors can be gone on from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from kernelet.kernels import Kernel
from kernelet.learners.base.parameters import count, positive
from kernelet.learners.direct.search.objective import FloatArray
from kernelet.machine import KernelMachine

# In a path, the tolerance of all models but the largest, in units of tol. On digits, pendigits and
# satimage a path then costs about its largest model, at the errors of fits from nothing.
_PATH_TOL = 5.0


class WarmStarted:
    """Remembers its vectors as ``_vector_sets``, their numbers as ``_set_sizes``; a mixin."""

    n_vectors: int | Sequence[int]
    tol: float
    warm_start: bool
    machine_: KernelMachine

    def fit_path(
        self,
        X: Any,
        y: Any,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> list[Self]:
        """Fitted models for several budgets, each started from the one before.

        Increasing budgets add vectors where they lower W most, decreasing ones drop those that
        are missed least, and each machine is then polished: with ``tol`` for the largest budget
        and five times that for the others, which start near their end. The whole path then costs
        little more than its largest model alone. This estimator itself is left unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        list of estimators
            One fitted estimator for each budget.
        """
        return list(self.iter_path(X, y, budgets, sample_weight))

    def iter_path(
        self,
        X: Any,
        y: Any,
        budgets: Sequence[int],
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """The models of `fit_path` one after the other, each as soon as it is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like or None
            Labels or targets, as `fit` takes them.
        budgets : sequence of int
            Values of ``n_vectors``, in the order in which they are to be fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Yields
        ------
        estimator
            A fitted estimator for the next budget.
        """
        last: Any = None
        largest = max(budgets, default=0)
        for budget in budgets:
            model: Any = clone(self).set_params(n_vectors=budget)
            if budget < largest:
                model.set_params(tol=_PATH_TOL * positive("tol", self.tol))
            if last is not None:
                model.set_params(warm_start=True)
                model._vector_sets, model._kernel_before = last._vector_sets, last.machine_.kernel
                if hasattr(last, "C_"):
                    model.C_ = last.C_
            model.fit(X, y, sample_weight)
            last = model.set_params(warm_start=self.warm_start, tol=self.tol)
            yield last

    def _budgets(self, n_searches: int) -> list[int]:
        if np.ndim(self.n_vectors) == 0:
            return [count("n_vectors", self.n_vectors)] * n_searches
        budgets = [count("n_vectors", int(value)) for value in np.asarray(self.n_vectors)]
        if len(budgets) != n_searches:
            raise ValueError(
                f"n_vectors holds {len(budgets)} numbers but there are {n_searches} independent "
                'sets of vectors; give one number, or one per class with vectors="per_class".'
            )
        return budgets

    def _last_vectors(self, n_features: int, n_searches: int) -> list[FloatArray | None]:
        """Vectors of the last fit, where there is one that fits these data."""
        last = getattr(self, "_vector_sets", None) if self.warm_start else None
        if last is None or len(last) != n_searches or last[0].shape[1] != n_features:
            return [None] * n_searches
        return list(last)

    def _last_kernel(self) -> Kernel | None:
        """The kernel of the last fit, for a search that starts from its vectors."""
        fitted = getattr(self, "machine_", None)
        return getattr(self, "_kernel_before", None) if fitted is None else fitted.kernel

    def _recall_vectors(self) -> None:
        """After loading: a file holds the vectors once, in the machine; a warm start needs them."""
        sizes = getattr(self, "_set_sizes", np.zeros(0, dtype=np.int64))
        if sizes.sum() == self.machine_.n_vectors and (sizes > 0).all() and sizes.ndim == 1:
            vectors = np.array(self.machine_.vectors, dtype=np.float64)
            self._vector_sets = np.split(vectors, np.cumsum(sizes)[:-1])
