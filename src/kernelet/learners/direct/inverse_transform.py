"""From components back to rows, for estimators that learn ``inverse_transform``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels import Gaussian
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.lazy_prediction import lazily
from kernelet.learners.base.progress import Method
from kernelet.learners.base.validation import check_array
from kernelet.machine import KernelMachine
from kernelet.persistence import ModelFileError

# What files hold of `inverse_transform`, if it was learned.
WAY_BACK: dict[str, type] = {
    "_inverse_vectors": np.ndarray,
    "_inverse_coefficients": np.ndarray,
    "_inverse_intercepts": np.ndarray,
    "_inverse_gamma": float,
}


def _goes_back(model: WayBack) -> bool:
    if not model.fit_inverse_transform:
        raise AttributeError("inverse_transform is only learned with fit_inverse_transform=True.")
    return True


def _if_it_goes_back(method: Method) -> Method:
    conditional: Method = available_if(_goes_back)(method)
    return conditional


class WayBack:
    """Mixin for estimators with ``inverse_transform``, which has its own machine.

    The class has the parameter ``fit_inverse_transform`` and ``machine_``, which maps rows to
    components; its ``fit`` calls `_keep_way_back`.
    """

    fit_inverse_transform: bool
    machine_: KernelMachine

    def _keep_way_back(self, back: KernelMachine | None) -> None:
        """Set the machine from components to rows; None if there is none."""
        for name in WAY_BACK:
            self.__dict__.pop(name, None)
        if back is None:
            return
        assert isinstance(back.kernel, Gaussian)
        self._inverse_vectors = np.asarray(back.vectors)
        self._inverse_coefficients = np.asarray(back.coefficients)
        self._inverse_intercepts = np.asarray(back.intercepts)
        self._inverse_gamma = back.kernel.gamma

    @property
    def inverse_machine_(self) -> KernelMachine | None:
        """The machine from components to rows, or None."""
        if not hasattr(self, "_inverse_gamma"):
            return None
        return KernelMachine(
            Gaussian(self._inverse_gamma),
            self._inverse_vectors,
            self._inverse_coefficients,
            self._inverse_intercepts,
        )

    @_if_it_goes_back
    @lazily
    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows that have about these components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        back = self.inverse_machine_
        if back is None:
            raise NotFittedError("fit_inverse_transform was set after fit; fit again.")
        components = check_array(X, dtype=np.float64)
        if components.shape[1] != self.machine_.n_outputs:
            raise ValueError(
                f"X has {components.shape[1]} columns, but there are {self.machine_.n_outputs} "
                "components."
            )
        rows: FloatArray = back.decision_function(components)
        return rows.reshape(rows.shape[0], -1)

    def _check_way_back(self) -> None:
        """Refuse a file whose two machines do not belong together."""
        back, there = self.inverse_machine_, self.machine_
        if back is not None and (
            back.n_features != there.n_outputs or back.n_outputs != there.n_features
        ):
            raise ModelFileError("the machine of inverse_transform does not fit the other machine")
