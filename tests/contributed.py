"""The examples of CONTRIBUTING.md, run once; the modules with the contract tests import them.

What registers itself, a kernel, a loss, a format, is then among all others that are registered;
the solver and the learner are added to those that the package exports.
"""

from __future__ import annotations

import math

import references
from documents import run_blocks

MODULE, SHOWN = run_blocks("CONTRIBUTING.md")

KERNEL = MODULE.InverseMultiquadric
LOSS = MODULE.Softplus.name
SOLVER = MODULE.hinge_weighted_ridge
LEARNERS = {kind.__name__: kind for kind in (MODULE.ReweightedSVC,)}
FORMAT = MODULE.csv.__name__


def _inverse_multiquadric(kernel, x, z):
    return 1.0 / math.sqrt(1.0 + kernel.gamma * references.squared_distance(x, z))


references.VALUES |= {KERNEL.name: _inverse_multiquadric}
