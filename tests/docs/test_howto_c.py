"""The how-tos of C: files are written, compiled and run as they say, and print what they show."""

import re
import subprocess

import numpy as np
import pytest

from documents import blocks, run_blocks
from run_c import compilers
from run_sketch import DTYPES, run_here, write_sketches


def assert_same(printed, shown):
    """Equal words; scores may differ as other versions of libraries make them."""
    words, numbers = re.compile(r"[^\d.-]+"), re.compile(r"\d+\.\d+")
    assert words.findall(printed) == words.findall(shown)
    found = [[float(number) for number in numbers.findall(text)] for text in (printed, shown)]
    assert found[0] == pytest.approx(found[1], abs=0.3)


def assert_near(printed, shown):
    """Equal words; bytes and errors may differ as other fits make them."""
    numbers = re.compile(r"\d+(?:\.\d+)?")
    assert numbers.sub("", printed) == numbers.sub("", shown)
    found = [[float(number) for number in numbers.findall(text)] for text in (printed, shown)]
    assert found[0] == pytest.approx(found[1], rel=0.05, abs=0.8)


def test_program_that_reads_stdin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "docs/howto/c.md"
    module, shown = run_blocks(page)
    assert len(shown) == 2
    for printed, expected in shown:
        assert printed == expected
    found = {block.language: block.code for block in blocks(page)}
    (tmp_path / "classify.c").write_text(found["c"])
    commands = found["sh"].replace("cc -std", f"{compilers()[0]} -Werror -std")
    done = subprocess.run(["sh", "-e", "-c", commands], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(done.stdout, blocks(page)[-1].code)
    # the same program on the whole table
    rows = module.table.drop(columns="species").to_csv(header=False, index=False)
    said = subprocess.run(["./classify"], input=rows, capture_output=True, text=True, check=True)
    labels, scores = zip(*(line.split() for line in said.stdout.splitlines()), strict=True)
    assert list(labels) == module.model.predict(module.table).tolist()
    expected = module.model.decision_function(module.table).max(axis=1)
    assert np.abs(np.array(scores, dtype=float) - expected).max() <= 0.51e-3


@pytest.mark.parametrize("dtype", DTYPES)
def test_sketch(dtype, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module, shown = write_sketches(tmp_path)
    (answer, costs, fewer_bits) = shown
    assert_near(*answer)
    assert costs[0] == costs[1]
    assert_near(*fewer_bits)
    ready, *light = run_here(tmp_path, dtype).split()
    predicted = np.where(module.model.predict(module.counts) == 1, "on", "off")
    assert ready == "ready"
    assert np.mean(predicted == light) >= (0.995 if dtype == "q15" else 1.0)
