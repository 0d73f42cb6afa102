"""Breiman's waveforms: random convex combinations of two of three triangular waves."""

from __future__ import annotations

import numpy as np

from kernelet.datasets._random import Labels, RandomState, Samples, fair_labels, random_stream

# Breiman et al. 1984, section 2.6.2: three triangles of height 6 over 21 points, with these peaks.
_N_FEATURES = 21
_PEAKS = (11, 15, 7)
_HEIGHT = 6.0
_WAVES = np.array(
    [np.maximum(_HEIGHT - np.abs(np.arange(1, _N_FEATURES + 1) - peak), 0.0) for peak in _PEAKS]
)
# The two waves that the rows of each class are mixtures of.
_FIRST = np.array([0, 0, 1])
_SECOND = np.array([1, 2, 2])


def make_waveform(
    n_samples: int = 400, *, binary: bool = False, random_state: RandomState = None
) -> tuple[Samples, Labels]:
    r"""Draw noisy mixtures of two of three triangular waves; the pair is the class.

    .. math::

        x_i = u\, h_a(i) + (1 - u)\, h_b(i) + \varepsilon_i, \quad i = 1, \dots, 21, \quad
        u \sim U(0, 1), \; \varepsilon_i \sim N(0, 1)

    with :math:`h_1(i) = \max(6 - |i - 11|, 0)`, :math:`h_2(i) = h_1(i - 4)`,
    :math:`h_3(i) = h_1(i + 4)`, and (a, b) = (1, 2), (1, 3), (2, 3) for the classes 0, 1, 2.
    The classes are equally probable, the Bayes error is 13.3 %. The benchmark set of Rätsch is the
    problem with two classes, (1, 3) against the rest; there the Bayes error is 8.3 %.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    binary : bool, default=False
        Merge the classes (1, 2) and (2, 3) into class 0, so that class 1 is (1, 3).
    random_state : int, numpy Generator or None, default=None
        Seed of the random stream.

    Returns
    -------
    X : array of shape (n_samples, 21)
        Rows.
    y : int array of shape (n_samples,)
        0, 1 or 2; 0 or 1 if ``binary``.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984,
    section 2.6.2.

    Examples
    --------
    >>> from kernelet.datasets import make_waveform
    >>> X, y = make_waveform(30000, random_state=0)
    >>> print(f"{X[y == 0].mean(axis=0)[10]:.1f}")  # (h_1(11) + h_2(11)) / 2 = (6 + 2) / 2
    4.0
    """
    stream = random_stream(random_state, n_samples)
    pair = fair_labels(stream, n_samples, 3)
    u = stream.random((n_samples, 1))
    noise = stream.standard_normal((n_samples, _N_FEATURES))
    X = u * _WAVES[_FIRST[pair]] + (1.0 - u) * _WAVES[_SECOND[pair]] + noise
    return X, (pair == 1).astype(np.int64) if binary else pair
