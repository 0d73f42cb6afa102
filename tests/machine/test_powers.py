"""Positive numbers in a byte: compared with math.pow, and with a search over all 256 codes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernelet.machine.powers import LARGEST_CODE, Powers, covering_powers, nearest_powers
from random_examples import examples

SIZES = st.lists(st.floats(1e-12, 1e6), min_size=1, max_size=8)


def by_hand(base, code):
    return base * math.pow(2.0, -code / 8.0)


@pytest.mark.parametrize("base", [1.0, 0.37, 3e-7, 1e9])
def test_every_code(base):
    values = Powers(base, np.arange(256, dtype=np.uint8)).values
    expected = [by_hand(base, code) for code in range(256)]
    np.testing.assert_allclose(values, expected, rtol=3e-16)
    assert (np.diff(values) < 0.0).all()


def test_whole_octaves_are_exact():
    values = Powers(0.3, np.arange(0, 256, 8, dtype=np.uint8)).values
    assert values.tolist() == [0.3 * 2.0**-octave for octave in range(32)]
    # eight codes further is half, bit for bit, wherever one begins
    every = Powers(0.3, np.arange(256, dtype=np.uint8)).values
    assert_array_equal(every[8:], every[:-8] / 2.0)


@examples(100)
@given(SIZES)
def test_the_nearest_are_the_nearest(sizes):
    powers = nearest_powers(np.array(sizes))
    assert powers.base == max(sizes)
    for size, value in zip(sizes, powers.values, strict=True):
        distances = [abs(math.log(size / by_hand(powers.base, code))) for code in range(256)]
        assert abs(math.log(size / value)) <= min(distances) + 1e-12


@examples(100)
@given(SIZES, st.floats(1.0, 100.0))
def test_those_that_cover_are_the_least_that_do(sizes, factor):
    base = factor * max(sizes)
    powers = covering_powers(np.array(sizes), base)
    assert powers.base == base
    for size, code in zip(sizes, powers.codes, strict=True):
        assert by_hand(base, int(code)) >= size * (1.0 - 1e-8)
        if code < LARGEST_CODE:
            assert by_hand(base, int(code) + 1) < size


def test_zero_becomes_the_smallest():
    for make in (nearest_powers, covering_powers):
        assert make(np.array([0.0, 2.0])).codes.tolist() == [LARGEST_CODE, 0]


@pytest.mark.parametrize(
    ("codes", "is_one"), [([], True), ([4], True), ([4, 4], True), ([4, 5], False)]
)
def test_one_for_all(codes, is_one):
    assert Powers(1.0, np.array(codes, dtype=np.uint8)).is_one is is_one


def test_some_of_them_and_equality():
    powers = Powers(2.0, np.array([0, 8, 16], dtype=np.uint8))
    assert powers[np.array([2, 0])].values.tolist() == [0.5, 2.0]
    assert powers == Powers(2.0, powers.codes.copy())
    assert hash(powers) == hash(Powers(2.0, powers.codes.copy()))
    assert powers != Powers(2.5, powers.codes)
    assert powers != Powers(2.0, powers.codes[:2])
    assert powers != 2.0
