"""Upper limits on our error on a frontier, printed with the error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.results import Record, figures_of

OURS = "sparse_svc"
# Data set -> vectors -> test error in percent, tuned as the frontier tunes.
LIMITS = {"letter": {20: 14.8, 50: 5.6, 100: 4.2}}


def against_limits(dataset: str, records: Sequence[Record]) -> list[str]:
    """Return a sentence for each limit of a data set."""
    sentences = []
    for budget, limit in LIMITS.get(dataset, {}).items():
        errors = [
            figures_of(record)["error"]
            for record in records
            if (record["method"], record["budget"]) == (OURS, str(budget))
        ]
        if errors:
            error = float(np.mean(errors))
            verdict = "ok" if error <= limit else "MISSED"
            said = f"{error:.2f} % <= {limit:g} % {verdict}, mean of {len(errors)} seeds"
        else:
            said = f"not measured, limit {limit:g} %"
        sentences.append(f"{dataset}, {OURS}, {budget} vectors: {said}")
    return sentences
