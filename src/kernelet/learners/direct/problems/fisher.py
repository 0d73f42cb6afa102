"""The kernel Fisher discriminant as an inner problem, in memory and by sums over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular, svd

from kernelet.kernels.numerics.arrays import FloatArray, IndexArray
from kernelet.learners.direct.search.inner_problem import InnerSolution, Start, no_feature
from kernelet.rows import Block, LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import FeatureMap, Targets
from kernelet.solvers.ridge_system import ridge_triangle, solve_ridge_products
from kernelet.subspace import WhitenedMap


class ContrastProblem:
    r"""One Fisher direction for each two-class contrast (one-vs-rest for many classes).

    .. math:: \max_w \frac{(w'(m_+ - m_-))^2}{w' S_w w + \mu \|w\|^2}

    Equations (49)-(63) with the mean within-class variance as S_w. The between-class variance has
    rank one, so the eigenvector (60) is (S_w + mu I)^-1 (m_+ - m_-) and needs no eigenvalue
    solver; in whitened coordinates S_w + mu I is positive definite whatever the rank of K^z. The
    inner value is minus the largest eigenvalue (62), summed over the contrasts.

    Parameters
    ----------
    Y : ndarray of shape (n, k)
        Labels, -1 or +1, a column for each contrast.
    weights : ndarray of shape (n,)
        Weights of the rows.
    mu : float
        Regularisation, in units of the features' variance.
    """

    def __init__(self, Y: FloatArray, weights: FloatArray, mu: float) -> None:
        self.Y = Y
        self.share = weights / weights.sum()
        self.mu = mu

    is_sum = False

    @property
    def n_outputs(self) -> int:
        """How many contrasts there are."""
        return int(self.Y.shape[1])

    @property
    def smooth(self) -> ContrastProblem:
        """The problem itself: eigenvalues have derivatives."""
        return self

    def approximate(
        self, Phi: FloatArray, start: Start | None, slopes: FloatArray | None = None
    ) -> InnerSolution:
        """A closed form is as it is."""
        return self.solve(Phi.astype(np.float64, copy=False), start)

    def subset(self, index: IndexArray, scale: float | FloatArray = 1.0) -> ContrastProblem:
        """The same problem over some of its rows; what they cost in common makes no difference."""
        return ContrastProblem(self.Y[index], self.share[index], self.mu)

    def row_losses(self, solution: InnerSolution) -> None:
        """None: the value is no sum over rows."""

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve each contrast in closed form."""
        columns = [self._direction(Phi, y) for y in self.Y.T]
        directions, slopes, eigenvalues = zip(*columns, strict=True)
        return _contrasts(directions, eigenvalues, np.stack(slopes, axis=1), self.mu)

    def _direction(self, Phi: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """The direction with w'(S_w + mu I)w = 1, dF/df by (63), and the eigenvalue."""
        # rows of P average over a class; centred rows give the within-class variance
        P = np.stack([self.share * (y > 0), self.share * (y < 0)])
        size = P.sum(axis=1, keepdims=True)
        if not size.all() or not Phi.shape[1]:
            # no contrast: a class of weight zero, or a kernel that is zero
            return np.zeros(Phi.shape[1]), np.zeros(y.size), 0.0
        P /= size
        means = P @ Phi
        centred = Phi - means[(y < 0).astype(np.intp)]
        contrast = means[0] - means[1]
        w = cho_solve((ridge_triangle(centred, self.share, self.mu), False), contrast)
        eigenvalue = float(contrast @ w)
        w = w / np.sqrt(max(eigenvalue, np.finfo(float).tiny))
        distance = float(contrast @ w)
        slope = 2.0 * eigenvalue * self.share * (centred @ w) - 2.0 * distance * (P[0] - P[1])
        return w, slope, eigenvalue


def _contrasts(
    directions: Sequence[FloatArray],
    eigenvalues: Sequence[float],
    slopes: FloatArray,
    mu: float,
) -> InnerSolution:
    """The solution for all contrasts; a closed form has no gap."""
    return InnerSolution(
        value=-float(sum(eigenvalues)),
        weights=np.stack(directions, axis=1),
        intercepts=np.zeros(len(directions)),
        score_gradient=slopes,
        norm_gradient=2.0 * mu * np.array(eigenvalues),
        gap=0.0,
    )


class DiscriminantProblem:
    r"""The leading Fisher directions of many classes at once.

    Maximises the sum of the n_components largest eigenvalues of
    :math:`S_b w = \lambda (S_w + \mu I) w`, with S_b the variance of the class means.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes, numbered.
    weights : ndarray of shape (n,)
    mu : float
    n_components : int
        At most k - 1.
    """

    def __init__(
        self, codes: np.ndarray, weights: FloatArray, mu: float, n_components: int
    ) -> None:
        # classes without a row, as weights of zero leave them, are no classes here
        self.codes = np.unique(codes, return_inverse=True)[1]
        self.share = weights / weights.sum()
        self.mu = mu
        self.n_components = n_components

    smooth = None

    def solve(self, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """A generalised eigenvalue problem of the size of the subspace."""
        if not Phi.shape[1]:
            return no_feature(self.codes.size)
        n_classes = int(self.codes.max()) + 1
        member = self.share * (self.codes == np.arange(n_classes)[:, None])
        size = member.sum(axis=1)
        means = (member @ Phi) / size[:, None]
        centred = Phi - means[self.codes]
        grand = size @ means
        k = min(self.n_components, Phi.shape[1])
        # with S_w + mu I = R'R and S_b = M'M, R w are right singular vectors of M R^-1
        R = ridge_triangle(centred, self.share, self.mu)
        M = np.sqrt(size)[:, None] * (means - grand)
        _, lengths, V = svd(solve_triangular(R, M.T, trans="T").T, full_matrices=False)
        values, W = lengths[:k] ** 2, solve_triangular(R, V[:k].T)
        # a direction's sign is free: its largest weight is positive, so refits agree
        W = W * np.sign(W[np.abs(W).argmax(axis=0), np.arange(k)])
        scores_within = centred @ W
        scores_between = (means - grand)[self.codes] @ W
        slope = 2.0 * self.share[:, None] * (values * scores_within - scores_between)
        return InnerSolution(
            value=-float(values.sum()),
            weights=W,
            intercepts=-(grand @ W),
            score_gradient=slope,
            norm_gradient=2.0 * self.mu * values,
            gap=0.0,
        )


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """Weights, sums and products of features, by class; about a shift."""

    sizes: FloatArray
    sums: FloatArray
    products: FloatArray

    def __add__(self, other: FeatureMoments) -> FeatureMoments:
        return FeatureMoments(
            self.sizes + other.sizes, self.sums + other.sums, self.products + other.products
        )


@dataclass(frozen=True, eq=False)
class _MomentPass:
    space: FeatureMap
    n_classes: int
    shift: FloatArray

    def __call__(self, block: Block) -> FeatureMoments:
        Phi = self.space.features(block.X) - self.shift
        member = np.where(block.codes == np.arange(self.n_classes)[:, None], block.weights, 0.0)
        return FeatureMoments(
            member.sum(axis=1), member @ Phi, Phi.T @ (block.weights[:, None] * Phi)
        )


class ContrastBlockProblem:
    """Fisher directions of one class against the rest; see `ContrastProblem`.

    Parameters
    ----------
    targets : Targets
    mu : float
        Regularisation, in units of the features' variance.
    """

    is_smooth = True

    def __init__(self, targets: Targets, mu: float) -> None:
        self.targets, self.mu = targets, mu

    def over(self, codes: IndexArray, weights: FloatArray) -> ContrastProblem:
        """The problem over some rows in memory, whose weights stand for all."""
        return ContrastProblem(self.targets.of(codes), weights, self.mu)

    def scaled(self, cost: float) -> ContrastBlockProblem:
        """The same problem: what all rows cost in common makes no difference."""
        return self

    def solve(
        self, rows: LabelledBlocks, sample: Sample, space: WhitenedMap, start: Start | None
    ) -> InnerSolution:
        """Solve each contrast in closed form, from the moments of the classes; no slopes."""
        # about the mean of the sample, so that variances keep their digits
        shift = np.average(space.features(sample.block.X), axis=0, weights=sample.weights)
        moments = rows.total(_MomentPass(space, rows.classes.size, shift), "moments")
        share = moments.sizes / moments.sizes.sum()
        sums, products = moments.sums / moments.sizes.sum(), moments.products / moments.sizes.sum()
        found = [self._direction(k, share, sums, products) for k in self.targets.positive]
        directions, eigenvalues = zip(*found, strict=True)
        return _contrasts(directions, eigenvalues, np.empty((0, len(found))), self.mu)

    def _direction(
        self, positive: int, share: FloatArray, sums: FloatArray, products: FloatArray
    ) -> tuple[FloatArray, float]:
        """The direction with w'(S_w + mu I)w = 1, and the eigenvalue."""
        sizes = np.array([share.sum() - share[positive], share[positive]])
        if not sizes.all() or not sums.shape[1]:
            # no contrast: a class of weight zero, or a kernel that is zero
            return np.zeros(sums.shape[1]), 0.0
        means = np.stack([sums.sum(axis=0) - sums[positive], sums[positive]]) / sizes[:, None]
        within = products - means.T @ (sizes[:, None] * means)
        within = 0.5 * (within + within.T)
        within[np.diag_indices_from(within)] += self.mu
        contrast = means[1] - means[0]
        w = solve_ridge_products(within, contrast)
        eigenvalue = float(contrast @ w)
        return w / np.sqrt(max(eigenvalue, np.finfo(np.float64).tiny)), eigenvalue
