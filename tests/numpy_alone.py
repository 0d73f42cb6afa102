"""Load the model files of a folder and predict, with NumPy and safetensors and nothing else.

    python tests/numpy_alone.py FOLDER [--hide-others]

A program of its own, which needs nothing but kernelet: it also runs where nothing else is installed
(`make test-package`). In FOLDER are files ``NAME.kernelet``, and beside each ``NAME.json`` with the
rows, a list of lists or a dict of columns. It prints what each answers to each method, as JSON.
With ``--hide-others``, importing any other library fails as if it were not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from importlib.abc import MetaPathFinder
from pathlib import Path

METHODS = ("decision_function", "predict", "predict_proba", "transform")
NEEDED = {"numpy", "safetensors", "kernelet"}


class Hidden(MetaPathFinder):
    """Refuses every module that is neither Python's own nor needed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        top = fullname.partition(".")[0]
        if top not in NEEDED | sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {fullname!r}: it is hidden", name=fullname)


def answers(path: Path) -> dict[str, object]:
    """What the model in a file answers, by the name of the method; errors by their message."""
    import numpy as np

    import kernelet

    rows = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    predictor = kernelet.load_predictor(path)
    given = rows
    if isinstance(rows, dict):
        given = {name: np.array(column, dtype=object) for name, column in rows.items()}
    found: dict[str, object] = {"reading": predictor.reading}
    for name in METHODS:
        try:
            found[name] = getattr(predictor, name)(given).tolist()
        except AttributeError as error:
            found[name] = str(error)
    try:
        found["load"] = type(kernelet.load(path)).__name__
    except ImportError as error:
        found["load"] = str(error)
    return found


def main() -> None:
    """Print the answers of all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hide-others", action="store_true")
    arguments = parser.parse_args()
    if arguments.hide_others:
        sys.meta_path.insert(0, Hidden())
    warnings.simplefilter("ignore")  # of categories that were not seen in training
    found = {path.stem: answers(path) for path in sorted(arguments.folder.glob("*.kernelet"))}
    others = {name.partition(".")[0] for name in sys.modules if "." in name}
    others -= NEEDED | sys.stdlib_module_names
    print(json.dumps({"answers": found, "others": sorted(others)}))


if __name__ == "__main__":
    main()
