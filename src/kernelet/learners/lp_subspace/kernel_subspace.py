"""The leading Gram eigenvectors of a sample as features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.constant_fits import warn_if_constant
from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.model_file import saved
from kernelet.learners.base.out_of_core import SAMPLE_ROWS, out_of_core_data
from kernelet.learners.base.progress import Loop
from kernelet.learners.base.training_data import TrainingData, unlabelled_data
from kernelet.learners.base.transformer import KernelFeatures
from kernelet.learners.lp_subspace.space import (
    SubspaceSettings,
    principal_space,
    projecting_machine,
)
from kernelet.rows import is_distant


@saved(eigenvalues_=np.ndarray)
class KernelSubspace(KernelFeatures):
    r"""Coordinates in the span of the leading Gram eigenvectors of a sample.

    .. math:: [x]_V = \Lambda_S^{-1/2} U_S'\, (k(x, z_1), \ldots, k(x, z_L))', \qquad
        K^z = U \Lambda U'

    the projection of :math:`\phi(x)` onto S orthonormal directions of the feature space: kernel
    principal components without centring. Scalar products of the features are those of the
    projections.

    Parameters
    ----------
    n_components : int, default=200
        Number of features S; fewer if the sample has a smaller rank.
    n_landmarks : int or None, default=None
        Number of sample points L; None means 1000 or three times ``n_components``, whichever is
        more, but never more than there are distinct rows.
    kernel : str, Kernel or callable, default="rbf"
        A name or a kernel object.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, resolved as scikit-learn does.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    landmarks : {"random", "kmeans", "greedy", "sgma"} or array, default="random"
        How the sample points are chosen: at random as in the paper, centres of k-means, pivots of
        the Cholesky decomposition, sparse greedy approximation, or these points.
    random_state : int, RandomState instance or None, default=None
        Draws the sample.

    Attributes
    ----------
    machine_ : KernelMachine
        Computes the features.
    eigenvalues_ : ndarray of shape (n_components,)
        The leading eigenvalues of the Gram matrix, in decreasing order.
    n_components_ : int
        Number of expansion vectors.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        The sample points.
    n_landmarks_ : int
        Their number: kernel evaluations per row.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    Y. Yajima, H. Ohi, M. Mori, "Extracting feature subspace for kernel based linear programming
    support vector machines", J. Oper. Res. Soc. Japan 46 (2003), equations (3.4)-(3.6).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> space = KernelSubspace(20, n_landmarks=300, random_state=0).fit(X)
    >>> space.transform(X).shape
    (1797, 20)
    """

    def __init__(
        self,
        n_components: int = 200,
        *,
        n_landmarks: int | None = None,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        landmarks: str | ArrayLike = "random",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the subspace.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; or a `numpy.memmap`, `kernelet.rows.Chunks`, a Dask array or a Dask data frame,
            which are gone through once; the sample points are then chosen among 20000 random rows.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: their probabilities of being drawn.

        Returns
        -------
        self : object
        """
        settings = SubspaceSettings.of(self)
        rows: TrainingData
        if is_distant(X):
            n_drawn = max(SAMPLE_ROWS, settings.n_drawn)
            rows = out_of_core_data(self, X, None, sample_weight, n_drawn).at_hand
        else:
            rows = unlabelled_data(self, X, sample_weight)
        with Loop(self):
            space = principal_space(rows, settings)
        self.machine_ = projecting_machine(space)
        self.eigenvalues_ = space.eigenvalues
        warn_if_constant(self, rows.X)
        return self

    @property
    def landmarks_(self) -> FloatArray:
        """The sample points."""
        vectors: FloatArray = self.machine_.vectors
        return vectors

    @property
    def n_landmarks_(self) -> int:
        """The number of sample points."""
        return self.machine_.n_vectors
