"""``python -m benchmarks.direct_rest.limits``: what lies behind two figures of the direct method.

One class, digits, 50 vectors: how the error falls with the number of vectors, and what else was
tried, on rows held out from the training rows, the mean over the ten digits. Test rows are not
used. Support vector regression, diabetes, 10 vectors: the same parameters on 40 splits by seed, of
which the benchmark has the first five. Lines go to ``results/choices/direct_rest_limits.csv``; what
is there is not measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVR, OneClassSVM

from benchmarks.direct_rest.data import Split
from benchmarks.direct_rest.families import FAMILIES, nystroem
from benchmarks.direct_rest.run import parts
from benchmarks.results import FOLDER, Ledger
from kernelet import SparseOneClassSVM, SparseSVR, compress

COLUMNS = ("set", "setting", "error", "standard_error", "n_pairs")
LEDGER = Ledger(FOLDER / "choices" / "direct_rest_limits.csv", COLUMNS[:2], COLUMNS)

# The best of nu and width by the rows held out: 0.05 is worse by 0.2, and widths of 2 and 5 are no
# better, with 50 vectors as with all rows.
ONE_CLASS = {"gamma": 3.0, "nu": 0.2}
SMALL, STEPS_FROM_COMPRESSED = 50, 100
# What tuning has chosen for all forms.
TUBE = {"gamma": 0.03, "C": 1.0}
FEW, N_SPLITS, N_MEASURED = 10, 40, 5

Make = Callable[[Split], Any]


def centres(family: str, budget: int, parameters: dict[str, float]) -> Make:
    """The Nyström method, over k-means centres."""
    return lambda split: nystroem(FAMILIES[family], budget, parameters, split)


def one_class(**options: Any) -> Make:
    model = SparseOneClassSVM(SMALL, random_state=0, **ONE_CLASS, **options)
    return lambda split: model.fit(split.X_train)


def from_compressed(split: Split) -> SparseOneClassSVM:
    """The search from the vectors to which the full machine is compressed."""
    few = compress(OneClassSVM(**ONE_CLASS).fit(split.X_train), n_vectors=SMALL, random_state=0)
    start = np.asarray(few.machine_.vectors)
    model = SparseOneClassSVM(SMALL, init=start, max_iter=STEPS_FROM_COMPRESSED, **ONE_CLASS)
    return model.fit(split.X_train)


NOVELTY: dict[str, Make] = {
    "full": lambda split: OneClassSVM(**ONE_CLASS).fit(split.X_train),
    **{f"nystroem_{m}": centres("one_class", m, ONE_CLASS) for m in (50, 100, 200, 400)},
    "direct": one_class(),
    "greedy_start": one_class(init="greedy"),
    "compressed_start": from_compressed,
    "three_starts": one_class(n_init=3),
}
DIABETES: dict[str, Make] = {
    "nystroem": centres("svr", FEW, TUBE),
    "direct": lambda s: SparseSVR(FEW, random_state=0, **TUBE).fit(s.X_train, s.y_train),
    "full": lambda s: SVR(epsilon=0.1, **TUBE).fit(s.X_train, s.y_train),
}


def record(name: str, setting: str, errors: Sequence[float]) -> None:
    """Append the mean over pairs of training and test rows."""
    spread = np.std(errors, ddof=1) / np.sqrt(len(errors))
    figures = {"error": np.mean(errors), "standard_error": spread}
    line = {"set": name, "setting": setting, "n_pairs": str(len(errors))}
    line |= {key: f"{value:.3f}" for key, value in figures.items()}
    LEDGER.append([line])
    print(", ".join(line.values()), flush=True)


def measure_novelty() -> None:
    family = FAMILIES["one_class"]
    held_out = [parts(family.data["digits"](unit))[0] for unit in range(family.n_units)]
    known = LEDGER.keys()
    for setting, make in NOVELTY.items():
        if ("one_class_digits", setting) not in known:
            errors = [family.figures(make(split), split)["error"] for split in held_out]
            record("one_class_digits", setting, errors)


def measure_splits() -> None:
    """Errors on the splits of the benchmark and on others, and their paired difference."""
    known = LEDGER.keys()
    if ("svr_diabetes_others", "difference") in known:
        return
    family = FAMILIES["svr"]
    splits = [family.data["diabetes"](unit) for unit in range(N_SPLITS)]
    errors = {
        setting: np.array([family.figures(make(split), split)["error"] for split in splits])
        for setting, make in DIABETES.items()
    }
    errors["difference"] = errors["direct"] - errors["nystroem"]
    for setting, of_splits in errors.items():
        record("svr_diabetes", setting, of_splits[:N_MEASURED])
        record("svr_diabetes_others", setting, of_splits[N_MEASURED:])


if __name__ == "__main__":
    measure_splits()
    measure_novelty()
