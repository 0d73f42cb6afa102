"""Tables of what campaigns counted, for the terminal and for documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.campaign import NAMES, get
from benchmarks.hardening.counts import Counts
from benchmarks.results import FOLDER


@dataclass(frozen=True)
class CampaignTable:
    """A row for each campaign, or for each group of one, such as its estimators or formats.

    Attributes
    ----------
    names : sequence of str
        Campaigns; all by default.
    by_group : bool, default=False
    """

    names: Sequence[str] = NAMES
    by_group: bool = False

    def lines(self, folder: Path = FOLDER) -> list[list[str]]:
        """Return the cells, the headings in the first line."""
        headings = ["group"] if self.by_group else ["campaign", "what is tried"]
        rows = []
        for name in self.names:
            counts = Counts.read(name, folder / "hardening")
            if self.by_group:
                groups = sorted({group for group, _, _ in counts.counted})
                rows += [[group, *_cells(counts, group)] for group in groups]
            else:
                rows.append([name, get(name).title, *_cells(counts)])
        return [[*headings, "cases", "of them ended in", "open defects"], *rows]


def _cells(counts: Counts, group: str | None = None) -> list[str]:
    """Cases, their results and the defects among them, of one group or of all.

    What is behind a semicolon, such as the property that was checked, is left to the csv.
    """
    results: Counter[str] = Counter()
    for (of, result, _), n in counts.counted.items():
        if group in (None, of):
            results[result.partition(";")[0]] += n
    defects = [d for d in counts.defects.values() if group in (None, d.group)]
    found = "; ".join(f"{result}: {n:,}" for result, n in results.most_common())
    return [f"{results.total():,}", found, str(len(defects))]
