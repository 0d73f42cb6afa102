"""Look for defects: ``python -m benchmarks.hardening NAME --n 100000``, or ``show``.

A run goes on where the one before it stopped, until so many cases are counted. Counts and defects
are in `results/hardening`. ``--case K`` runs one case and prints its outcome; ``--again`` runs
the cases that were defects, after something was mended.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.hardening.campaign import NAMES, get
from benchmarks.hardening.counts import Counts
from benchmarks.hardening.tables import CampaignTable
from benchmarks.hardening.workers import outcomes
from benchmarks.results import FOLDER
from benchmarks.results_blocks import render

# Counts are written this often, and when a run ends.
SECONDS_BETWEEN_WRITES = 10.0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    description, _, rest = str(__doc__).partition("\n")
    top = argparse.ArgumentParser(
        "python -m benchmarks.hardening", description=description, epilog=rest
    )
    top.add_argument("name", choices=[*NAMES, "show"], help="a campaign, or show what is counted")
    top.add_argument("--n", type=int, help="cases in all, those before included (default: all)")
    top.add_argument("--jobs", type=int, default=1, help="processes")
    which = top.add_mutually_exclusive_group()
    which.add_argument("--case", type=int, metavar="K", help="run this one, and count nothing")
    which.add_argument("--again", action="store_true", help="run the defects again")
    return top


def run(name: str, numbers: Iterable[int], counts: Counts, n_jobs: int) -> None:
    """Run cases and count them; what is done is kept if the run is stopped."""
    written = time.monotonic()
    try:
        for number, outcome in outcomes(name, numbers, n_jobs):
            counts.add(number, outcome)
            if outcome.is_defect:
                print(f"{name} {number}: {outcome.group}: {outcome.detail}", flush=True)
            if time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                counts.write()
                written = time.monotonic()
                print(f"{counts.n_done} cases, {len(counts.defects)} defects", flush=True)
    finally:
        counts.write()


def show(names: Sequence[str] = NAMES, folder: Path = FOLDER) -> str:
    """Return what was counted, as a Markdown table."""
    return render(CampaignTable(names).lines(folder))


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 1 if there is a defect."""
    options = parser().parse_args(arguments)
    if options.name == "show":
        print(show())
        return 0
    campaign = get(options.name)
    if options.case is not None:
        outcome = campaign.case(options.case)
        print(f"{outcome.group}: {outcome.result} {outcome.detail}")
        return int(outcome.is_defect)
    counts = Counts.read(options.name)
    last = campaign.n if options.n is None else options.n
    numbers = sorted(counts.defects) if options.again else range(counts.n_done, last)
    run(options.name, numbers, counts, options.jobs)
    print(show([options.name]))
    return int(bool(counts.defects))


if __name__ == "__main__":
    raise SystemExit(main())
