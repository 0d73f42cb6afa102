"""What the direct method reaches with its defaults, and in what time: ratios with their limits.

`python -m benchmarks.speed direct_method` runs all groups; `--only network,svc` some of them,
`--sets digits,letter` some of their cases, and `--before COMMIT` names the sources that ours are
compared with. Every fit is a line of ``results/speed/direct_method.csv``: an interrupted run
continues where it stopped, and lines are measured again when the sources in ``src`` have changed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.datasets import Unavailable
from benchmarks.speed.direct_method.measure import BEFORE, Bench, Failed, Row

# Each is a module: CASES, rows(bench, case), and summary(bench, cases) where several cases make one
# figure. Those that take long come last.
GROUPS = (
    *("first", "seven", "ridge", "limit", "network", "papers", "svc", "rows", "mnist", "before"),
)
# A module of the name `rows` would take the place of the function here.
MODULES = {"rows": "many_rows"}


def group(name: str) -> Any:
    """Return the module of a group."""
    return importlib.import_module(f"benchmarks.speed.direct_method.{MODULES.get(name, name)}")


def rows(only: Sequence[str] = (), sets: Sequence[str] = (), before: str = BEFORE) -> Iterator[Row]:
    """Measure the groups, or those that are named; yield rows as they come."""
    unknown = sorted({*only} - {*GROUPS})
    if unknown:
        raise SystemExit(f"no such group: {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    with Bench(before) as bench:
        for name in (each for each in GROUPS if not only or each in only):
            module = group(name)
            wanted = [case for case in module.CASES if not sets or case in sets]
            for case in wanted:
                yield from _case(name, bench, case)
            if hasattr(module, "summary") and wanted:
                yield from module.summary(bench, wanted)


def _case(name: str, bench: Bench, case: str) -> Iterator[Row]:
    try:
        for row in group(name).rows(bench, case):
            yield {**row, "what": f"{name}: {row['what']}"}
    except Unavailable as reason:
        print(f"skipped: {name}: {reason}")
    except Failed as reason:  # one fit that fails must not end a run of hours; it counts as missed
        yield {
            "what": f"{name}: {case} failed: {reason}",
            "ratio": None,
            "limit": "runs",
            "holds": False,
        }
