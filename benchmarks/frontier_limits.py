"""Upper limits on our error on a frontier, printed with the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.results import Record, figures_of

OURS = "sparse_svc"
# Data set -> vectors -> test error in percent, tuned as the frontier tunes.
LIMITS: dict[str, dict[float, float]] = {"letter": {20: 14.8, 50: 5.6, 100: 4.2}}
OURS_IN_BYTES = "sparse_svc_bytes"
# Data set -> kilobytes -> test error in percent.
BYTE_LIMITS: dict[str, dict[float, float]] = {
    "usps": {14: 5.0, 3.5: 6.3},
    "letter": {7: 4.3, 63: 2.8},
    "mnist": {14: 3.4, 61: 2.0},
    "optdigits": {1.2: 3.8},
    "pendigits": {0.8: 2.6},
    "satimage": {1: 10.3},
}


def against_limits(dataset: str, records: Sequence[Record]) -> list[str]:
    """Return a sentence for each limit of a data set."""
    return _sentences(dataset, records, OURS, LIMITS, "vectors")


def against_byte_limits(dataset: str, records: Sequence[Record]) -> list[str]:
    """Return a sentence for each limit of a data set's frontier of bytes."""
    limits = BYTE_LIMITS.get(dataset, {})
    tuned = sorted({float(r["budget"]) for r in records if r["method"] == OURS_IN_BYTES})
    # what fits into fewer bytes fits
    admitted = {limit: max((b for b in tuned if b <= limit), default=limit) for limit in limits}
    replaced = [
        {**record, "budget": str(limit)}
        for limit, budget in admitted.items()
        for record in records
        if float(record["budget"]) == budget
    ]
    return _sentences(dataset, replaced, OURS_IN_BYTES, BYTE_LIMITS, "kB")


def _sentences(
    dataset: str,
    records: Sequence[Record],
    method: str,
    limits: Mapping[str, Mapping[float, float]],
    unit: str,
) -> list[str]:
    sentences = []
    for budget, limit in limits.get(dataset, {}).items():
        errors = [
            figures_of(record)["error"]
            for record in records
            if (record["method"], record["budget"]) == (method, str(budget))
        ]
        if errors:
            error = float(np.mean(errors))
            verdict = "ok" if error <= limit else "MISSED"
            said = f"{error:.2f} % <= {limit:g} % {verdict}, mean of {len(errors)} seeds"
        else:
            said = f"not measured, limit {limit:g} %"
        sentences.append(f"{dataset}, {method}, {budget} {unit}: {said}")
    return sentences
