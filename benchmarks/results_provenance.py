"""Where a line comes from: versions, commit, CPU."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

import kernelet

ROOT = Path(__file__).parent.parent


@cache
def provenance() -> dict[str, str]:
    """Return what every line records."""
    return {
        "kernelet": kernelet.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "sklearn": version("scikit-learn"),
        "commit": _commit(),
        "cpu": cpu_model(),
    }


def _commit() -> str:
    """Return the commit, with a plus where the sources differ from it."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py", "benchmarks/*.toml")
    except (OSError, subprocess.CalledProcessError):
        return "no repository"
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    finished = subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return finished.stdout.strip()


def cpu_model() -> str:
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
