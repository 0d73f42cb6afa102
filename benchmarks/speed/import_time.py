"""`import kernelet` against `import sklearn.svm`, each in fresh interpreters, in turns."""

from __future__ import annotations

import statistics
import subprocess
import sys

LIMIT = 1.3
ROUNDS = 9
CLOCK = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def import_seconds(module: str) -> float:
    """Seconds that a fresh interpreter needs to import `module`."""
    command = [sys.executable, "-c", CLOCK.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def medians(modules: list[str], rounds: int = ROUNDS) -> list[float]:
    """Median seconds of each import; in turns, so that a busy machine slows all of them alike."""
    for module in modules:  # once for the file cache and the byte code
        import_seconds(module)
    times = [[import_seconds(module) for module in modules] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def rows() -> list[dict[str, object]]:
    """One row per comparison: what, ratio, limit, whether it holds."""
    # A program that predicts uses KernelMachine: that import is what it pays for in the end.
    ours = {
        "import kernelet": "kernelet",
        "from kernelet import KernelMachine": "kernelet.machine",
    }
    *seconds, theirs = medians([*ours.values(), "sklearn.svm"])
    return [
        {
            "what": f"{statement} / import sklearn.svm",
            "ratio": own / theirs,
            "limit": f"<= {LIMIT}",
            "holds": own / theirs <= LIMIT,
            "milliseconds": 1e3 * own,
            "other_milliseconds": 1e3 * theirs,
        }
        for statement, own in zip(ours, seconds, strict=True)
    ]


def main() -> int:
    """Print the ratios; the exit code says whether all limits hold."""
    table = rows()
    for row in table:
        mark = "" if row["holds"] else "   TOO SLOW"
        print(f"{row['what']:<58} {row['ratio']:6.2f}   limit {row['limit']}{mark}")
    return 0 if all(row["holds"] for row in table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
