"""Run scikit-learn's checks on searches and print what came of each, as JSON.

A program of its own for the reason that estimator_checks.py gives.
"""

from __future__ import annotations

import json
import sys
import warnings

from sklearn.utils.estimator_checks import check_estimator

from kernelet import BudgetSearchCV, ReducedSVC, SparseSVC

SEARCHES = {
    "path": BudgetSearchCV(SparseSVC(max_iter=1, init="random", random_state=0), (2, 1), cv=2),
    "bytes": BudgetSearchCV(
        SparseSVC(max_iter=1, init="random", random_state=0),
        (2, 1),
        cv=2,
        target="c",
        vector_bits=(None, 4),
        max_bytes=1000,
    ),
    "one by one": BudgetSearchCV(ReducedSVC(init="kmeans", random_state=0), (1, 6), cv=2),
}


def main() -> None:
    """Check all."""
    results = {}
    for name, search in SEARCHES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checks = check_estimator(search, on_skip=None, on_fail=None)
        results[name] = [
            {"name": check["check_name"], "status": check["status"], "why": str(check["exception"])}
            for check in checks
        ]
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
