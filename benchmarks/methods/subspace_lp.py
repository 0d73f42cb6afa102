"""The LP machine in a Gram subspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import Classifier, Figures, Parameters, Size, kernel_size
from kernelet import SubspaceLPSVC


def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> SubspaceLPSVC:
    """Fit with the parameters of the table."""
    return SubspaceLPSVC(random_state=seed, n_jobs=1, **parameters).fit(X, y)


def size(fitted: SubspaceLPSVC) -> Size:
    """Return the size of the machine over all sample points."""
    machine = fitted.machine_
    return kernel_size(machine.n_vectors, machine.n_features, machine.n_outputs)


def figures(fitted: SubspaceLPSVC) -> Figures:
    """Return the processor time of the stages."""
    return {
        "eigen_seconds": fitted.seconds_["eigenvectors"],
        "projection_seconds": fitted.seconds_["projection"],
        "lp_seconds": fitted.seconds_["linear_programs"],
        "gap": fitted.gap_,
    }


@dataclass(frozen=True)
class SubspaceMethod(Classifier):
    """Adds the errors of the binary machines, table 5."""

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        fitted = self.fit(split.X_train, split.y_train, parameters, seed)
        known = SubspaceMethod(
            self.name, self.title, self.reference, lambda *_: fitted, self.size, self.figures
        )
        measured = Classifier.measure(known, split, parameters, seed)
        measured["seconds"] = sum(fitted.seconds_.values())
        if fitted.classes_.size > 2:
            scores = fitted.decision_function(split.X_test)
            wrong = (scores > 0) != (split.y_test[:, None] == fitted.classes_)
            counts = wrong.sum(axis=0).tolist()
            measured |= {f"errors_{k}": n for k, n in zip(fitted.classes_, counts, strict=True)}
        return measured


METHOD = SubspaceMethod(
    "subspace_lp", "LP machine in a Gram subspace", "LP subspace, (4.3)", fit, size, figures
)
