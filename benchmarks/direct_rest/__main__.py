"""``python -m benchmarks.direct_rest [--draw] [FAMILY[:DATASET] ...]``: run, draw and show."""

from __future__ import annotations

import argparse

from benchmarks.direct_rest.families import FAMILIES
from benchmarks.direct_rest.plot import draw
from benchmarks.direct_rest.run import run
from benchmarks.direct_rest.show import show


def main() -> None:
    """Run what is missing, draw the pictures, print the figures."""
    parser = argparse.ArgumentParser("python -m benchmarks.direct_rest", description=__doc__)
    parser.add_argument("chosen", nargs="*", metavar="FAMILY[:DATASET]", help="all by default")
    parser.add_argument("--draw", action="store_true", help="draw and show only, run nothing")
    options = parser.parse_args()
    chosen: dict[str, list[str]] = {}
    for text in options.chosen:
        family, _, dataset = text.partition(":")
        if family not in FAMILIES:
            parser.error(f"{family} is none of {', '.join(FAMILIES)}")
        chosen.setdefault(family, []).extend([dataset] if dataset else [])
    if not options.draw:
        run(chosen)
    draw()
    show()


if __name__ == "__main__":
    main()
