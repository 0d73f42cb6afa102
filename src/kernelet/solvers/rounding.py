"""What double precision leaves: the constants that several solvers share."""

from __future__ import annotations

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
# Rounding errors of a sum of products, in shares of the sum of its terms. BLAS adds in blocks, so
# that errors hardly grow with the number of terms: a few units in the last place are enough.
NOISE = 8.0 * EPSILON
# The `unit` of a solution whose value is positive: its gap is relative to the value, however small
# that is. The smallest normal number only keeps 0 / 0 out.
TINY = float(np.finfo(np.float64).tiny)
