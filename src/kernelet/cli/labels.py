"""The target: from a column of a table to labels or numbers, and to indices of a model's classes.

`kernelet.TableModel.fit` takes the types of a table as they are. Here they come from a file, where
"1.0", "01" and 1 are one class, and a message names the file, the row and the option that helps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.cli.errors import DataError, listed
from kernelet.cli.tables.notation import options_for
from kernelet.cli.tables.table import Table, is_number, missing_cells, row_numbers

_LARGEST_INTEGER = 2**53  # beyond it floats skip integers
# More classes than this, and more than a fifth of the rows, are a quantity rather than classes.
# Neither size is critical: --max-classes overrules both.
_FEWEST_SUSPICIOUS = 20
_MOST_CLASSES = 200
# Far beyond any name of a class: 20 lines of print.
_LONGEST_LABEL = 1000


def target_values(table: Table, target: str | None, how: str = "") -> NDArray[Any]:
    """The column of the target, with no value missing; ``how`` tells how to leave rows out."""
    assert target is not None  # `Task.target` has found one
    values = table.column(target)
    missing = missing_cells(values)
    if missing.any():
        raise DataError(
            f"the target {target!r} has no value in {row_numbers(table, missing)} of "
            f"{table.source}; fill it in, or leave such rows out{how}"
        )
    return values


def training_labels(table: Table, target: str | None) -> NDArray[Any]:
    """The labels to learn: integers where all are, text otherwise."""
    values = target_values(table, target)
    _refuse_long_labels(table, target, values)
    if values.dtype.kind != "b":
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except ValueError:  # some are text
            numbers = np.array([np.nan])
        if (np.trunc(numbers) == numbers).all() and np.abs(numbers).max() < _LARGEST_INTEGER:
            return numbers.astype(np.int64)
    return np.array([text_of(value) for value in values])


def _refuse_long_labels(table: Table, target: str | None, values: NDArray[Any]) -> None:
    """Refuse texts as long as a page: NumPy would take as much memory for every row."""
    lengths = np.array([len(value) if isinstance(value, str) else 0 for value in values])
    if (lengths > _LONGEST_LABEL).any():
        raise DataError(
            f"the target {target!r} has a text of {lengths.max()} characters in "
            f"{row_numbers(table, lengths > _LONGEST_LABEL)} of {table.source}, too long for a "
            f"class (at most {_LONGEST_LABEL}); is it the right column, and is every quote closed?"
        )


def check_classes(
    labels: NDArray[Any], target: str | None, source: str, max_classes: int | None = None
) -> None:
    """Refuse a single class, and too many, as then the target is a quantity."""
    classes = np.unique(labels)
    if classes.size < 2:
        raise DataError(
            f"the target {target!r} of {source} has one class only, {text_of(classes[0])!r}; "
            "a classifier needs rows of at least two"
        )
    most = max_classes or min(_MOST_CLASSES, max(_FEWEST_SUSPICIOUS, labels.size // 5))
    if classes.size > most:
        raise DataError(
            f"the target {target!r} of {source} has {classes.size} different values in "
            f"{labels.size} rows and looks like a quantity; say --method sparse-kernel-ridge to "
            f"learn numbers, or --max-classes {classes.size} if they are classes"
        )


def text_of(label: Any) -> str:
    """A label as it is printed: 1.0 and 1 are the same class.

    Examples
    --------
    >>> text_of(1.0), text_of(-1), text_of("setosa"), text_of(0.5)
    ('1', '-1', 'setosa', '0.5')
    """
    value = label.item() if hasattr(label, "item") else label
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_INTEGER:
        return str(int(value))
    return str(value)


def codes_of(table: Table, target: str | None, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Index of each row's label among the classes, -1 where it is none of them."""
    places = {text_of(label): place for place, label in enumerate(classes)}
    are_numbers = classes.dtype.kind in "iuf"  # then the text "1.0" is 1
    keys = [
        text_of(float(value) if are_numbers and is_number(value) else value)
        for value in target_values(table, target)
    ]
    codes = np.array([places.get(key, -1) for key in keys], dtype=np.intp)
    if len(codes) and (codes < 0).all():
        raise DataError(
            f"none of the labels in column {target!r} of {table.source} is known to the model: "
            f"there is {listed(sorted(set(keys)), 5)}, it knows {listed(places, 5)}"
        )
    return codes


def numbers_of(table: Table, target: str | None) -> NDArray[Any]:
    """The target as finite numbers."""
    values = target_values(table, target)
    try:
        if table.notation is not None and values.dtype.kind == "O":
            numbers = table.notation.values(values)
        else:
            numbers = np.asarray(values, dtype=np.float64)
    except ValueError:
        numbers = np.array([float(value) if is_number(value) else np.nan for value in values])
    if np.isnan(numbers).any():
        place = int(np.flatnonzero(np.isnan(numbers))[0])
        options = options_for([str(values[place])])
        said = f"say {options} if that is how numbers are written; otherwise " if options else ""
        raise DataError(
            f"the target {target!r} of {table.source} has {values[place]!r} in row "
            f"{table.first_row + place}, where a number is needed; {said}name another column, or a "
            "--method for classes such as sparse-svc"
        )
    if not np.isfinite(numbers).all():
        raise DataError(
            f"the target {target!r} of {table.source} has an infinite number in "
            f"{row_numbers(table, ~np.isfinite(numbers))}; correct it, or leave the row out"
        )
    return numbers
