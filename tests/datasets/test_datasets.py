"""Generators: moments from the formulas, and the Bayes error by Monte Carlo with the best rule.

Tolerances are four standard errors of the Monte Carlo estimate: a correct generator fails one seed
in 16000, and the seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from scipy.stats import ncx2

import kernelet.datasets as datasets

GENERATORS = [name for name in datasets.__all__ if name.startswith("make_")]
N_SAMPLES = 200_000


def assert_rate(wrong: np.ndarray, expected: float, known_to: float = 0.0) -> None:
    """Assert that a mean of 0/1 values is the expected rate, within four standard errors."""
    standard_error = np.sqrt(expected * (1.0 - expected) / len(wrong))
    assert_allclose(np.mean(wrong), expected, rtol=0, atol=4.0 * standard_error + known_to)


@pytest.mark.parametrize("name", GENERATORS)
def test_contract(name: str) -> None:
    make: Callable[..., tuple[np.ndarray, np.ndarray]] = getattr(datasets, name)
    X, y = make(3000, random_state=7)
    assert X.dtype == np.float64 and y.dtype == np.int64
    assert X.ndim == 2 and len(X) == len(y) == 3000
    classes, counts = np.unique(y, return_counts=True)
    assert_array_equal(classes, np.arange(len(classes)))
    for count in counts:
        # five, because several classes of six generators are looked at
        assert abs(count / 3000 - 1 / len(classes)) < 5 * np.sqrt(0.25 / 3000)


@pytest.mark.parametrize("name", GENERATORS)
def test_seeded(name: str) -> None:
    make: Callable[..., tuple[np.ndarray, np.ndarray]] = getattr(datasets, name)
    X, y = make(50, random_state=3)
    again_X, again_y = make(50, random_state=np.random.default_rng(3))
    assert_array_equal(X, again_X)
    assert_array_equal(y, again_y)
    assert np.abs(X - make(50, random_state=4)[0]).max() > 0.01
    with pytest.raises(ValueError, match="n_samples"):
        make(0, random_state=0)


def test_checkerboard_squares() -> None:
    X, y = datasets.make_checkerboard(N_SAMPLES, n_squares=3, random_state=0)
    assert X.min() >= 0.0 and X.max() < 3.0
    for row, label in zip(X[:500], y[:500], strict=True):
        assert label == (int(row[0]) + int(row[1])) % 2
    # mean and variance of U(0, 3): 3/2 and 3/4
    assert_allclose(X.mean(axis=0), 1.5, atol=4 * np.sqrt(0.75 / N_SAMPLES))
    assert_allclose(X.var(axis=0), 0.75, rtol=0.01)


def test_checkerboard_flip_is_the_bayes_error() -> None:
    X, y = datasets.make_checkerboard(N_SAMPLES, flip=0.1, random_state=0)
    assert_rate(datasets.checkerboard_labels(X) != y, 0.1)


def test_checkerboard_grid() -> None:
    X, y = datasets.checkerboard_grid()
    assert X.shape == (39601, 2)
    assert_allclose(np.unique(X[:, 0]), np.linspace(0.02, 3.98, 199), atol=1e-12)
    assert_array_equal(y, datasets.checkerboard_labels(X))


def test_ripley_moments_and_bayes_error() -> None:
    X, y = datasets.make_ripley(N_SAMPLES, random_state=1)
    means = {0: np.array([[-0.7, 0.3], [0.3, 0.3]]), 1: np.array([[-0.3, 0.7], [0.4, 0.7]])}
    density = []
    for label, centres in means.items():
        rows = X[y == label]
        assert_allclose(rows.mean(axis=0), centres.mean(axis=0), atol=0.01)
        # within a component 0.03, between the two components (half their distance) squared
        assert_allclose(rows.var(axis=0), 0.03 + (np.ptp(centres, axis=0) / 2) ** 2, atol=0.005)
        squared = [((X - centre) ** 2).sum(axis=1) for centre in centres]
        density.append(sum(np.exp(-r2 / 0.06) for r2 in squared))
    assert_rate((density[1] > density[0]) != y, 0.0893, known_to=5e-5)


def test_twonorm_moments_and_bayes_error() -> None:
    X, y = datasets.make_twonorm(N_SAMPLES, random_state=2)
    a = 2 / np.sqrt(20)
    for label, sign in ((0, -1), (1, 1)):
        assert_allclose(X[y == label].mean(axis=0), sign * a, atol=0.02)
        assert_allclose(np.cov(X[y == label].T), np.eye(20), atol=0.03)
    assert_rate((X.sum(axis=1) > 0) != y, ndtr(-2.0))


def test_ringnorm_moments_and_bayes_error() -> None:
    X, y = datasets.make_ringnorm(N_SAMPLES, random_state=3)
    a = np.full(20, 2 / np.sqrt(20))
    assert_allclose(X[y == 0].mean(axis=0), 0.0, atol=0.04)
    assert_allclose(X[y == 0].var(axis=0), 4.0, rtol=0.03)
    assert_allclose(X[y == 1].mean(axis=0), a, atol=0.02)
    assert_allclose(X[y == 1].var(axis=0), 1.0, rtol=0.03)
    wide = -0.5 * (X**2).sum(axis=1) / 4 - 20 * np.log(2)
    narrow = -0.5 * ((X - a) ** 2).sum(axis=1)
    # the squared radius of either class about 4a/3 is a scaled noncentral chi-squared
    radius2 = 8 / 3 * (20 * np.log(2) + 4 / 6)
    error_wide = ncx2.cdf(radius2 / 4, 20, 16 / 9)
    error_narrow = ncx2.sf(radius2, 20, 4 / 9)
    bayes = (error_wide + error_narrow) / 2
    assert_allclose(bayes, 0.0124, atol=5e-5)
    assert_rate((narrow > wide) != y, bayes)
    sphere = ((X - 4 / 3 * a) ** 2).sum(axis=1) < radius2
    assert_array_equal(sphere, narrow > wide)


def waveform_densities(X: np.ndarray) -> np.ndarray:
    """Return the density of each class up to a common factor: the integral over u is an erf."""
    i = np.arange(1, 22)
    first = np.maximum(6 - abs(i - 11), 0)
    second = np.maximum(6 - abs(i - 4 - 11), 0)
    third = np.maximum(6 - abs(i + 4 - 11), 0)
    columns = []
    for one, other in ((first, second), (first, third), (second, third)):
        d, r = one - other, X - other
        length = np.sqrt(d @ d)
        mode = r @ d / length**2
        across = (r**2).sum(axis=1) - (r @ d) ** 2 / length**2
        mass = ndtr((1 - mode) * length) - ndtr(-mode * length)
        columns.append(np.exp(-0.5 * across) * mass / length)
    return np.column_stack(columns)


def test_waveform_moments_and_bayes_error() -> None:
    X, y = datasets.make_waveform(N_SAMPLES, random_state=4)
    i = np.arange(1, 22)
    waves = np.array([np.maximum(6 - abs(i - peak), 0) for peak in (11, 15, 7)])
    for label, (one, other) in enumerate(((0, 1), (0, 2), (1, 2))):
        rows = X[y == label]
        assert_allclose(rows.mean(axis=0), (waves[one] + waves[other]) / 2, atol=0.04)
        # Var(u) = 1/12 along the difference of the waves, plus the noise
        difference = waves[one] - waves[other]
        expected = np.eye(21) + np.outer(difference, difference) / 12
        assert_allclose(np.cov(rows.T), expected, atol=0.15)
    density = waveform_densities(X)
    assert_rate(density.argmax(axis=1) != y, 0.133, known_to=5e-4)


def test_waveform_binary() -> None:
    X, y = datasets.make_waveform(N_SAMPLES, binary=True, random_state=5)
    same_X, pair = datasets.make_waveform(N_SAMPLES, random_state=5)
    assert_array_equal(X, same_X)
    assert_array_equal(y, pair == 1)
    density = waveform_densities(X)
    best = density[:, 1] > density[:, 0] + density[:, 2]
    assert_rate(best != y, 0.083, known_to=5e-4)


def test_banana_moments_and_bayes_error() -> None:
    X, y = datasets.make_banana(N_SAMPLES, random_state=6)
    t = (np.arange(200) + 0.5) * np.pi / 200
    arcs = {
        0: np.column_stack([np.cos(t), np.sin(t)]),
        1: np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)]),
    }
    density = []
    few = slice(0, 20_000)  # the density is an integral over the arc: 200 terms a row
    for label, arc in arcs.items():
        rows = X[y == label]
        assert_allclose(rows.mean(axis=0), arc.mean(axis=0), atol=0.01)
        assert_allclose(np.cov(rows.T), np.cov(arc.T) + 0.09 * np.eye(2), atol=0.01)
        r2 = ((X[few, None, :] - arc) ** 2).sum(axis=2)
        density.append(np.exp(-r2 / (2 * 0.09)).mean(axis=1))
    assert_rate((density[1] > density[0]) != y[few], 0.085, known_to=5e-4)


@pytest.mark.parametrize(
    ("name", "bad", "named"),
    [
        ("make_checkerboard", {"n_squares": 0}, "n_squares"),
        ("make_checkerboard", {"flip": 1.5}, "flip"),
        ("make_twonorm", {"n_features": 0}, "n_features"),
        ("make_banana", {"noise": -1.0}, "noise"),
    ],
)
def test_bad_parameter_is_named(name: str, bad: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        getattr(datasets, name)(10, **bad)
