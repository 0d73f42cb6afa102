"""How much of a fit rounding to few bits takes, and what the search on the grid takes on top.

`python -m benchmarks.rounding_share` prints processor seconds of one thread, in one run: the search
as without ``vector_bits``, then rounding and solving again (8 bits, limit 10 % of the search), and
the same with the search on the grid (4 bits).
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from benchmarks import datasets
from kernelet import SparseSVC
from kernelet.kernels.numerics.blocks import one_blas_thread
from kernelet.learners.direct import estimator

CASES = {"optdigits": 20, "pendigits": 20, "satimage": 20, "usps": 50, "letter": 50}
LIMIT = 0.1


def seconds(name: str, n_vectors: int, bits: int) -> tuple[float, float]:
    """Of the search, and of what comes after it."""
    split = datasets.load(name).split(0)
    after = 0.0
    rounding = estimator.round_and_solve

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal after
        start = time.process_time()
        rounded = rounding(*arguments, **options)
        after += time.process_time() - start
        return rounded

    estimator.round_and_solve = timed
    try:
        start = time.process_time()
        model = SparseSVC(n_vectors, vector_bits=bits, random_state=0)
        model.fit(split.X_train, split.y_train)
        return time.process_time() - start - after, after
    finally:
        estimator.round_and_solve = rounding


def main() -> int:
    warnings.simplefilter("ignore")
    missed = 0
    with one_blas_thread():
        for name, n_vectors in CASES.items():
            search, after = seconds(name, n_vectors, 8)
            ok = after <= LIMIT * search
            missed += not ok
            _, with_search = seconds(name, n_vectors, 4)
            print(
                f"{name}, {n_vectors} vectors: search {search:.2f} s, rounding and solving again "
                f"{100 * after / search:.1f} % ({'ok' if ok else 'MISSED'}), with the search on "
                f"the grid {100 * with_search / search:.0f} %",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
