"""The documents tell the truth: their code runs, their figures are printed, their names exist."""

import importlib.util
import re

import pytest

import kernelet
from documents import ROOT, blocks, read, run_blocks
from kernelet.cli.main import COMMANDS

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "NOTATION.md", "CHANGELOG.md")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def assert_shown(printed: str, shown: str) -> None:
    """Equal texts; numbers may differ by half a point, as other versions of libraries make them."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.5)


@pytest.fixture(scope="module")
def contributing():
    return run_blocks("CONTRIBUTING.md")


def test_readme_example_prints_what_it_shows():
    module, shown = run_blocks("README.md")
    assert len(shown) == 1
    assert_shown(*shown[0])
    assert isinstance(module.machine, kernelet.KernelMachine)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_commands_exist(document):
    text = read(document)
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    quoted = "\n".join([*re.findall(r"`([^`\n]+)`", text), *(b.code for b in blocks(document))])
    for target in re.findall(r"^make ([a-z-]+)", quoted, re.MULTILINE):
        assert target in targets, target
    for command in re.findall(r"^kernelet ([a-z]+)", quoted, re.MULTILINE):
        assert command in COMMANDS, command


def methods() -> list[tuple[str, str]]:
    """(name, there) of the README's table of methods."""
    table = read("README.md").split("## What is there, and what is not yet")[1]
    rows = re.findall(r"^\| .* \| (`.*`) \| .*\| (yes|not yet) \|$", table, re.MULTILINE)
    return [(name, there) for names, there in rows for name in re.findall(r"`([^`]+)`", names)]


@pytest.mark.parametrize(("name", "there"), methods())
def test_table_of_methods(name, there):
    if name.startswith("kernelet."):
        exists = importlib.util.find_spec(name) is not None
    else:
        exists = name in kernelet.__all__
    assert exists == (there == "yes")


def test_every_public_name_is_in_the_table_of_methods():
    public = set(kernelet.__all__) - {"__version__"}
    listed = {name.removeprefix("kernelet.") for name, _ in methods()}
    assert public <= listed
