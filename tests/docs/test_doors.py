"""The pages behind the doors of the first page: both columns of their answers are run."""

import os
import re
import subprocess
import sys

import pytest

from documents import blocks, read

# The commands of every page are run.
pytestmark = pytest.mark.slow

INDEX = "docs/index.md"
DOORS = re.findall(r"^\*\*\[(.*)\]\((.*)\)\*\*$", read(INDEX), re.MULTILINE)
PAGES = [f"docs/{target}" for _, target in DOORS]
PERCENTAGE = re.compile(r"(\d+\.\d) %")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in which `kernelet` is the command line of these sources."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "kernelet"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kernelet "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(code):
    done = subprocess.run(["sh", "-e", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_tables(page):
    """The tables that the commands of a page read, by the page's own code."""
    (code,) = [block.code for block in blocks(page) if "to_csv" in block.code]
    exec(code, {})


def commands_of(page):
    """The first commands of a page, and the block that follows, if there is one."""
    found = blocks(page)
    place = next(i for i, b in enumerate(found) if b.language == "sh" and "kernelet" in b.code)
    return found[place].code, found[place + 1] if place + 1 < len(found) else None


def words(line):
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "#", line)).strip()


def test_the_first_page_has_four_doors():
    assert [text for text, _ in DOORS] == [
        "I have an SVC: make it small",
        "What size do I need?",
        "Put it on a microcontroller",
        "How much accuracy do I lose?",
    ]
    page = read(INDEX)
    order = [
        page.index(part) for part in ("bytes_frontier.png", "pip install", "```python", "doors")
    ]
    assert order == sorted(order)
    (python,) = [b.code for b in blocks(INDEX) if b.language == "python"]
    assert len(list(filter(None, python.splitlines()))) <= 6


def test_five_questions_come_before_the_table():
    page = read("docs/choosing.md")
    top = page[: page.index("\n| ")]
    questions = re.findall(r"^(\d)\. \*\*.*\?\*\* \S", top, re.MULTILINE)
    assert questions == list("12345")
    # the other models, at equal bytes
    assert "howto/which_small_model.md" in top


@pytest.mark.parametrize("page", PAGES)
def test_a_door_leads_to_an_answer(page):
    """In Python and, beside it, on the command line, before the first heading."""
    top = read(page).split("\n## ")[0]
    assert "{container} beside" in top
    python, shell = (top.index(fence) for fence in ("```python", "```sh"))
    assert python < shell
    # as many characters as half a column holds
    for block in blocks(page):
        if block.code in top and block.language in ("python", "sh"):
            assert max(map(len, block.code.splitlines())) <= 50


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page, folder):
    write_tables(page)
    code, shown = commands_of(page)
    assert shown is not None and shown.language == "text"
    printed = run(code).splitlines()
    for line in filter(str.strip, shown.code.splitlines()):
        while printed and words(printed[0]) != words(line):
            printed.pop(0)
        assert printed, f"not printed: {line}"
        errors = [PERCENTAGE.findall(text) for text in (printed.pop(0), line)]
        found, expected = ([float(number) for number in numbers] for numbers in errors)
        assert found == pytest.approx(expected, abs=1.5)


def test_commands_of_the_first_page(folder):
    write_tables(PAGES[0])
    code, _ = commands_of(INDEX)
    assert re.search(r"test error +\d+\.\d % of 169 rows", run(code))
    assert (folder / "cells.c").exists() and (folder / "cells.h").exists()
