"""All speed figures: ratios measured in one run, each with the limit that it must keep.

`python -m benchmarks.speed [NAME ...] [--csv FILE]`; without names, everything but the long ones
(`direct_method`, `norm_svc` and others), which are named to be run. `direct_method` has groups, of
which `--only` names some. The exit code says whether all limits hold.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import sys
from pathlib import Path
from typing import Any

QUICK = (
    *("import_time", "prediction", "hinge_ridge", "squared_hinge", "hinge_lasso"),
    "linear_programs",
)
LONG = (
    *("direct_method", "direct_path", "direct_scaling", "norm_svc", "minimal_kernel_stream"),
    *("subspace_lp", "export", "core_vectors", "papers_on_digits"),
)
COLUMNS = ("group", "what", "ratio", "limit", "holds", "milliseconds", "other_milliseconds")
HEADER = f"{'ratio':>9}  {'limit':9}{'':7} {'ours':>11} {'other':>11}  what"


def warn_if_busy() -> None:
    """Say so when other programs compete for the processors: best of several is not enough then."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.5:
        print(
            f"the machine is busy (load {load:.1f} on {os.cpu_count()} processors): ratios are "
            "noisy, and those of programs with several threads worse than they are",
            file=sys.stderr,
        )


def text(row: dict[str, object]) -> str:
    """A line of the table; times are left out where a script does not tell them."""
    times = [row.get(key) for key in ("milliseconds", "other_milliseconds")]
    ours, other = (f"{time:8.3g} ms" if time is not None else "" for time in times)
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    verdict = "" if not row["limit"] else "ok" if row["holds"] else "MISSED"
    return f"{ratio:>9}  {row['limit']!s:9}{verdict:7} {ours:>11} {other:>11}  {row['what']}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*QUICK, *LONG)))
    parser.add_argument("--csv", type=Path, help="write the table to this file as well")
    groups = parser.add_argument_group("direct_method")
    groups.add_argument("--only", metavar="GROUP,...", help="some groups of it: network,svc")
    groups.add_argument("--sets", metavar="SET,...", help="some cases of these: digits,letter")
    groups.add_argument("--before", metavar="COMMIT", help="the sources to be faster than")
    arguments = parser.parse_args()
    unknown = sorted({*arguments.names} - {*QUICK, *LONG})
    if unknown:
        parser.error(f"no such figures: {', '.join(unknown)}; there are {', '.join(QUICK + LONG)}")
    options: dict[str, Any] = {
        name: getattr(arguments, name) for name in ("only", "sets", "before")
    }
    options = {name: value for name, value in options.items() if value is not None}
    for name in {"only", "sets"} & {*options}:
        options[name] = options[name].split(",")
    if options and arguments.names != ["direct_method"]:
        parser.error(f"--{', --'.join(options)}: for direct_method alone")
    warn_if_busy()
    table: list[dict[str, object]] = []
    for name in arguments.names or QUICK:
        print(f"\n{name}\n{HEADER}", flush=True)
        for row in importlib.import_module(f"benchmarks.speed.{name}").rows(**options):
            table.append({"group": name, **row})
            print(text(row), flush=True)
    if arguments.csv:
        with arguments.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(table)
    missed = sum(not row["holds"] for row in table)
    print(f"\n{len(table)} figures, {missed} outside their limit")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
