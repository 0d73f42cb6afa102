"""Two interlocking crescents with normal noise, in the manner of the banana benchmark."""

from __future__ import annotations

import numpy as np

from kernelet.datasets._random import Labels, RandomState, Samples, fair_labels, random_stream


def make_banana(
    n_samples: int = 400, *, noise: float = 0.3, random_state: RandomState = None
) -> tuple[Samples, Labels]:
    r"""Draw two noisy half circles that reach into each other.

    .. math::

        x \mid y=0 &= (\cos t, \sin t) + \sigma \varepsilon \\
        x \mid y=1 &= (1 - \cos t, \tfrac12 - \sin t) + \sigma \varepsilon, \qquad
        t \sim U(0, \pi), \; \varepsilon \sim N(0, I)

    The formula behind Rätsch's banana benchmark was never published; this is a set of the same
    look. The Bayes error is 8.5 % for :math:`\sigma` = 0.3 (2.9 % for 0.2, 13.7 % for 0.4).

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    noise : float, default=0.3
        Standard deviation of the noise, sigma in the formula.
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, 2)
        Rows.
    y : int array of shape (n_samples,)
        0 or 1.

    Examples
    --------
    >>> from kernelet.datasets import make_banana
    >>> X, y = make_banana(20000, random_state=0)
    >>> X[y == 0].mean(axis=0).round(1)  # the mean of sin over a half circle is 2 / pi
    array([0. , 0.6])
    """
    if noise < 0.0:
        raise ValueError(f"noise is a standard deviation and must not be negative, got {noise}.")
    stream = random_stream(random_state, n_samples)
    y = fair_labels(stream, n_samples, 2)
    t = stream.uniform(0.0, np.pi, size=n_samples)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    # (1 - cos t, 1/2 - sin t): the half circle turned round, so that each reaches into the other
    arc[y == 1] = np.array([1.0, 0.5]) - arc[y == 1]
    return arc + noise * stream.standard_normal((n_samples, 2)), y
