"""From scores to probabilities, with NumPy alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernelet._hooks import hooks
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.machine import KernelMachine


class Calibration(Protocol):
    """A map from scores of shape (n,) or (n, k) to class probabilities."""

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probabilities of shape (n, n_classes), rows of sum 1."""
        ...


@dataclass(frozen=True, eq=False)
class SigmoidCalibration:
    """Platt's sigmoid 1 / (1 + exp(slope f + offset)) for each score; many are normalised.

    Parameters
    ----------
    slopes, offsets : ndarray of shape (k,)
        Finite.

    Examples
    --------
    >>> SigmoidCalibration(np.array([-2.0]), np.array([0.0])).probabilities(np.array([0.0, 1.0]))
    array([[0.5       , 0.5       ],
           [0.11920292, 0.88079708]])
    """

    slopes: FloatArray
    offsets: FloatArray

    def __post_init__(self) -> None:
        shape = np.shape(self.slopes)
        if len(shape) != 1 or not shape[0] or np.shape(self.offsets) != shape:
            raise ValueError("a sigmoid must have as many slopes as offsets, at least one of each.")
        if not (np.isfinite(self.slopes).all() and np.isfinite(self.offsets).all()):
            raise ValueError("the slopes and offsets of a sigmoid must be finite numbers.")

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probabilities; where all sigmoids vanish the classes are equally likely."""
        columns = np.asarray(scores, dtype=np.float64).reshape(scores.shape[0], -1)
        with np.errstate(over="ignore"):  # the sigmoid is 0 or 1 there
            shares = _expit(-(columns * self.slopes + self.offsets))
        if columns.shape[1] == 1:
            return np.concatenate([1.0 - shares, shares], axis=1)
        total = shares.sum(axis=1, keepdims=True)
        flat = np.full_like(shares, 1.0 / shares.shape[1])
        probabilities: FloatArray = np.divide(shares, total, out=flat, where=total > 0)
        return probabilities


@dataclass(frozen=True, eq=False)
class TemperatureCalibration:
    """softmax of the scores times an inverse temperature; it keeps every prediction.

    Parameters
    ----------
    inverse_temperature : float
        Finite, and at least 0: below, the largest score would be the least likely.

    Examples
    --------
    >>> TemperatureCalibration(1.0).probabilities(np.array([0.0, 1.0]))
    array([[0.5       , 0.5       ],
           [0.11920292, 0.88079708]])
    """

    inverse_temperature: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.inverse_temperature < np.inf:
            raise ValueError(
                "inverse_temperature must be a finite number of at least 0, got "
                f"{self.inverse_temperature!r}."
            )

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probabilities; one score f stands for the two scores -f and f."""
        logits = np.asarray(scores, dtype=np.float64)
        if logits.ndim == 1:
            logits = np.stack([-logits, logits], axis=1)
        # none is above zero, and what overflows vanishes
        with np.errstate(over="ignore"):
            below = (logits - logits.max(axis=1, keepdims=True)) * self.inverse_temperature
        shares = np.exp(below)
        probabilities: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return probabilities


@dataclass(frozen=True, eq=False)
class CalibratedMachine:
    """A kernel machine with its calibration: all that `predict_proba` needs.

    Parameters
    ----------
    machine : KernelMachine
    calibration : Calibration

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> machine = KernelMachine(Gaussian(), [[0.0]], [1.0], -0.5)
    >>> CalibratedMachine(machine, TemperatureCalibration(1.0)).predict_proba([[0.0]]).round(2)
    array([[0.27, 0.73]])
    """

    machine: KernelMachine
    calibration: Calibration

    def __post_init__(self) -> None:
        given, wanted = self.calibration, self.machine.n_outputs
        if isinstance(given, SigmoidCalibration) and given.slopes.size != wanted:
            raise ValueError(
                "the calibration is for another number of outputs than the machine's: "
                f"{given.slopes.size} slopes for {wanted} outputs."
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the machine and its calibration to a file that `kernelet.load` reads.

        Parameters
        ----------
        path : path-like
            By custom it ends in ".kernelet".
        """
        hooks.save(self, path)

    def predict_proba(self, X: object) -> FloatArray:
        """Class probabilities of the rows, of shape (n, n_classes)."""
        return self.calibration.probabilities(self.machine.decision_function(X))


def _expit(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    result: FloatArray = np.where(x >= 0, 1.0, small) / (1.0 + small)
    return result
