"""Candidates that are left, against copies of the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelet.learners.arbitrary_norm.kept_candidates import KeptColumns, KeptGram

RNG = np.random.default_rng(0)
K = RNG.normal(size=(30, 20))
GRAM = K.T @ K
# none goes; a few do, so that nothing is copied; half do; and few of what was left, which copies
STEPS = [np.arange(20)], [np.arange(1, 20)], [np.arange(0, 20, 2)]
STEPS += ([np.arange(3, 20), np.arange(15), np.arange(0, 15, 7)],)


@pytest.mark.parametrize("steps", STEPS)
def test_columns(steps):
    columns, left = KeptColumns(K), np.arange(20)
    for step in steps:
        columns, left = columns.keep(step), left[step]
    expected = K[:, left]
    a, v, index = RNG.normal(size=left.size), RNG.normal(size=30), np.array([4, 29, 4])
    assert columns.shape == expected.shape
    assert_array_equal(columns.all_rows(), expected)
    assert_array_equal(columns.rows(index), expected[index])
    assert_allclose(columns.times(a), expected @ a, atol=1e-12)
    assert_allclose(columns.weighted_sum(v), v @ expected, atol=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_gram(steps):
    gram, left = KeptGram(GRAM), np.arange(20)
    for step in steps:
        gram, left = gram.keep(step), left[step]
    expected = GRAM[np.ix_(left, left)]
    a, d = RNG.normal(size=left.size), RNG.uniform(0.5, 2.0, left.size)
    before = GRAM.copy()
    scaled = gram.scaled(d)
    assert_allclose(scaled, expected * np.outer(d, d), rtol=1e-14)
    assert scaled.flags.c_contiguous
    scaled[:] = 0.0  # it belongs to the caller
    assert_array_equal(GRAM, before)
    assert_allclose(gram.squared_norm(a), a @ expected @ a)
