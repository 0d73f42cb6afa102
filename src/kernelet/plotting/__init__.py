"""Pictures of machines, in scikit-learn's Display convention; needs the extra ``plot``."""

from __future__ import annotations

from kernelet.plotting.frontier import FrontierDisplay
from kernelet.plotting.machine import MachineDisplay
from kernelet.plotting.sparsity_path import SparsityPathDisplay
from kernelet.plotting.vectors import VectorsDisplay

__all__ = ["FrontierDisplay", "MachineDisplay", "SparsityPathDisplay", "VectorsDisplay"]
