"""Classes that are normal, or mixtures of normals."""

from __future__ import annotations

import numpy as np

from kernelet.datasets._random import Labels, RandomState, Samples, fair_labels, random_stream

# Ripley 1994, section 2: two components a class, common covariance 0.03 I
_RIPLEY_MEANS = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
_RIPLEY_VARIANCE = 0.03


def make_ripley(
    n_samples: int = 250, *, random_state: RandomState = None
) -> tuple[Samples, Labels]:
    r"""Draw Ripley's two classes in the plane, each a mixture of two normals.

    .. math::

        x \mid y=0 &\sim \tfrac12 N((-0.7, 0.3), 0.03 I) + \tfrac12 N((0.3, 0.3), 0.03 I) \\
        x \mid y=1 &\sim \tfrac12 N((-0.3, 0.7), 0.03 I) + \tfrac12 N((0.4, 0.7), 0.03 I)

    The Bayes error is 8.93 %.

    Parameters
    ----------
    n_samples : int, default=250
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, 2)
        Rows.
    y : int array of shape (n_samples,)
        0 or 1.

    References
    ----------
    B. D. Ripley, "Neural networks and related methods for classification", JRSS B 56, 1994.

    Examples
    --------
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(20000, random_state=0)
    >>> X[y == 1].mean(axis=0).round(2)
    array([0.05, 0.7 ])
    """
    stream = random_stream(random_state, n_samples)
    y = fair_labels(stream, n_samples, 2)
    component = stream.integers(2, size=n_samples)
    noise = np.sqrt(_RIPLEY_VARIANCE) * stream.standard_normal((n_samples, 2))
    return _RIPLEY_MEANS[y, component] + noise, y


def make_twonorm(
    n_samples: int = 400, *, n_features: int = 20, random_state: RandomState = None
) -> tuple[Samples, Labels]:
    r"""Draw Breiman's two-norm: two normals with unit covariance, two standard deviations off zero.

    .. math::

        x \mid y=0 \sim N(-a \mathbf 1, I), \qquad x \mid y=1 \sim N(a \mathbf 1, I),
        \qquad a = 2 / \sqrt{d}

    The best rule is the sign of the sum of a row; the Bayes error is :math:`\Phi(-2)` = 2.28 %,
    whatever d is.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    n_features : int, default=20
        Number of columns, d in the formula.
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        Rows.
    y : int array of shape (n_samples,)
        0 or 1.

    References
    ----------
    L. Breiman, "Bias, variance, and arcing classifiers", technical report 460, Berkeley, 1996.

    Examples
    --------
    >>> from kernelet.datasets import make_twonorm
    >>> X, y = make_twonorm(20000, random_state=0)
    >>> print(f"{((X.sum(axis=1) > 0) != y).mean():.3f}")
    0.024
    """
    stream = random_stream(random_state, n_samples)
    y = fair_labels(stream, n_samples, 2)
    centre = _breiman_shift(n_features) * (2.0 * y - 1.0)
    return centre[:, None] + stream.standard_normal((n_samples, n_features)), y


def make_ringnorm(
    n_samples: int = 400, *, n_features: int = 20, random_state: RandomState = None
) -> tuple[Samples, Labels]:
    r"""Draw Breiman's ring-norm: a narrow normal inside a wide one.

    .. math::

        x \mid y=0 \sim N(0, 4 I), \qquad x \mid y=1 \sim N(a \mathbf 1, I),
        \qquad a = 2 / \sqrt{d}

    The best rule is a sphere: class 1 where
    :math:`\|x - \tfrac43 a \mathbf 1\|^2 < \tfrac83 (d \log 2 + \tfrac16 \|a \mathbf 1\|^2)`.
    The Bayes error for d = 20 is 1.24 %.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    n_features : int, default=20
        Number of columns, d in the formula.
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        Rows.
    y : int array of shape (n_samples,)
        0 or 1.

    References
    ----------
    L. Breiman, "Bias, variance, and arcing classifiers", technical report 460, Berkeley, 1996.

    Examples
    --------
    >>> from kernelet.datasets import make_ringnorm
    >>> X, y = make_ringnorm(20000, random_state=0)
    >>> print(f"{X[y == 0].std():.1f} {X[y == 1].std():.1f}")
    2.0 1.0
    """
    stream = random_stream(random_state, n_samples)
    y = fair_labels(stream, n_samples, 2)
    scale = 2.0 - y  # of class 0 and of class 1: 4 I and I are variances
    noise = scale[:, None] * stream.standard_normal((n_samples, n_features))
    return _breiman_shift(n_features) * y[:, None] + noise, y


def _breiman_shift(n_features: int) -> float:
    """Return a = 2 / sqrt(d), so that the mean is at distance 2 from the origin."""
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1, got {n_features}.")
    return float(2.0 / np.sqrt(n_features))
