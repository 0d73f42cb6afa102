"""Class labels: from a column of a table to labels of a model, and back to rows of its matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import DataError, listed
from kernelet.cli.tables.table import Table, is_missing, row_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LARGEST_INTEGER = 2**53  # beyond it floats skip integers
# More classes than this, and more than a fifth of the rows, are a quantity rather than classes.
_FEWEST_SUSPICIOUS = 20
_MOST_CLASSES = 200
# Far beyond any name of a class: 20 lines of print.
_LONGEST_LABEL = 1000


def training_labels(table: Table, target: str) -> NDArray[Any]:
    """The labels to learn: integers where all are, text otherwise.

    Raises
    ------
    DataError
        If some are missing.
    """
    import numpy as np

    values = table.column(target)
    missing = is_missing(values)
    if missing.any():
        raise DataError(
            f"the target {target!r} has no value in {row_numbers(table, missing)} of "
            f"{table.source}; fill it in, or leave such rows out with --drop-missing"
        )
    _refuse_long_labels(table, target, values)
    numbers = _as_numbers(values)
    if numbers is not None and _are_integers(numbers):
        return numbers.astype(np.int64)
    return np.array([text_of(value) for value in values])


def _refuse_long_labels(table: Table, target: str, values: NDArray[Any]) -> None:
    """A text of a page is no name of a class; NumPy takes its length for every row."""
    import numpy as np

    if values.dtype.kind != "O":
        return
    is_long = np.array([isinstance(v, str) and len(v) > _LONGEST_LABEL for v in values])
    if is_long.any():
        longest = max(len(value) for value in values[is_long])
        raise DataError(
            f"the target {target!r} has a text of {longest} characters in "
            f"{row_numbers(table, is_long)} of {table.source}, which is no name of a class (at "
            f"most {_LONGEST_LABEL}); is it the right column, and is every quote closed?"
        )


def check_classes(
    labels: NDArray[Any], target: str, source: str, max_classes: int | None = None
) -> None:
    """Refuse a single class, and too many: the target is then a quantity."""
    import numpy as np

    classes = np.unique(labels)
    if classes.size < 2:
        raise DataError(
            f"the target {target!r} of {source} has one class only, {text_of(classes[0])!r}; "
            "a classifier needs rows of at least two"
        )
    most = max_classes
    if most is None:
        most = min(_MOST_CLASSES, max(_FEWEST_SUSPICIOUS, labels.size // 5))
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


def codes_of(table: Table, target: str, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Index of each row's label among the classes, -1 where it is none of them."""
    import numpy as np

    values = table.column(target)
    places = {text_of(label): place for place, label in enumerate(classes)}
    if classes.dtype.kind in "iuf":
        keys = [_number_text(value) for value in values]
    else:
        keys = [text_of(value) for value in values]
    missing = is_missing(values)
    if missing.any():
        raise DataError(
            f"the target {target!r} has no value in {row_numbers(table, missing)} of "
            f"{table.source}; fill it in, or leave such rows out"
        )
    codes = np.array([places.get(key, -1) for key in keys], dtype=np.intp)
    if len(codes) and (codes < 0).all():
        known = listed([text_of(label) for label in classes], 5)
        raise DataError(
            f"none of the labels in column {target!r} of {table.source} is known to the model: "
            f"there is {listed(sorted(set(keys)), 5)}, it knows {known}"
        )
    return codes


def _as_numbers(values: NDArray[Any]) -> NDArray[Any] | None:
    import numpy as np

    if values.dtype.kind == "b":
        return None
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _are_integers(numbers: NDArray[Any]) -> bool:
    import numpy as np

    return bool((np.trunc(numbers) == numbers).all() and np.abs(numbers).max() < _LARGEST_INTEGER)


def _number_text(value: Any) -> str:
    """As `text_of`, where text that is a number counts as one: "1.0" is 1."""
    try:
        return text_of(float(value))
    except (TypeError, ValueError):
        return text_of(value)
