"""Generated C: every branch is taken, nothing is undefined, whatever rows it is given."""

import shutil

import pytest
from numpy.testing import assert_allclose, assert_array_equal

import generated_c
import generated_coverage
from run_c_program import SANITIZED, program

# A program of a hundred files, compiled twice.
pytestmark = pytest.mark.slow


def answers_of(folder, flags):
    """What a program of all models says of ordinary and of hostile rows."""
    cases = generated_c.cases()
    made = program([(case.model, case.dtype) for case in cases], folder, flags)
    return [made.run(i, generated_c.rows_for(case)) for i, case in enumerate(cases)]


@pytest.fixture(scope="module")
def covered(tmp_path_factory):
    """The folder of a program that counts branches, and its answers."""
    if shutil.which("gcc") is None or shutil.which("gcov") is None:
        pytest.fail("these tests count branches: install gcc, with gcov")
    folder = tmp_path_factory.mktemp("covered")
    with generated_coverage.marked():
        return folder, answers_of(folder, generated_coverage.FLAGS)


def test_all_branches_are_taken_or_explained(covered):
    names = {f"machine_{i}.c": case.name for i, case in enumerate(generated_c.cases())}
    found = generated_coverage.coverage(covered[0], names)
    assert found.nowhere == []
    explained = generated_coverage.EXPLAINED
    assert {place: files for place, files in found.missed.items() if place not in explained} == {}
    assert set(explained) == set(found.missed)  # an explanation that nothing needs goes


def test_every_line_of_the_templates_is_compiled(covered):
    missing = generated_coverage.marks() - generated_coverage.marks_in(covered[0])
    assert sorted(missing) == []


def test_nothing_is_undefined(covered, tmp_path):
    """And no answer is another than without sanitizers."""
    for case, one, other in zip(
        generated_c.cases(), covered[1], answers_of(tmp_path, SANITIZED), strict=True
    ):
        for name in ("outside", "labels", "categories"):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=case.name)
        for name in ("scores", "shares"):
            if getattr(one, name) is not None:
                digits = {"float32": 1e-5, "float64": 1e-13}.get(case.dtype, 0.0)
                assert_allclose(
                    *(getattr(answers, name) for answers in (one, other)),
                    rtol=digits,
                    err_msg=case.name,
                )
