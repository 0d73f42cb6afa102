"""Rows that a model is measured on: a share of the table, or another table."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import replace

from kernelet.cli.errors import DataError
from kernelet.cli.tables.reading import read_table
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table
from kernelet.cli.tasks import CLASSES
from kernelet.cli.training_data import TrainingData


def split(data: TrainingData, share: float, seed: int) -> tuple[TrainingData, TrainingData]:
    """Rows to learn from and rows to measure on, each class in proportion where that can be."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    index = np.arange(len(data.labels))
    n_test = max(1, round(share * index.size))
    if index.size - n_test < 2:
        raise DataError(f"{data.table.source} has too few rows for --holdout {share:g}")
    if data.task is not CLASSES:
        train, test = train_test_split(index, test_size=n_test, random_state=seed)
        return data.take(np.sort(train)), data.take(np.sort(test))
    _, counts = np.unique(data.labels, return_counts=True)
    stratify = data.labels if counts.min() >= 2 and n_test >= counts.size else None
    with contextlib.suppress(ValueError):  # fewer rows left than classes
        train, test = train_test_split(
            index, test_size=n_test, stratify=stratify, random_state=seed
        )
        if np.unique(data.labels[train]).size >= 2:
            return data.take(np.sort(train)), data.take(np.sort(test))
    raise DataError(
        f"{data.table.source} has too few rows of each class for --holdout {share:g}; "
        "take a smaller share or a table for --test"
    )


def read_test(arguments: argparse.Namespace, data: TrainingData) -> TrainingData:
    """The table of ``--test``, read as that of the training rows."""
    test_arguments = argparse.Namespace(**vars(arguments))
    if arguments.format and arguments.test.rpartition(".")[2] != arguments.table.rpartition(".")[2]:
        test_arguments.format = None
    source = Source.from_arguments(arguments.test, test_arguments)
    text = [name for name, values in data.table.columns.items() if values.dtype.kind == "O"]
    table = read_table(source, data.target, text)
    if data.target is None:
        ones = data.task.training_values(table, None, None)
        return replace(data, table=table, labels=ones)
    return replace(data, table=table, labels=table.column(data.target))


def labelled(data: TrainingData) -> Table:
    """The labels as a table of one column."""
    if data.target is None:
        return data.table
    return replace(data.table, columns={data.target: data.labels}, rows=None)
