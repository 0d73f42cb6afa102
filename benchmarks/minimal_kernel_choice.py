"""Parameters of minimal kernel classifiers chosen on the ten folds that they are measured on.

As in table 2 of Fung, Mangasarian and Smola, who tuned the width for each data set:
`python -m benchmarks.minimal_kernel_choice [DATASET ...]` prints, for each data set, the parameters
of best ten-fold correctness among those with no more vectors than the paper's plus a fifth. They
are kept in the data set's file. Such a choice is optimistic; the nested figure next to it is not.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

from benchmarks import datasets
from benchmarks.methods.mkc import COSTS, STEPS, WIDTHS, without_choice
from benchmarks.methods.parameters import mean_distance_gamma
from benchmarks.runner_tables import read_table
from kernelet import MinimalKernelSVC

MORE = 1.2


def folds_of(dataset: str, parameters: dict[str, object], gamma: float) -> tuple[float, float]:
    """Mean correctness in per cent and mean number of vectors over the ten folds."""
    loaded = datasets.load(dataset)
    figures = []
    for unit in range(datasets.describe(dataset).n_units):
        split = loaded.split(unit)
        model = MinimalKernelSVC(gamma=gamma, random_state=unit, **parameters)
        model.fit(split.X_train, split.y_train)
        figures.append((100.0 * model.score(split.X_test, split.y_test), model.n_coefficients_))
    correctness, vectors = np.mean(figures, axis=0)
    return float(correctness), float(vectors)


def choose(dataset: str, published: dict[str, float], fixed: dict[str, object]) -> None:
    """Print the candidates that are good for something, the chosen one last."""
    width = mean_distance_gamma(datasets.load(dataset).split(0).X_train)
    best = (-np.inf, "")
    for factor, C, mu in itertools.product(WIDTHS, COSTS, STEPS):
        gamma = float(f"{factor * width:.3g}")
        correctness, vectors = folds_of(dataset, {**fixed, "C": C, "mu": mu}, gamma)
        if vectors <= MORE * published["n_vectors"] and correctness > best[0]:
            best = (correctness, f"mkc_C = {C}, mkc_gamma = {gamma}, mkc_mu = {mu}")
            print(
                f"{dataset:12s} {correctness:6.2f} % {vectors:6.1f} vectors  {best[1]}", flush=True
            )


def main() -> None:
    """Choose for the data sets named, or for all of the table."""
    for row in read_table("minimal-kernel-2").rows:
        if row.method == "mkc" and (not sys.argv[1:] or row.dataset in sys.argv[1:]):
            choose(row.dataset, dict(row.published), without_choice(row.parameters))


if __name__ == "__main__":
    main()
