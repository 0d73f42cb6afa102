"""The campaign of names that try to break out sees those that do."""

import pytest

from benchmarks.hardening import hostile_names
from kernelet.export import documents
from kernelet.export.to_c import pieces
from kernelet.machine import texts
from kernelet.report import page

ROUTES = list(hostile_names.ROUTES)


def number_of(route, is_odd):
    """The first case of a way that has, or has not, a text that cannot be written everywhere."""
    numbers = range(ROUTES.index(route), 1000, len(ROUTES))
    return next(number for number in numbers if hostile_names.texts_of(number)[1] is is_odd)


@pytest.mark.parametrize("route", ["JSON", "ONNX", "HTML", "terminal"])
@pytest.mark.parametrize("is_odd", [True, False])
def test_texts_come_back(route, is_odd):
    assert not hostile_names.case(number_of(route, is_odd)).is_defect


@pytest.mark.slow
@pytest.mark.parametrize("route", ["C", "C in few bits", "JavaScript"])
def test_code_runs(route):
    assert hostile_names.case(number_of(route, False)).result == "came back"


@pytest.mark.parametrize(
    ("route", "module", "name"),
    [
        ("C", pieces, "in_plain_ascii"),
        ("JSON", documents, "is_visible"),
        ("HTML", page, "escape"),
        ("terminal", texts, "visible"),
    ],
)
def test_a_text_that_is_not_escaped_is_seen(route, module, name, monkeypatch):
    broken = str if name != "is_visible" else lambda character: True
    monkeypatch.setattr(module, name, broken)
    with pytest.raises(AssertionError):
        hostile_names.case(number_of(route, False))
