"""Losses of classification: one class, registered, in one module each.

`register_loss` makes a loss known to ``SparseSVC(loss=...)``, for rows in memory, in files and on a
cluster. A smooth one costs three functions of the margin (`SmoothLoss`).
"""

from __future__ import annotations

from kernelet.learners.direct.losses.base import (
    LOSSES,
    MarginLoss,
    SmoothLoss,
    find_loss,
    register_loss,
)
from kernelet.learners.direct.losses.hinge import Hinge
from kernelet.learners.direct.losses.squared_hinge import SquaredHinge

__all__ = [
    "LOSSES",
    "Hinge",
    "MarginLoss",
    "SmoothLoss",
    "SquaredHinge",
    "find_loss",
    "register_loss",
]
