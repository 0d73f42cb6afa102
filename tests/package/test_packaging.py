"""The recipe, the workflows and the versions agree with pyproject.toml and the Makefile."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import free_threaded
import kernelet
from tests.package.test_package import lower_bounds

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# What conda calls by another name than PyPI.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def recipe():
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^{% set version = "(.+)" %}$', text, re.MULTILINE)
    plain = re.sub(r"^{%.*%}$", "", text, flags=re.MULTILINE).replace("{{ version }}", version)
    return yaml.safe_load(plain)


class TestRecipe:
    def test_version_and_summary(self):
        assert recipe()["package"] == {"name": "kernelet", "version": kernelet.__version__}
        assert recipe()["about"]["summary"] == PROJECT["description"]
        assert recipe()["about"]["license"] == PROJECT["license"]

    def test_dependencies(self):
        listed = {entry.replace(" ", "") for entry in recipe()["requirements"]["run"]}
        assert listed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}

    def test_build_dependencies(self):
        listed = {entry.replace(" ", "") for entry in recipe()["requirements"]["host"]}
        wanted = {*PYPROJECT["build-system"]["requires"], f"python{PROJECT['requires-python']}"}
        assert listed - {"pip"} == wanted

    def test_extras(self):
        required = {entry.partition(">=")[0] for entry in PROJECT["dependencies"]}
        wanted = {
            f"{CONDA_NAMES.get(name, name)} >={bound}"
            for name, bound in lower_bounds().items()
            if name not in required
        }
        assert {*recipe()["requirements"]["run_constrained"]} == wanted

    def test_commands(self):
        entries = [f"{name} = {value}" for name, value in PROJECT["scripts"].items()]
        assert recipe()["build"]["entry_points"] == entries


class TestWorkflows:
    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_run_the_same_commands_as_a_person(self, path):
        """`.ci/run` or a target of the Makefile, and no other command."""
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
        assert commands
        for command in commands:
            assert command == ".ci/run" or re.match(r"make ([a-z-]+)", command)[1] in targets

    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_hold_no_secret_and_may_do_little(self, path):
        text = path.read_text(encoding="utf-8")
        assert "secrets." not in text
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}
        allowed = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
        assert {name: given for name, given in allowed.items() if given} == (
            {"publish": {"id-token": "write"}} if path.stem == "release" else {}
        )

    def test_pythons_are_those_of_the_classifiers(self):
        listed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
        jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
        assert ["3.11", *jobs["pythons"]["strategy"]["matrix"]["python"]] == listed


def check_version():
    path = ROOT / "packaging" / "check_version.py"
    specification = importlib.util.spec_from_file_location("check_version", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class TestVersion:
    def test_is_the_same_everywhere(self):
        """The changelog names it on the day of the release."""
        found = check_version().versions()
        assert found.pop("CHANGELOG.md") in (None, kernelet.__version__)
        assert set(found.values()) == {kernelet.__version__}

    def test_another_tag_is_refused(self):
        program = [sys.executable, str(ROOT / "packaging" / "check_version.py"), "v99.0"]
        done = subprocess.run(program, capture_output=True, text=True)
        assert done.returncode == 1
        assert f"__init__.py has version {kernelet.__version__}, the tag is 'v99.0'" in done.stderr

    def test_a_release_passes(self, tmp_path, monkeypatch):
        module = check_version()
        for place in module.PLACES:
            text = (ROOT / place).read_text(encoding="utf-8")
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            dated = f"## [{kernelet.__version__}] - 2030-01-31\n\n## [0.0.1] - 2029-01-31\n"
            written = dated if place == "CHANGELOG.md" else text
            (tmp_path / place).write_text(written, encoding="utf-8")
        monkeypatch.setattr(module, "ROOT", tmp_path)
        assert module.main(f"v{kernelet.__version__}") == 0
        assert module.main("v0.0.1") == 1


class TestFreeThreaded:
    """tests/free_threaded.py, the first step of `make test-free-threaded`."""

    def test_looks_for_all_that_the_tests_need(self):
        names = {re.match(r"[\w-]+", entry)[0] for entry in free_threaded.wanted()}
        assert {"numpy", "highspy", "safetensors", "numba", "pytest", "clarabel", "dask"} <= names
        assert "kernelet" not in names

    def test_names_every_library_without_a_wheel(self, monkeypatch, capsys):
        monkeypatch.setattr(free_threaded.sysconfig, "get_config_var", lambda name: 1)
        missing = ("highspy", "clarabel")
        monkeypatch.setattr(free_threaded, "has_wheel", lambda entry: not entry.startswith(missing))
        assert free_threaded.main() == 1
        lines = capsys.readouterr().err.splitlines()
        assert [line.rpartition(" ")[2].partition(">=")[0] for line in lines] == [*missing]

    def test_goes_on_where_all_have_one(self, monkeypatch):
        monkeypatch.setattr(free_threaded.sysconfig, "get_config_var", lambda name: 1)
        monkeypatch.setattr(free_threaded, "has_wheel", lambda entry: True)
        assert free_threaded.main() == 0

    def test_refuses_a_python_with_a_gil(self, monkeypatch, capsys):
        monkeypatch.setattr(free_threaded.sysconfig, "get_config_var", lambda name: 0)
        assert free_threaded.main() == 1
        assert "name a free-threaded Python" in capsys.readouterr().err
