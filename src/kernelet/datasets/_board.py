"""The checkerboard: uniform points on a board, the class is the colour of the square."""

from __future__ import annotations

import numpy as np

from kernelet.datasets._random import Labels, RandomState, Samples, random_stream


def checkerboard_labels(X: Samples) -> Labels:
    r"""Return the colour of the unit square that each row lies in.

    .. math:: y(x) = (\lfloor x_1 \rfloor + \lfloor x_2 \rfloor) \bmod 2

    Parameters
    ----------
    X : array of shape (n_samples, 2)
        Points of the plane, tiled by squares of side 1.

    Returns
    -------
    y : int array of shape (n_samples,)
        0 or 1.

    Examples
    --------
    >>> from kernelet.datasets import checkerboard_labels
    >>> checkerboard_labels([[0.5, 0.5], [1.5, 0.5], [1.5, 3.5]])
    array([0, 1, 0])
    """
    squares = np.floor(np.asarray(X, dtype=np.float64)).astype(np.int64)
    labels: Labels = squares.sum(axis=1) % 2
    return labels


def make_checkerboard(
    n_samples: int = 1000,
    *,
    n_squares: int = 4,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> tuple[Samples, Labels]:
    r"""Draw points uniformly from an ``n_squares`` by ``n_squares`` board of unit squares.

    .. math::

        x \sim U([0, s]^2), \qquad
        y = (\lfloor x_1 \rfloor + \lfloor x_2 \rfloor) \bmod 2

    and each label is switched with probability ``flip``. The Bayes error is ``flip``, or
    ``1 - flip`` where that is less.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_squares : int, default=4
        Squares along each side of the board, s in the formula.
    flip : float, default=0.0
        Probability that a label is switched.
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, 2)
        Rows in [0, n_squares).
    y : int array of shape (n_samples,)
        0 or 1.

    References
    ----------
    T. K. Ho and E. M. Kleinberg, "Building projectable classifiers of arbitrary complexity", 1996.

    Examples
    --------
    >>> from kernelet.datasets import make_checkerboard
    >>> X, y = make_checkerboard(1000, random_state=0)
    >>> X.shape, float(y.mean())
    ((1000, 2), 0.475)
    """
    if n_squares < 1:
        raise ValueError(f"n_squares must be at least 1, got {n_squares}.")
    if not 0.0 <= flip <= 1.0:
        raise ValueError(f"flip is a probability and must be in [0, 1], got {flip}.")
    stream = random_stream(random_state, n_samples)
    X = stream.uniform(0.0, n_squares, size=(n_samples, 2))
    switched = stream.random(n_samples) < flip
    return X, checkerboard_labels(X) ^ switched


def checkerboard_grid(*, n_squares: int = 4, n_points: int = 199) -> tuple[Samples, Labels]:
    """Return a regular grid of inner points of the board, the usual test set.

    The coordinates along each side are ``n_squares * i / (n_points + 1)``, i = 1, ..., n_points.

    Parameters
    ----------
    n_squares : int, default=4
        Squares along each side of the board.
    n_points : int, default=199
        Grid points along each side.

    Returns
    -------
    X : array of shape (n_points ** 2, 2)
        The grid, first coordinate slowest.
    y : int array of shape (n_points ** 2,)
        0 or 1.

    Examples
    --------
    >>> from kernelet.datasets import checkerboard_grid
    >>> X, y = checkerboard_grid()
    >>> X.shape, X[0], X[-1]
    ((39601, 2), array([0.02, 0.02]), array([3.98, 3.98]))
    """
    side = n_squares * np.arange(1, n_points + 1) / (n_points + 1)
    X = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    return X, checkerboard_labels(X)
