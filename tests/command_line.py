"""Running the command line on tables, as a process of its own or inside this one."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris


def kernelet(*arguments, cwd, **options):
    """The real command, in a folder; nothing it writes looks at a terminal."""
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run(
        [sys.executable, "-m", "kernelet", *map(str, arguments)],
        cwd=cwd,
        check=False,
        env={**os.environ, **options.pop("env", {})},
        **options,
    )


@dataclass
class Called:
    code: int
    out: str
    err: str

    @property
    def document(self):
        """All of stdout as one JSON document."""
        return json.loads(self.out)


def flowers():
    """Iris in another order, with names, a column of text and one of ids."""
    data = load_iris(as_frame=True)
    frame = data.frame.rename(columns=lambda name: name.removesuffix(" (cm)"))
    frame["species"] = data.target_names[frame.pop("target")]
    frame["colour"] = np.array(["red", "blue", "green"])[np.arange(150) % 3]
    frame["id"] = [f"flower {i}" for i in range(150)]
    return frame.sample(frac=1, random_state=0, ignore_index=True)


def write_flowers(folder: Path) -> pd.DataFrame:
    """train.csv (110 rows) and test.csv (40 rows)."""
    frame = flowers()
    frame[:110].to_csv(folder / "train.csv", index=False)
    frame[110:].to_csv(folder / "test.csv", index=False)
    return frame
