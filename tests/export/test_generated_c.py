"""Generated C: every branch is taken, nothing is undefined, whatever rows it is given."""

import shutil

import pytest

import generated_c
import generated_coverage
from run_c_program import SANITIZED

# A program of a hundred files, compiled twice.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def covered(tmp_path_factory):
    """The folder of a program that counts branches, and its answers."""
    if shutil.which("gcc") is None or shutil.which("gcov") is None:
        pytest.fail("these tests count branches: install gcc, with gcov")
    folder = tmp_path_factory.mktemp("covered")
    with generated_coverage.marked():
        return folder, generated_c.answers(folder, generated_coverage.FLAGS)


def test_all_branches_are_taken_or_explained(covered):
    found = generated_coverage.coverage(covered[0], generated_c.names())
    assert found.nowhere == []
    explained = generated_coverage.EXPLAINED
    assert {place: files for place, files in found.missed.items() if place not in explained} == {}
    assert set(explained) == set(found.missed)  # an explanation that nothing needs goes


def test_every_line_of_the_templates_is_compiled(covered):
    missing = generated_coverage.marks() - generated_coverage.marks_in(covered[0])
    assert sorted(missing) == []


def test_nothing_is_undefined(covered, tmp_path):
    """And no answer is another than without sanitizers."""
    found = generated_c.answers(tmp_path, SANITIZED)
    for case, plain, sanitized in zip(generated_c.cases(), covered[1], found, strict=True):
        generated_c.assert_same(case, plain, sanitized)
