"""All speed figures: ratios measured in one run, beside the limit that each must keep.

`python -m benchmarks.speed [NAME ...] [--csv FILE]`; without names, everything but the long ones
(`direct_method`, `direct_scaling`), which are named to be run.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import sys
from pathlib import Path

QUICK = ("import_time", "prediction", "hinge_ridge", "squared_hinge", "hinge_lasso")
LONG = ("direct_method", "direct_scaling")
COLUMNS = ("group", "what", "ratio", "limit", "holds", "milliseconds", "other_milliseconds")


def main() -> int:
    """Print a table; the exit code says whether all limits hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("names", nargs="*", choices=(*QUICK, *LONG, []), metavar="NAME")
    parser.add_argument("--csv", type=Path, help="write the table to this file as well")
    arguments = parser.parse_args()
    busy = os.getloadavg()[0]
    if busy > 0.5:
        print(f"the machine is busy (load {busy:.1f}): ratios will be noisy", file=sys.stderr)
    table: list[dict[str, object]] = []
    for name in arguments.names or QUICK:
        for row in importlib.import_module(f"benchmarks.speed.{name}").rows():
            table.append({"group": name, **row})
            mark = "ok" if row["holds"] else "MISSED"
            print(f"{name:15s} {row['ratio']:9.2f}  {row['limit']!s:9s} {mark:6s} {row['what']}")
    if arguments.csv:
        with arguments.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(table)
    missed = sum(not row["holds"] for row in table)
    print(f"{len(table)} figures, {missed} outside their limit")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
