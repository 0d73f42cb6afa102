"""Problems whose rows want their score in an interval: (Phi, lower, upper, C_lower, C_upper)."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

RNG = np.random.default_rng(0)
PHI = RNG.normal(size=(50, 4))
Y = PHI @ [1.0, -2.0, 0.5, 0.0] + 3.0 + 0.5 * RNG.normal(size=50)
COSTS = RNG.uniform(0.2, 3.0, 50)


def _cases():
    many = np.repeat([[1.0]], 50, axis=0)
    yield "tube", PHI, Y - 0.3, Y + 0.3, COSTS, COSTS
    yield "no tube", PHI, Y, Y, COSTS, COSTS
    yield "quantile", PHI, Y, Y, 0.1 * COSTS, 0.9 * COSTS
    yield "large costs", PHI, Y - 0.3, Y + 0.3, 1e5 * COSTS, 1e5 * COSTS
    yield "small costs", PHI, Y - 0.3, Y + 0.3, 1e-5 * COSTS, 1e-5 * COSTS
    yield "all inside", PHI, Y - 100.0, Y + 100.0, COSTS, COSTS
    yield "exact", PHI, PHI[:, 0], PHI[:, 0], 100.0 * COSTS, 100.0 * COSTS
    yield "constant", PHI, 0 * Y + 7.0, 0 * Y + 7.0, COSTS, COSTS
    yield "equal rows", PHI[np.arange(50) % 7], Y - 0.3, Y + 0.3, COSTS, COSTS
    yield "one column of ones", many, Y, Y, COSTS, COSTS
    yield "some rows have no cost", PHI, Y - 0.1, Y + 0.1, COSTS * (COSTS > 1), COSTS
    yield "far away", PHI + 100.0, Y - 0.3, Y + 0.3, COSTS, COSTS
    yield "more columns than rows", np.tile(PHI[:6], 3), Y[:6], Y[:6], COSTS[:6], COSTS[:6]


CASES = {label: rest for label, *rest in _cases()}


@st.composite
def ugly_intervals(draw):
    n, m = draw(st.integers(1, 24)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # small integers give duplicates, ties and dependent columns
    Phi = rng.normal(size=(n, m)) if draw(st.booleans()) else rng.integers(-1, 2, (n, m)) * 1.0
    Phi = 10.0 ** draw(st.integers(-2, 2)) * Phi + draw(st.sampled_from([0.0, 0.0, 100.0]))
    targets = rng.normal(size=n) + draw(st.sampled_from([0.0, 0.0, 100.0]))
    width = draw(st.sampled_from([0.0, 0.1, 10.0]))
    C = 10.0 ** (draw(st.integers(-5, 5)) + draw(st.sampled_from([0, 3])) * rng.random(n))
    return Phi, targets - width, targets + width, C, draw(st.sampled_from([1.0, 0.1])) * C
