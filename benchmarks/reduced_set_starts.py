"""Reduced sets from other starts, and what choosing by the margin problem changes.

`python -m benchmarks.reduced_set_starts [DATASET ...]` writes
`results/choices/reduced_set_starts.csv`: for each realisation and kind of start the distance (4) as
a share of ||w||^2, the test errors of RS and MRS over the start with the lowest distance, and that
of MRS over the start with the lowest margin problem. Nothing is chosen by test errors.

| start | vectors |
|---|---|
| `search` | `rs`: the joint search from k-means (five times) and from the fixed-point iteration |
| `search_drawn` | the joint search from ten runs of `drawn` |
| `largest_residual` | the fixed-point iteration alone, from rows of the largest residual |
| `drawn` | `rs_fixed_point`: the same from support vectors drawn by |alpha|, ten runs |
| `drawn_ten` | the same, where each vector is the best of ten draws |
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from benchmarks import datasets
from benchmarks.methods.rs_fixed_point import one_run
from kernelet import KernelMachine
from kernelet.kernels import Gaussian
from kernelet.learners.direct.fixed_vectors import learn_with_vectors
from kernelet.learners.direct.problems.reduced_set import ReducedSetProblem
from kernelet.learners.direct.reduced_set import fixed_point_vectors, reduced_sets
from kernelet.learners.direct.search.descent import minimize_over_vectors
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.vector_exchange import revived

RESULTS = Path(__file__).parent / "results" / "choices" / "reduced_set_starts.csv"
COLUMNS = ("dataset", "ratio", "start", "unit", "distance", "rs", "mrs", "mrs_margin_starts")
SETS = ("banana", "titanic")
RATIOS = (0.05, 0.1)
N_RUNS = 10


class Start:
    """The SVM of a realisation, and the starts for its reduced set."""

    def __init__(self, svm: SVC, n_vectors: int, seed: int) -> None:
        self.kernel = Gaussian(float(svm.gamma))
        self.X, self.a = svm.support_vectors_, svm.dual_coef_.T
        self.machine = KernelMachine(self.kernel, self.X, self.a, svm.intercept_)
        self.squared_norm = float((self.a * (self.kernel(self.X, self.X) @ self.a)).sum())
        problem = ReducedSetProblem(self.a, self.squared_norm, svm.intercept_)
        self.objective = MarginalObjective(self.X, self.kernel, problem)
        self.n_vectors, self.seed = n_vectors, seed
        self.rng = np.random.default_rng(seed)

    def searched(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors after the joint search, as `compress` does it."""
        found = minimize_over_vectors(
            self.objective,
            vectors,
            max_iter=500,
            tol=1e-3,
            revive=lambda at: revived(self.objective, at, self.rng),
        )
        return np.asarray(found.best.machine.vectors)

    def drawn(self, n_draws: int = 1) -> np.ndarray:
        """Vectors of a run of the fixed-point iteration; each is the best of some draws."""
        args = (self.X, self.a[:, 0], self.kernel, self.n_vectors, self.rng)
        return one_run(*args, n_draws=n_draws)[1]

    def kinds(self) -> dict[str, Callable[[], list[np.ndarray]]]:
        """Return for each kind its vectors, from several starts."""
        return {
            "search": lambda: [
                np.asarray(each.machine.vectors)
                for each in reduced_sets(
                    *(self.machine, self.n_vectors), n_init=5, max_iter=500, random_state=self.seed
                )
            ],
            "search_drawn": lambda: [self.searched(self.drawn()) for _ in range(N_RUNS)],
            "largest_residual": lambda: [
                fixed_point_vectors(self.X, self.a, self.kernel, self.n_vectors)
            ],
            "drawn": lambda: [self.drawn() for _ in range(N_RUNS)],
            "drawn_ten": lambda: [self.drawn(10) for _ in range(N_RUNS)],
        }


def measured(dataset: str, ratio: float, unit: int) -> Iterator[dict[str, object]]:
    """Return a line for each kind of start."""
    split = datasets.load(dataset).split(unit)
    parameters = datasets.describe(dataset).parameters
    C, gamma = parameters["C"], parameters["gamma"]
    positive = split.y_train.max()
    y, y_test = (np.where(t == positive, 1.0, -1.0) for t in (split.y_train, split.y_test))
    svm = SVC(C=C, gamma=gamma).fit(split.X_train, y)
    start = Start(svm, max(1, round(ratio * len(svm.support_))), unit)

    def error(machine: KernelMachine) -> float:
        return 100.0 * float(np.mean(np.sign(machine.decision_function(split.X_test)) != y_test))

    for kind, vectors in start.kinds().items():
        ends = []
        for Z in vectors():
            near = start.objective.without_gradient(Z)
            costs = np.full(len(y), C)
            refit = learn_with_vectors(split.X_train, y[:, None], costs, start.kernel, Z)
            ends.append((near.value, near.machine, refit.objective, refit.machine))
        nearest, lowest = min(ends, key=lambda end: end[0]), min(ends, key=lambda end: end[2])
        yield {
            "dataset": dataset,
            "ratio": ratio,
            "start": kind,
            "unit": unit,
            "distance": round(2.0 * nearest[0] / start.squared_norm, 4),
            "rs": round(error(nearest[1]), 3),
            "mrs": round(error(nearest[3]), 3),
            "mrs_margin_starts": round(error(lowest[3]), 3),
        }


def main() -> None:
    """Measure the data sets named, or all; the file is written anew."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for dataset in sys.argv[1:] or SETS:
            for ratio in RATIOS:
                for unit in range(10):
                    writer.writerows(measured(dataset, ratio, unit))
                    file.flush()
                print(dataset, ratio, flush=True)


if __name__ == "__main__":
    main()
