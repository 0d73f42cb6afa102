"""Kernel PCA as an inner problem: directions of the subspace that keep most variance."""

from __future__ import annotations

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.direct.search.inner_problem import InnerSolution, Start, no_feature
from kernelet.subspace.eigenpairs import eigenpairs


class PrincipalProblem:
    r"""The leading principal components of the rows, among the directions of the subspace.

    .. math:: \min_{w_1, \dots, w_k} -\sum_j \mathrm{var}\, \langle w_j, \phi(x)\rangle
        \quad\text{s.t.}\quad \langle w_i, w_j \rangle = \delta_{ij}

    The solution are eigenvectors of the covariance of the features. At these the multipliers of
    the constraints are the eigenvalues, and those between two components are zero.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Weights of the rows.
    n_components : int
        At most this many; a subspace of fewer dimensions gives fewer.
    """

    def __init__(self, weights: FloatArray, n_components: int) -> None:
        self.share = weights / weights.sum()
        self.n_components = n_components

    smooth = None

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """An eigenvalue problem of the size of the subspace."""
        if not Phi.shape[1]:
            return no_feature(self.share.size)
        middle = self.share @ Phi
        centred = Phi - middle
        covariance = centred.T @ (self.share[:, None] * centred)
        k = min(self.n_components, Phi.shape[1])
        values, W = eigenpairs(covariance, k)
        values, W = values[::-1], W[:, ::-1]
        scores = centred @ W
        # a component's sign is free: its longest score is positive, so refits agree
        signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(k)])
        signs[signs == 0.0] = 1.0
        W, scores = W * signs, scores * signs
        return InnerSolution(
            value=-float(values.sum()),
            weights=W,
            intercepts=-(middle @ W),
            score_gradient=-2.0 * self.share[:, None] * scores,
            norm_gradient=2.0 * values,
            gap=0.0,
        )
