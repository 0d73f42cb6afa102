r"""ProtoNN (Gupta et al., ICML 2017): prototypes in a projection, all learned together.

.. math:: f(x) = \sum_j z_j \exp(-\gamma^2 |W x - b_j|^2)

W (d' x d), the prototypes b_j and their labels z_j minimise the squared loss; hard thresholding
keeps the largest entries of W. As in the authors' code, prototypes start at centres of each
class, and gamma is 2.5 over the median distance of rows to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

# Steps of Adam on parts of the rows; the last third of them with the support of W held.
N_STEPS = 3000
BATCH = 256
FIRST_RATE, LAST_RATE = 0.03, 0.0003
DECAYS = (0.9, 0.999)
# W is thresholded after this many steps, as the authors do after each pass.
THRESHOLD_EVERY = 20
GAMMA = 2.5


@dataclass(frozen=True)
class Prototypes:
    """``projection`` (d', d), ``prototypes`` (m, d'), ``labels`` (m, L)."""

    projection: np.ndarray
    prototypes: np.ndarray
    labels: np.ndarray
    gamma: float

    def similarities(self, X: np.ndarray) -> np.ndarray:
        return np.exp(-(self.gamma**2) * squared_distances(X @ self.projection.T, self.prototypes))

    def scores(self, X: np.ndarray) -> np.ndarray:
        return self.similarities(X) @ self.labels


def squared_distances(P: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Between rows."""
    squares = np.square(P).sum(axis=1)[:, np.newaxis] + np.square(B).sum(axis=1)
    return np.maximum(squares - 2.0 * P @ B.T, 0.0)


def loss_and_gradient(
    model: Prototypes, X: np.ndarray, Y: np.ndarray
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Mean squared loss, and its gradient in W, B and Z."""
    P = X @ model.projection.T
    S = np.exp(-(model.gamma**2) * squared_distances(P, model.prototypes))
    R = S @ model.labels - Y
    F = (2.0 / len(X)) * R
    # of the exponents
    E = -(model.gamma**2) * (F @ model.labels.T) * S
    in_rows = 2.0 * (E.sum(axis=1)[:, np.newaxis] * P - E @ model.prototypes)
    in_prototypes = 2.0 * (E.sum(axis=0)[:, np.newaxis] * model.prototypes - E.T @ P)
    loss = float(np.square(R).sum() / len(X))
    return loss, (in_rows.T @ X, in_prototypes, S.T @ F)


def hard_threshold(values: np.ndarray, n_kept: int) -> np.ndarray:
    """Keep the entries of largest size; all others become zero."""
    if n_kept >= values.size:
        return values
    order = np.argpartition(np.abs(values).ravel(), values.size - n_kept)
    kept = values.ravel().copy()
    kept[order[: values.size - n_kept]] = 0.0
    return kept.reshape(values.shape)


def initial(
    X: np.ndarray, y: np.ndarray, rank: int, n_prototypes: int, scale: float, seed: int
) -> Prototypes:
    """Discriminant directions and principal components; centres of each class; one-hot labels."""
    W = directions(X, y, rank)
    P = X @ W.T
    classes = np.unique(y)
    centres, labels = [], []
    for k, label in enumerate(classes):
        share = n_prototypes // len(classes) + (k < n_prototypes % len(classes))
        rows = P[y == label]
        if share == 0:
            continue
        n_centres = min(share, len(rows))
        means = MiniBatchKMeans(n_centres, n_init=1, random_state=seed, batch_size=1024).fit(rows)
        centres.append(means.cluster_centers_)
        labels.append(np.tile(np.eye(len(classes))[k], (n_centres, 1)))
    B = np.concatenate(centres)
    some = P[np.random.default_rng(seed).permutation(len(P))[:1000]]
    median = float(np.median(np.sqrt(squared_distances(some, B))))
    return Prototypes(W, B, np.concatenate(labels), scale * GAMMA / median)


def directions(X: np.ndarray, y: np.ndarray, rank: int) -> np.ndarray:
    """Orthonormal rows: discriminants first, since they separate, then principal components."""
    centred = X - X.mean(axis=0)
    n_first = min(rank, len(np.unique(y)) - 1)
    discriminant = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(centred, y)
    first = discriminant.scalings_[:, :n_first]
    rest = PCA(min(rank, X.shape[1]), random_state=0).fit(centred).components_.T
    found, _ = np.linalg.qr(np.hstack([first, rest])[:, : max(rank, 1)])
    return found.T


def train(start: Prototypes, X: np.ndarray, Y: np.ndarray, n_kept: int, seed: int) -> Prototypes:
    """Adam on all three matrices, with W hard-thresholded to ``n_kept`` entries."""
    X, Y = X.astype(np.float32), Y.astype(np.float32)
    parts = [part.astype(np.float32) for part in (start.projection, start.prototypes, start.labels)]
    # steps in units of the typical entry, so that one rate serves all three
    units = [float(np.sqrt(np.mean(part**2))) for part in parts]
    first = [np.zeros_like(part) for part in parts]
    second = [np.zeros_like(part) for part in parts]
    rng = np.random.default_rng(seed)
    batches = _batches(rng, len(X))
    gamma = np.float32(start.gamma)
    for step in range(N_STEPS):
        rows = batches()
        _, gradient = loss_and_gradient(Prototypes(*parts, gamma), X[rows], Y[rows])
        rate = LAST_RATE + 0.5 * (FIRST_RATE - LAST_RATE) * (1 + np.cos(np.pi * step / N_STEPS))
        for i, slope in enumerate(gradient):
            first[i] += (1 - DECAYS[0]) * (slope - first[i])
            second[i] += (1 - DECAYS[1]) * (slope**2 - second[i])
            mean = first[i] / (1 - DECAYS[0] ** (step + 1))
            size = np.sqrt(second[i] / (1 - DECAYS[1] ** (step + 1))) + 1e-12
            parts[i] -= np.float32(rate * units[i]) * mean / size
        if n_kept < parts[0].size:
            if step < 2 * N_STEPS // 3:
                if step % THRESHOLD_EVERY == 0:
                    parts[0] = hard_threshold(parts[0], n_kept)
            else:
                if step == 2 * N_STEPS // 3:
                    support = hard_threshold(parts[0], n_kept) != 0.0
                parts[0] *= support
    return Prototypes(*(part.astype(np.float64) for part in parts), start.gamma)


def _batches(rng: np.random.Generator, n: int) -> Callable[[], np.ndarray]:
    """Parts of a permutation of the rows, then of the next one."""
    left = np.empty(0, dtype=np.int64)

    def following() -> np.ndarray:
        nonlocal left
        if left.size < min(BATCH, n):
            left = rng.permutation(n)
        rows, left = left[:BATCH], left[BATCH:]
        return rows

    return following
