"""scikit-learn's checks leave warning filters as they were, in several threads too."""

from __future__ import annotations

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import kernelet
from kernelet.kernels.silence import restoring_filters
from kernelet.learners.base import validation

LEARNERS = Path(kernelet.__file__).parent / "learners"


def test_filters_after_checks_that_overlap():
    """The second thread begins while the first has changed them, and ends after it."""
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()

    @restoring_filters
    def check(is_first):
        with warnings.catch_warnings():
            if not is_first:
                first_is_in.wait(60)
            warnings.simplefilter("error", BytesWarning)
            (first_is_in if is_first else second_is_in).set()
            (second_is_in if is_first else first_is_out).wait(60)
        if is_first:
            first_is_out.set()

    before = list(warnings.filters)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, [True, False]))
    assert list(warnings.filters) == before


def test_learners_use_no_others():
    checked = "|".join([*(name for name in vars(validation) if "check_" in name), "validate_data"])
    direct = re.compile(rf"from sklearn[\w.]* import [^\n]*\b_?({checked})\b")
    found = [path.name for path in LEARNERS.rglob("*.py") if direct.search(path.read_text("utf-8"))]
    assert found == []
