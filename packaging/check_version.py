"""See that a tag names the version that everything else names: `make check-version TAG=v0.1.0`.

Needs nothing but Python: the workflow that publishes runs it first.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where the version is written, and how.
PLACES = {
    "src/kernelet/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/meta.yaml": r'^{% set version = "(.+)" %}$',
    # the newest that is released, below [Unreleased]
    "CHANGELOG.md": r"^## \[(\d.*)\] - \d{4}-\d\d-\d\d$",
}


def versions() -> dict[str, str | None]:
    """The version in each place; None where there is none yet."""
    found = {}
    for place, pattern in PLACES.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        match = re.search(pattern, text, re.MULTILINE)
        found[place] = None if match is None else match[1]
    return found


def main(tag: str) -> int:
    """1 if the tag or a place names another version."""
    wanted = tag.removeprefix("v")
    others = {place: version for place, version in versions().items() if version != wanted}
    for place, version in others.items():
        print(f"{place} has version {version}, the tag is {tag!r}", file=sys.stderr)
    return 1 if others else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2] or [""]))
