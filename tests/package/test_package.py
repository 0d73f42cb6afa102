"""What the package promises as a package: its names, its weight, its metadata, its lower bounds."""

import ast
import importlib.metadata
import importlib.resources
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kernelet

ROOT = Path(__file__).resolve().parents[2]
# What a program that only imports kernelet must not pay for.
HEAVY = (
    "numba",
    "llvmlite",
    "matplotlib",
    "highspy",
    "sklearn",
    "scipy",
    "pandas",
    "rich",
    "numpy",
)
# What stays away until a solver, a plot or a linear program asks for it.
UNTIL_USED = ("numba", "llvmlite", "matplotlib", "highspy")


def loaded_after(code: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after running `code`."""
    listing = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    loaded = loaded_after("import kernelet")
    assert "kernelet" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_command_line_parses_without_anything_heavy():
    loaded = loaded_after("from kernelet.cli.main import build_parser\nbuild_parser()")
    assert loaded.isdisjoint(HEAVY)


def test_public_names_resolve_and_leave_what_they_do_not_use():
    code = "import kernelet\nfor name in kernelet.__all__: assert getattr(kernelet, name)"
    loaded = loaded_after(code)
    assert "kernelet.solvers" in loaded
    assert loaded.isdisjoint(UNTIL_USED)


def test_public_names_are_listed_and_can_be_starred():
    assert set(kernelet.__all__) <= set(dir(kernelet))
    namespace = {}
    exec("from kernelet import *", namespace)
    assert set(kernelet.__all__) <= set(namespace)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(kernelet.__file__).read_text(encoding="utf-8"))
    guarded = [
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node)
    ]
    seen = {
        alias.asname or alias.name
        for guard in guarded
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen | {"__version__"} == set(kernelet.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'no_such_name'"):
        _ = kernelet.no_such_name


def test_installed_metadata():
    assert importlib.metadata.version("kernelet") == kernelet.__version__
    assert importlib.metadata.metadata("kernelet")["License-Expression"] == "BSD-3-Clause"
    assert importlib.resources.files("kernelet").joinpath("py.typed").is_file()


def lower_bounds() -> dict[str, str]:
    """Distribution -> version after `>=`, over the dependencies that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = ("cli", "dask", "fast", "onnx", "parquet", "plot")
    wanted = [*project["dependencies"], *(entry for name in names for entry in extras[name])]
    pairs = (re.fullmatch(r"([\w.-]+)(\[.*\])?>=([\d.]+)(;.*)?", entry) for entry in wanted)
    return {pair[1]: pair[3] for pair in pairs if pair}


def test_compilers_are_optional():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [entry for entry in project["dependencies"] if re.match("numba|llvmlite", entry)]
    extras = project["optional-dependencies"]
    assert [entry for entry in extras["fast"] if entry.startswith("numba")]
    # CI tests both: with it here, and without it by `make test-kernels KERNELS=without-numba`
    assert "fast" in extras["test"][-1]


def test_oldest_set_is_the_lower_bounds():
    lines = (ROOT / "requirements" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    bounds = lower_bounds()
    assert len(bounds) >= 10
    for name, bound in bounds.items():
        # "1.26" is met by the first release of that series
        pin = pinned[name].split(".")
        assert pin[: len(bound.split("."))] == bound.split("."), name
