r"""The leading eigenvectors of a Gram matrix as coordinates, for points in and out of the sample.

With the Gram matrix :math:`K^z = U \Lambda U'` of a sample, the functions
:math:`V_k = \lambda_k^{-1/2} \sum_j u_{jk} k(\cdot, z_j)` are orthonormal, equation (3.4) of
Yajima, Ohi and Mori (2003), and the coordinates of the projection of any point onto the first S of
them are :math:`[x]_V = \Lambda_S^{-1/2} U_S' \psi_z(x)`, (3.5)-(3.6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels import Kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.subspace.eigenpairs import eigenpairs
from kernelet.subspace.whitening import TransformedMap, relative_rank_tolerance, symmetric


@dataclass(frozen=True, eq=False)
class PrincipalMap(TransformedMap):
    """The projection onto the leading eigenvectors of the Gram matrix of some vectors.

    Unlike `WhitenedMap` it orders directions by how much of the vectors they carry, so the
    first few are kept. Directions at or below `relative_rank_tolerance` are left out, and so are
    negative ones.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (m, d)
    transform : ndarray of shape (rank, m)
        The matrix T = Lambda^(-1/2) U'.
    eigenvalues : ndarray of shape (rank,)
        In decreasing order.

    References
    ----------
    Yajima, Ohi, Mori (2003), equations (3.4)-(3.6).

    Examples
    --------
    >>> from kernelet.kernels import Linear
    >>> space = PrincipalMap.from_vectors(Linear(), [[2.0, 0.0], [0.0, 1.0]], 1)
    >>> space.features([[3.0, 5.0]])
    array([[3.]])
    """

    kernel: Kernel
    vectors: FloatArray
    transform: FloatArray
    eigenvalues: FloatArray

    @classmethod
    def from_vectors(
        cls, kernel: Kernel, vectors: ArrayLike, n_components: int | None = None
    ) -> PrincipalMap:
        """Decompose the Gram matrix of the vectors.

        Parameters
        ----------
        kernel : Kernel
        vectors : array-like of shape (m, d)
        n_components : int, optional
            How many leading directions to keep; fewer where the rank is less, all without it.

        Raises
        ------
        ValueError
            If the kernel has no positive direction on these vectors.
        """
        Z = np.ascontiguousarray(vectors, dtype=np.float64)
        if Z.ndim != 2 or not Z.size or not np.isfinite(Z).all():
            raise ValueError(f"vectors must be finite, of shape (m, d); got shape {Z.shape}.")
        if n_components is not None and n_components < 1:
            raise ValueError(f"n_components must be at least 1, got {n_components}.")
        gram = symmetric(kernel, np.asarray(kernel(Z, Z), dtype=np.float64))
        m = Z.shape[0]
        wanted = m if n_components is None else min(n_components, m)
        eigenvalues, U = eigenpairs(gram, wanted, check_finite=False)
        eigenvalues, U = eigenvalues[::-1], U[:, ::-1]
        rank = int(np.sum(eigenvalues > relative_rank_tolerance(m) * max(eigenvalues[0], 0.0)))
        if not rank:
            raise ValueError(
                f"{kernel!r} has no positive direction on these {m} vectors; take a positive "
                "definite kernel, or scale the data."
            )
        eigenvalues, U = eigenvalues[:rank].copy(), U[:, :rank]
        # an eigenvector's sign is arbitrary: the largest component is made positive
        largest = U[np.abs(U).argmax(axis=0), np.arange(rank)]
        transform = np.ascontiguousarray((U * (np.sign(largest) / np.sqrt(eigenvalues))).T)
        return cls(kernel, Z, transform, eigenvalues)

    def weights(self, coefficients: ArrayLike) -> FloatArray:
        """The weights Lambda T beta of the machine with these coefficients, (m,) or (m, k).

        The machine is projected onto the directions kept.
        """
        projected = self.transform @ np.asarray(coefficients, dtype=np.float64)
        w: FloatArray = (projected.T * self.eigenvalues).T
        return w
