"""A model of what an evaluation costs, fitted to small runs and asked about large ones.

Seconds of a pass = compute * rows / workers + fixed + task * pieces + bytes * pieces / bandwidth

The driver waits for the slowest worker, so that rows are shared evenly; every piece is a task of
Dask's scheduler; every piece sends its sums and its rows near the margin back to the driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Pieces for each worker, and what a usual network moves in a second.
PIECES_PER_WORKER = 4
BANDWIDTH = 125e6


@dataclass(frozen=True)
class CostModel:
    """Seconds and bytes of one pass.

    Attributes
    ----------
    compute : float
        Seconds of a core for a row.
    fixed : float
        Seconds for a pass without rows: the small problem, and a round trip.
    task : float
        Seconds for each piece beyond.
    bytes_fixed, bytes_piece : float
        That move for a pass, and for each piece of it.
    passes : float
        In an evaluation.
    """

    compute: float
    fixed: float
    task: float
    bytes_fixed: float
    bytes_piece: float
    passes: float

    @classmethod
    def fitted(cls, lines: list[dict[str, Any]], n_workers: int) -> CostModel:
        """From runs that differ in their rows and in their pieces."""
        passes = np.array([line["passes"] for line in lines])
        seconds = np.array([line["seconds"] for line in lines]) / passes
        moved = np.array([line["bytes"] for line in lines]) / passes
        rows = np.array([line["rows"] for line in lines]) / n_workers
        pieces = np.array([line["pieces"] for line in lines], dtype=float)
        design = np.column_stack([rows, np.ones(len(lines)), pieces])
        # relative errors count, so that small runs tell what they know
        compute, fixed, task = nonnegative(design / seconds[:, None], np.ones(len(lines)))
        bytes_fixed, bytes_piece = nonnegative(design[:, 1:] / moved[:, None], np.ones(len(lines)))
        return cls(compute, fixed, task, bytes_fixed, bytes_piece, float(passes.mean()))

    def seconds(self, n_rows: float, n_workers: int, n_pieces: int, bandwidth: float) -> float:
        """Of one evaluation."""
        a_pass = (
            self.compute * n_rows / n_workers
            + self.fixed
            + self.task * n_pieces
            + self.bytes(n_pieces) / self.passes / bandwidth
        )
        return self.passes * a_pass

    def bytes(self, n_pieces: int) -> float:
        """That move in one evaluation."""
        return self.passes * (self.bytes_fixed + self.bytes_piece * n_pieces)


def nonnegative(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Least squares of which no coefficient is negative: none of these costs is a gain."""
    from scipy.optimize import nnls

    solution: np.ndarray = nnls(A, b)[0]
    return solution
