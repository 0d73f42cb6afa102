"""Twenty vectors by defaults against the full SVC by defaults: the ratio of their test errors.

All shared sets with test rows of their own, as their files scale them: official splits (three
seeds; MNIST one), and the first three realisations of sets that have several (twonorm has one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.datasets import Unavailable
from benchmarks.speed.direct_method.measure import Bench, Failed, Row, Task, error_row

REALISATIONS = (
    *("banana", "breast_cancer", "diabetis", "flare_solar", "german", "image", "thyroid"),
    *("titanic", "twonorm", "waveform"),
)
OFFICIAL = ("ripley", "optdigits", "satimage", "pendigits", "usps", "letter", "mnist")
CASES = (*REALISATIONS, *OFFICIAL)
UNITS = range(3)
N_VECTORS = 20
LIMIT = 0.85


def errors(bench: Bench, case: str) -> tuple[float, float, float]:
    """Ours and the full machine's in percent, and the least that counts: half a test row."""
    single = case == "mnist"
    ours = bench.mean(
        Task(case, "SparseSVC", {"n_vectors": N_VECTORS}), UNITS[:1] if single else UNITS
    )
    several = case in REALISATIONS and case != "twonorm"
    svc = bench.mean(Task(case, "SVC", sources="scikit-learn"), UNITS if several else UNITS[:1])
    return ours["error"], svc["error"], 50.0 / (ours["n_test"] * (3 if several else 1))


def ratio(found: tuple[float, float, float]) -> float:
    ours, svc, least = found
    return max(ours, least) / max(svc, least)


def rows(bench: Bench, case: str) -> Iterator[Row]:
    """One ratio, without a limit of its own."""
    found = errors(bench, case)
    yield {
        "what": f"{case}, {N_VECTORS} vectors {found[0]:.2f} % / SVC {found[1]:.2f} %",
        "ratio": ratio(found),
        "limit": "",
        "holds": True,
    }


def summary(bench: Bench, cases: Sequence[str]) -> Iterator[Row]:
    """The geometric mean over the sets that could be measured."""
    logs = []
    for case in cases:
        try:
            logs.append(np.log(ratio(errors(bench, case))))
        except (Unavailable, Failed):  # said above, where the case stands
            continue
    if logs:
        what = f"svc: geometric mean of the ratios over {len(logs)} sets"
        yield error_row(what, float(np.exp(np.mean(logs))), LIMIT)
