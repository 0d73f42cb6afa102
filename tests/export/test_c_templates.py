"""The templates of exported C: what their directives do, and that all of them are well formed."""

import importlib.resources
import re

import pytest

from kernelet.export.to_c import source
from kernelet.export.to_c.source import filled_in

FOLDER = importlib.resources.files("kernelet.export.to_c").joinpath("templates")
TEMPLATES = sorted(path.name for path in FOLDER.iterdir())
DIRECTIVE = re.compile(r"//(if( not)? \w+|else|end|include \w+\.c| .+)")


@pytest.fixture
def fill(monkeypatch):
    """Fill in a text as if it were a template."""

    def filled(text, **values):
        monkeypatch.setattr(source, "_lines", lambda template: iter(text.splitlines()))
        return filled_in("", values)

    return filled


def test_lines_are_chosen_by_values(fill):
    text = "//if a\n1\n//if b\n2\n//else\n3\n//end\n//end\n//if not a\n4\n//end\n5"
    assert fill(text, a=True, b=0).split() == ["1", "3", "5"]
    assert fill(text, a=[], b=1).split() == ["4", "5"]
    assert fill(text, a=[], b=0).split() == ["4", "5"]


def test_values_are_put_in_once(fill):
    assert fill("// ours\n$a ${a}b\n\n", a="$b\n//if c") == "$b\n//if c $b\n//if cb\n"
    assert fill("$lines", lines=["1", "2"]) == "1\n2\n"


@pytest.mark.parametrize("text", ["$absent", "//if absent\n//end"])
def test_a_value_that_is_not_there_is_an_error(text, fill):
    with pytest.raises(KeyError, match="absent"):
        fill(text)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_well_formed(name):
    depth = 0
    for line in FOLDER.joinpath(name).read_text("utf-8").splitlines():
        if "//" in line:
            assert DIRECTIVE.fullmatch(line), line
            depth += line.startswith("//if ") - (line == "//end")
        assert depth >= (1 if line == "//else" else 0), line
    assert depth == 0
