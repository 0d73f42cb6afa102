"""Widths of the RVM on Rätsch's benchmark sets, chosen as that benchmark does.

`python -m benchmarks.rvm_choice [DATASET ...]` chooses a width on each of the first five training
sets by 5-fold cross-validation, and prints the median, which is kept in the data set's file as
``rvm_gamma``. One choice for each realisation instead is luck: on german, folds drawn otherwise
change the mean test error by three quarters of a point.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks import datasets
from benchmarks.methods.rvm import width_of

SETS = ("banana", "breast_cancer", "titanic", "waveform", "german", "image")
N_REALISATIONS = 5


def choose(dataset: str) -> float:
    """The median of the widths chosen on the first training sets."""
    loaded = datasets.load(dataset)
    splits = [loaded.split(unit) for unit in range(N_REALISATIONS)]
    widths = [width_of(split.X_train, split.y_train, seed) for seed, split in enumerate(splits)]
    return float(np.median(widths))


def main() -> None:
    """Choose for the data sets named, or for all."""
    warnings.simplefilter("ignore")
    for dataset in sys.argv[1:] or SETS:
        print(f"{dataset:14s} rvm_gamma = {choose(dataset):.3g}", flush=True)


if __name__ == "__main__":
    main()
