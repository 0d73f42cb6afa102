"""Numbers as integers of 8 bits with a scale, as TensorFlow Lite and others store weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Weights are from -127 to 127, so that zero is in the middle.
LARGEST = 127


@dataclass(frozen=True)
class Int8:
    """A matrix ``codes * scales``; scales belong to columns, or to all of it."""

    codes: np.ndarray
    scales: np.ndarray

    @property
    def values(self) -> np.ndarray:
        return self.codes * self.scales


def int8(
    values: np.ndarray, by_column: bool = True, least_scales: np.ndarray | float = 0.0
) -> Int8:
    """Round a matrix so that the largest entry (of each column) is 127, or scales are the least."""
    largest = np.abs(values).max(axis=0 if by_column else None, keepdims=True, initial=0.0)
    scales = np.maximum(np.where(largest > 0.0, largest, 1.0) / LARGEST, least_scales)
    return Int8(np.rint(values / scales).astype(np.int8), scales)


@dataclass(frozen=True)
class Layer:
    """``x @ W + b``: int8 weights with a scale for each output, int32 biases in those units."""

    weights: Int8
    biases: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return (X @ self.weights.codes + self.biases) * self.weights.scales


# A bias is this fine in units of a weight: inputs are fractions of about 1.
BIAS_STEPS = 256


def layer(weights: np.ndarray, biases: np.ndarray) -> Layer:
    """Round a layer; biases are whole multiples of a 256th of a weight's unit.

    Weights that are so small that the bias would not fit into 32 bits get a larger unit.
    """
    rounded = int8(weights, least_scales=np.abs(biases) * BIAS_STEPS / np.iinfo(np.int32).max)
    codes = np.rint(biases / rounded.scales[0] * BIAS_STEPS).astype(np.int32)
    return Layer(rounded, codes / BIAS_STEPS)


def folded(
    weights: np.ndarray, biases: np.ndarray, mean: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A layer over standardised inputs as a layer over the inputs themselves."""
    scaled = weights / deviation[:, np.newaxis]
    return scaled, biases - mean @ scaled


def standardisation(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the columns; small deviations are raised.

    A column that hardly varies would get weights that leave no bits to the others.
    """
    deviation = X.std(axis=0)
    return X.mean(axis=0), np.maximum(deviation, SMALLEST_DEVIATION * deviation.max())


# Share of the largest deviation.
SMALLEST_DEVIATION = 0.1
