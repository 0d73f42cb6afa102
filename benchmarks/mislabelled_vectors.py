"""How many of the vectors are rows with a wrong label, against their share in the training set.

Ripley's data with 5, 10 and 15 % of the labels switched, 100 draws of 100 rows each, the parameters
of the paper: `python -m benchmarks.mislabelled_vectors`.
"""

from __future__ import annotations

import numpy as np

from benchmarks import datasets
from kernelet import NormSVC

SHARES = (0.05, 0.10, 0.15)
N_DRAWS = 100


def shares_among_vectors(share: float) -> tuple[float, float, float]:
    """Share of wrong labels in the training sets and among the vectors, vectors in the mean."""
    clean = datasets.load("ripley")
    switched = datasets.load(f"ripley_flip{round(100 * share):02d}")
    wrong_rows = wrong_vectors = n_vectors = 0
    for unit in range(N_DRAWS):
        truth, split = clean.split(unit), switched.split(unit)
        assert np.array_equal(truth.X_train, split.X_train)
        wrong = truth.y_train != split.y_train
        model = NormSVC(0, C=1.0, C_norm=0.2, gamma=2.0).fit(split.X_train, split.y_train)
        wrong_rows += int(wrong.sum())
        # vectors are rows: one that is a row with a wrong label is found among them
        is_vector = (split.X_train[:, None] == model.vectors_).all(axis=2).any(axis=1)
        wrong_vectors += int((wrong & is_vector).sum())
        n_vectors += model.n_vectors_
    n_rows = N_DRAWS * len(truth.y_train)
    return wrong_rows / n_rows, wrong_vectors / n_vectors, n_vectors / N_DRAWS


if __name__ == "__main__":
    print("wrong labels: in the training set, among the vectors; vectors")
    for share in SHARES:
        rows, vectors, count = shares_among_vectors(share)
        print(f"{100 * rows:10.1f} % {100 * vectors:10.1f} % {count:10.2f}")
