"""The compact predictor f(x) = sum_j beta_j k(z_j, x) + b."""

from kernelet.machine.calibration import (
    CalibratedMachine,
    Calibration,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.machine.compact import CompactForm
from kernelet.machine.machine import KernelMachine
from kernelet.machine.predictor import Predictor
from kernelet.machine.storage import stored_bytes
from kernelet.machine.vector_grid import VectorGrid

__all__ = [
    "CalibratedMachine",
    "Calibration",
    "CompactForm",
    "KernelMachine",
    "Predictor",
    "SigmoidCalibration",
    "TemperatureCalibration",
    "VectorGrid",
    "stored_bytes",
]
