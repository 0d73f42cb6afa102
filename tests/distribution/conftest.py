"""What is published, built once, as `make build` does; needs PyPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command):
    """What a program prints; its errors are those of the test."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def build(*arguments):
    run(sys.executable, "-m", "build", *arguments)


def only_file(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A folder with the sdist, and the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("dist")
    build("--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="session")
def wheel(built):
    return only_file(built, "*.whl")


@pytest.fixture(scope="session")
def sdist(built):
    return only_file(built, "*.tar.gz")
