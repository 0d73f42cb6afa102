"""`make test-random` on tests made for it; it is a program, so it is run as one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parents[1]

TESTS = """
from hypothesis import given, strategies as st
from random_examples import examples

@examples(20)
@given(st.integers(0, 10**6))
def test_true(number):
    assert number >= 0

@examples(20)
@given(st.integers(0, 10**6))
def test_false_for_one_in_ten(number):
    assert number < 900_000

def test_of_another_kind():
    raise RuntimeError("not to be run")
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    shutil.copy(HERE / "conftest.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_made_up.py").write_text(TESTS)
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    # whatever hypothesis does in other tests, it draws by the seed here
    monkeypatch.setenv("CI", "true")

    def run(*arguments):
        command = [sys.executable, str(HERE / "random_examples.py"), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    return run


def test_seeds_until_the_time_is_up(run):
    end = run("--seconds", "0", "-k", "true")
    assert end.returncode == 0, end.stdout
    assert re.match(r"seed \d+: 200 examples passed in \d+ s\nNo failure; number of", end.stdout)


def test_what_fails_can_be_repeated(run):
    end = run("--seed", "12")  # drawn seeds are above; this is the same test on every machine
    assert end.returncode == 1, end.stdout + end.stderr
    assert "not to be run" not in end.stdout
    assert re.search(r"test_false_for_one_in_ten\(\s*number=900_?000", end.stdout), end.stdout
    assert "@reproduce_failure(" in end.stdout
    seed = re.match(r"seed (\d+): ", end.stdout)[1]
    assert f"\n    make test-random SEED={seed}\n" in end.stdout
    assert end.stdout.rstrip().endswith(
        f"-m pytest --hypothesis-profile=random --hypothesis-seed={seed}"
        " tests/test_made_up.py::test_false_for_one_in_ten"
    )
    again = run("--seed", seed)
    assert again.returncode == 1, again.stdout + again.stderr
    blobs = [re.search("reproduce_failure.*", printed.stdout)[0] for printed in (end, again)]
    assert blobs[0] == blobs[1]


def test_a_selection_without_tests_is_an_error(run):
    end = run("--seconds", "0", "-k", "misspelt")
    assert end.returncode == 5
    assert "deselected" in end.stdout
