"""The examples of CONTRIBUTING.md, run once; the modules with the contract tests import them.

What registers itself, a kernel, a loss, a format, is then among all others that are registered;
the solver and the learner are added to those that the package exports.
"""

from __future__ import annotations

from documents import run_blocks

MODULE, SHOWN = run_blocks("CONTRIBUTING.md")

KERNEL = MODULE.InverseMultiquadric
LOSS = MODULE.Logistic.name
SOLVER = MODULE.hinge_weighted_ridge
LEARNERS = (MODULE.ReweightedSVC,)
FORMAT = MODULE.csv.__name__
