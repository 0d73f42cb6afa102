"""What is in the wheel and the sdist, and what they say of themselves."""

from __future__ import annotations

import email
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

import kernelet
from tests.distribution.conftest import ROOT, build, only_file, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def tracked(*folders):
    """Files of the repository, those included that are yet to be committed."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *folders)
    return {name for name in listed.splitlines() if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def in_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def in_sdist(sdist):
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def metadata(in_wheel):
    (name,) = (name for name in in_wheel if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(in_wheel[name])


class TestWheel:
    def test_holds_the_package_and_nothing_else(self, in_wheel):
        information = f"kernelet-{kernelet.__version__}.dist-info/"
        package = {name for name in in_wheel if not name.startswith(information)}
        assert package == {name.removeprefix("src/") for name in tracked("src/kernelet")}

    def test_assets_are_there(self, in_wheel):
        endings = {PurePosixPath(name).suffix for name in in_wheel if name.startswith("kernelet/")}
        assert endings == {".py", ".typed", ".js", ".json", ".c", ".h", ".css", ".html"}
        assert "kernelet/py.typed" in in_wheel

    def test_tests_and_benchmarks_are_not(self, in_wheel):
        assert not [name for name in in_wheel if re.search(r"test|bench|conftest|pycache", name)]

    def test_is_for_any_machine(self, wheel):
        assert wheel.name == f"kernelet-{kernelet.__version__}-py3-none-any.whl"

    def test_has_the_command(self, in_wheel):
        (name,) = (name for name in in_wheel if name.endswith("entry_points.txt"))
        assert b"kernelet = kernelet.cli:main" in in_wheel[name]


class TestMetadata:
    def test_what_a_user_looks_for(self, metadata):
        assert metadata["Name"] == "kernelet"
        assert metadata["Version"] == kernelet.__version__
        assert metadata["Summary"] == PROJECT["description"]
        assert metadata["License-Expression"] == "BSD-3-Clause"
        assert metadata.get_all("License-File") == ["LICENSE"]
        assert metadata["Requires-Python"] == ">=3.11"
        assert metadata["Description-Content-Type"] == "text/markdown"
        assert set(metadata["Keywords"].split(",")) == set(PROJECT["keywords"])

    def test_classifiers(self, metadata):
        classifiers = metadata.get_all("Classifier")
        assert "Typing :: Typed" in classifiers
        assert "Programming Language :: Python :: 3.11" in classifiers
        # the licence is an expression, beside which PyPI refuses such a classifier
        assert not [name for name in classifiers if name.startswith("License")]

    def test_no_address_that_does_not_exist(self, metadata):
        """docs/developing/releasing.md says what to fill in when there is one."""
        for name in ("Project-URL", "Home-page", "Author-email", "Maintainer-email"):
            assert metadata.get_all(name) is None, name

    def test_extras(self, metadata):
        assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])

    def test_twine_has_nothing_to_say(self, built):
        printed = run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())
        assert printed.count("PASSED") == 2


class TestSdist:
    def test_holds_what_builds_tests_and_documents_the_package(self, in_sdist):
        assert in_sdist == tracked() | {"PKG-INFO"}

    def test_becomes_the_same_wheel_as_the_repository(self, in_wheel, tmp_path):
        build("--wheel", "--outdir", tmp_path, ROOT)
        with zipfile.ZipFile(only_file(tmp_path, "*.whl")) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == in_wheel


def test_the_repository_keeps_to_the_guide_of_scientific_python():
    """But for what pyproject.toml gives a reason for."""
    done = subprocess.run(
        [sys.executable, "-m", "repo_review", "--format", "json", str(ROOT)],
        capture_output=True,
        text=True,
    )
    checks = json.loads(done.stdout)["checks"]
    assert len(checks) > 40
    failed = {name: check for name, check in checks.items() if check["result"] is False}
    assert failed == {}
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert all(len(reason) > 20 for reason in tool["repo-review"]["ignore"].values())


def test_the_workflows_have_no_known_weakness():
    run(Path(sys.executable).with_name("zizmor"), "--offline", "--no-progress", ROOT / ".github")
