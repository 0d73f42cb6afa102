"""The how-tos of exports: their code runs in an empty folder and prints what they show.

What needs node, a browser or LIBSVM is run in tests/browser/test_howto.py.
"""

import warnings

import pytest

from documents import read, run_blocks
from kernelet.export import read_json
from kernelet.export.javascript import runtime

PAGES = {"onnx": 4, "json": 5, "browser": 1}


@pytest.mark.parametrize("page", PAGES)
def test_code_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of skl2onnx's own imports
        _, shown = run_blocks(f"docs/howto/{page}.md")
    assert len(shown) == PAGES[page]
    for printed, expected in shown:
        if "differ by" in expected:  # how much depends on the processor
            (printed, found), (expected, _) = (t.split("differ by") for t in (printed, expected))
            assert 0 < float(found.split()[0]) < 1e-4
        assert printed == expected
    if page == "browser":
        code = runtime(with_tables=True)
        assert code in (tmp_path / "digits.mjs").read_text()
        assert f"{len(code) / 1000:.0f} kB of the smaller file are the code" in read(
            "docs/howto/browser.md"
        )
    if page == "json":
        model = read_json(tmp_path / "cells.json")
        assert model.machine_.n_vectors == 3
        assert (tmp_path / "cells.model").read_text().startswith("svm_type c_svc")
