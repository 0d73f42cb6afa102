"""Generators of the artificial data sets of the sparse kernel literature.

Every generator takes the number of rows and a ``random_state`` and returns ``(X, y)``: float64 rows
and integer class labels ``0, 1, ...``. The docstrings give the defining formula and the Bayes
error, the least error that any classifier can reach.
"""

from kernelet.datasets._board import checkerboard_grid, checkerboard_labels, make_checkerboard
from kernelet.datasets._crescents import make_banana
from kernelet.datasets._gaussians import make_ringnorm, make_ripley, make_twonorm
from kernelet.datasets._waveform import make_waveform

__all__ = [
    "checkerboard_grid",
    "checkerboard_labels",
    "make_banana",
    "make_checkerboard",
    "make_ringnorm",
    "make_ripley",
    "make_twonorm",
    "make_waveform",
]
