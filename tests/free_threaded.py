"""Which of our dependencies have no wheel for the free-threaded Python that runs this.

    python3.14t tests/free_threaded.py

`make test-free-threaded` runs it first: pip alone would name one library at a time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def wanted() -> list[str]:
    """What the tests need: the dependencies, and those of the extra `test`."""
    extras = PROJECT["optional-dependencies"]
    (own,) = (entry for entry in extras["test"] if entry.startswith("kernelet["))
    names = re.findall(r"[\w-]+", own.removeprefix("kernelet"))
    listed = [*PROJECT["dependencies"], *extras["test"], *(e for n in names for e in extras[n])]
    return [entry for entry in dict.fromkeys(listed) if not entry.startswith("kernelet[")]


def has_wheel(requirement: str) -> bool:
    """Whether pip finds a wheel, not counting what it depends on."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        options = ["--only-binary", ":all:", "--no-deps", "--dest", folder, requirement]
        return subprocess.run([*pip, *options], capture_output=True).returncode == 0


def main() -> int:
    """1 if one is missing."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        print(f"{sys.executable} has a GIL; name a free-threaded Python", file=sys.stderr)
        return 1
    missing = [entry for entry in wanted() if not has_wheel(entry)]
    for entry in missing:
        print(f"no wheel for Python {sys.version.split()[0]}t: {entry}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
