"""The source stays easy to find one's way in: `python -m benchmarks.house` prints the figures."""

import statistics
from collections import Counter

import pytest

from benchmarks.house import SOURCE, modules, public_names

MODULES = modules()
# Public functions that take as many parameters as their task has; constructors mirror scikit-learn.
MANY_PARAMETERS = {
    "learners/compression/compress.compress",
    "plotting/frontier.from_estimator",
    "solvers/enclosing_ball/minimum_ball.minimum_enclosing_ball",
    "solvers/linear_program/hinge_lasso.hinge_lasso_many",
}


def test_folders_show_what_is_in_them():
    folders = Counter(module.path.parent for module in MODULES if module.path.name != "__init__.py")
    largest, n_modules = folders.most_common(1)[0]
    assert n_modules <= 20, largest.relative_to(SOURCE)


def test_modules_have_one_job():
    lengths = {module.name: module.n_lines for module in MODULES}
    assert max(lengths.values()) <= 350, max(lengths, key=lengths.get)
    written = [module.n_lines for module in MODULES if module.path.name != "__init__.py"]
    assert 80 <= statistics.median(written) <= 180


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_functions_can_be_read_at_once(module):
    for function in module.functions:
        assert function.n_lines <= 70, function.name
        name = f"{module.name}.{function.name}"
        if function.name != "__init__" and name not in MANY_PARAMETERS:
            assert function.n_parameters <= 8, function.name


def test_public_names_are_listed():
    names = list(public_names())
    assert len(names) == len(set(names)) > 800
    assert any(name.startswith("kernelet.SparseSVC(n_vectors") for name in names)
    assert any(name.startswith("kernelet.SparseSVC.fit(self, X") for name in names)
