"""The sketches of the how-to on a Cortex-M4F: the light does what it does in Python."""

import numpy as np
import pytest

from run_cortex import build, emulate, need_programs
from run_sketch import DTYPES, run_here, write_sketches


@pytest.mark.parametrize("dtype", DTYPES)
def test_sketch(dtype, tmp_path, monkeypatch):
    need_programs()
    monkeypatch.chdir(tmp_path)
    module, _ = write_sketches(tmp_path)
    target = tmp_path / "sketch.elf"
    build([f"sketch_{dtype}.c", f"hand_{dtype}.c"], tmp_path, target, "-Wall", "-Wextra", "-Werror")
    said = emulate(target)
    ready, *light = said.split()
    predicted = np.where(module.model.predict(module.counts) == 1, "on", "off")
    assert ready == "ready"
    assert np.mean(predicted == light) >= (0.995 if dtype == "q15" else 1.0)
    if dtype == "q15":  # integers are the same everywhere
        assert said == run_here(tmp_path, dtype)
