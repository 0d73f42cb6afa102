"""What `make` says while it installs, with an interpreter that only pretends to."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
echo "$@" >> calls
case "$*" in
*" pip "*)
    echo "Collecting numpy>=1.26"
    echo "  Downloading numpy-2.4.0-cp311-cp311-linux.whl.metadata (62 kB)"
    echo "  Downloading numpy-2.4.0-cp311-cp311-linux.whl (16.6 MB)"
    echo "  Using cached scipy-1.17.0-cp311-cp311-linux.whl (35.1 MB)"
    if [ -e refuse ]; then echo "ERROR: no network" >&2; exit 1; fi
    echo "Installing collected packages: numpy, scipy"
    ;;
*) echo "the demo" ;;
esac
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src").mkdir()
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def make(folder):
    command = ["make", "--no-print-directory", "demo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_it_says_what_it_installs(folder):
    done = make(folder)
    assert (done.returncode, done.stderr) == (0, "")
    said, *packages, shown = done.stdout.splitlines()
    assert "installing kernelet[cli]" in said and "minute" in said
    assert packages == [
        "  Downloading numpy-2.4.0-cp311-cp311-linux.whl (16.6 MB)",
        "  Using cached scipy-1.17.0-cp311-cp311-linux.whl (35.1 MB)",
        "  Installing them",
    ]
    assert shown == "the demo"
    assert make(folder).stdout == "the demo\n"  # all is there


def test_a_failure_is_not_taken_for_an_installation(folder):
    (folder / "refuse").touch()
    for _ in range(2):
        done = make(folder)
        assert done.returncode == 2 and "ERROR: no network" in done.stderr
        assert "the demo" not in done.stdout
        assert sorted(path.name for path in (folder / ".venv").iterdir()) == ["bin"]
    (folder / "refuse").unlink()
    assert make(folder).stdout.endswith("the demo\n")


def test_the_readme_says_how_long_a_fresh_machine_takes():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "On a fresh machine `make demo` takes about two minutes" in text
