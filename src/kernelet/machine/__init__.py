"""The compact predictor f(x) = sum_j beta_j k(z_j, x) + b."""

from kernelet.machine.calibration import (
    CalibratedMachine,
    Calibration,
    SigmoidCalibration,
    TemperatureCalibration,
)
from kernelet.machine.machine import KernelMachine

__all__ = [
    "CalibratedMachine",
    "Calibration",
    "KernelMachine",
    "SigmoidCalibration",
    "TemperatureCalibration",
]
