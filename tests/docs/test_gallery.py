"""Examples that take a model to where it runs: what runs there answers as Python does."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from documents import ROOT

pytestmark = pytest.mark.slow


def printed(name, folder):
    """What an example prints; its picture is drawn and not shown."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []  # it leaves nothing behind
    return done.stdout


@pytest.mark.parametrize(
    ("name", "program"), [("plot_csv_to_c", "cc"), ("plot_csv_to_page", "node")]
)
def test_from_a_csv_file_to_a_program(name, program, tmp_path):
    text = printed(name, tmp_path)
    assert float(re.search(r"test error (\d+\.\d) %", text)[1]) <= 6.0
    same = re.search(r"(\d+) of (\d+) answers of the (?:program|module) are those of Python", text)
    assert (same is not None) == (shutil.which(program) is not None)
    if same is not None:
        assert int(same[1]) >= 0.98 * int(same[2]) > 50


def test_from_a_pipeline_to_onnx(tmp_path):
    text = printed("plot_pipeline_to_onnx", tmp_path)
    found = re.findall(r"(\d+) kB, test error (\d+\.\d) %, (\d+\.\d) % of the labels", text)
    kilobytes, errors, same = zip(*((float(x) for x in line) for line in found), strict=True)
    assert len(found) == 4 and min(same) >= 99.0 and max(errors) <= 3.0
    assert kilobytes[1] < 0.1 * kilobytes[0]
