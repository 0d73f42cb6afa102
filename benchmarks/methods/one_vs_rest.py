"""Sparse machines of the direct-method tables: as many vectors as a share of the SVM's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from benchmarks.methods.base import BYTES_PER_NUMBER, Classifier, Parameters, Size
from kernelet import KernelMachine

FitBinary = Callable[[np.ndarray, np.ndarray, SVC, int, dict[str, object], int], KernelMachine]


@dataclass(frozen=True)
class OneVsRest:
    """Binary machines, the largest score wins; one machine for two classes."""

    classes: np.ndarray
    machines: list[KernelMachine]

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = np.stack([machine.decision_function(X) for machine in self.machines], axis=1)
        chosen = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
        predicted: np.ndarray = self.classes[chosen]
        return predicted


def size(fitted: OneVsRest) -> Size:
    """Count vectors in sum over the machines, which do not share them."""
    n_vectors = sum(machine.n_vectors for machine in fitted.machines)
    numbers = sum(m.n_vectors * (m.n_features + 1) + 1 for m in fitted.machines)
    return Size(n_vectors, n_vectors, BYTES_PER_NUMBER * numbers)


def sparse_method(name: str, title: str, reference: str, fit_binary: FitBinary) -> Classifier:
    """Return a method whose machines have ``ratio`` times the support vectors of the full SVM.

    ``fit_binary(X, y, svm, n_vectors, parameters, seed)`` fits one machine for labels -1 and +1.
    """

    def fit(X: np.ndarray, y: np.ndarray, parameters: Parameters, seed: int) -> OneVsRest:
        own = dict(parameters)
        ratio, C, gamma = own.pop("ratio", 1.0), own.pop("C"), own.pop("gamma")
        classes = np.unique(y)
        machines = []
        for positive in classes if len(classes) > 2 else classes[1:]:
            labels = np.where(y == positive, 1.0, -1.0)
            svm = SVC(C=C, gamma=gamma).fit(X, labels)
            n_vectors = max(1, round(ratio * len(svm.support_)))
            machines.append(fit_binary(X, labels, svm, n_vectors, own, seed))
        return OneVsRest(classes, machines)

    return Classifier(name, title, reference, fit, size, inherits=("C", "gamma"))
