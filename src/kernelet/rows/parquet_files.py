"""Rows in parquet files, a few row groups at a time."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kernelet.rows.chunks import Chunks
from kernelet.rows.files import CHUNK_BYTES, DOUBLE_BYTES, Paths, matching


@overload
def parquet_chunks(
    paths: Paths, target: None = None, columns: Sequence[str] | None = None
) -> Chunks: ...


@overload
def parquet_chunks(
    paths: Paths, target: str, columns: Sequence[str] | None = None
) -> tuple[Chunks, Chunks]: ...


def parquet_chunks(
    paths: Paths, target: str | None = None, columns: Sequence[str] | None = None
) -> Chunks | tuple[Chunks, Chunks]:
    """Rows in parquet files, in chunks of whole row groups (extra ``parquet``).

    Row groups are combined into chunks of about 32 MB; a larger one is read as a whole. Chunks are
    data frames, so that a model knows the names of the columns.

    Parameters
    ----------
    paths : path-like, or sequence of path-like
        Files, or folders of them; names may hold wildcards. Files that match are read in the order
        of their names.
    target : str, default=None
        The column of the labels.
    columns : sequence of str, default=None
        The columns to read; None is all but the target.

    Returns
    -------
    Chunks, or two of them if there is a target

    Raises
    ------
    FileNotFoundError
        If a name matches no file.
    ValueError
        If a file lacks one of these columns, or has text in one; the message names the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> table = pd.DataFrame({"height": [1.7, 1.8, 1.6], "weight": [60, 80, 70], "is": list("aba")})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(Path(folder) / "rows.parquet", row_group_size=2)
    ...     X, y = parquet_chunks(folder, target="is")
    ...     rows, labels, names = X.to_numpy(), y.to_numpy(), X[0].columns
    >>> rows
    array([[ 1.7, 60. ],
           [ 1.8, 80. ],
           [ 1.6, 70. ]])
    >>> labels.tolist(), list(names)
    (['a', 'b', 'a'], ['height', 'weight'])
    """
    parquet = _parquet()
    files = matching(paths, ".parquet")
    parts, wanted = _parts(parquet, files, target, columns)
    if not wanted:
        raise ValueError("there must be at least one column to read.")
    if not parts:
        raise ValueError(f"there are no rows in {files[0]}" + (", ..." if files[1:] else "."))
    labels = [f"{file}, row groups {groups[0]} to {groups[-1]}" for file, groups in parts]
    X = Chunks(lambda number: _frame(parquet, *parts[number], wanted), len(parts), labels)
    if target is None:
        return X
    return X, Chunks(lambda number: _labels(parquet, *parts[number], target), len(parts), labels)


# A file, and the numbers of its row groups that make a chunk.
_Part = tuple[Path, list[int]]


def _parts(
    parquet: Any, files: Sequence[Path], target: str | None, columns: Sequence[str] | None
) -> tuple[list[_Part], list[str]]:
    """The chunks of the files, and the columns to read, which all files must have."""
    wanted = None if columns is None else list(columns)
    parts: list[_Part] = []
    for file in files:
        try:
            with parquet.ParquetFile(file) as opened:
                names, metadata = _names(opened.schema_arrow), opened.metadata
        except (OSError, ValueError) as error:
            raise ValueError(f"{file} cannot be read as parquet: {error}") from error
        if wanted is None:
            wanted = [name for name in names if name != target]
        missing = [name for name in [*wanted, target] if name is not None and name not in names]
        further = set(names) - {*wanted, target}
        if missing or (columns is None and further):
            what = f"no column {missing[0]!r}" if missing else f"an extra column {min(further)!r}"
            raise ValueError(f"{file} has {what}, where {[*wanted, target]!r:.200} are needed.")
        # by what the file has, whatever is read of it: labels are cut as rows are
        most = max(1, CHUNK_BYTES // (DOUBLE_BYTES * max(1, len(names))))
        parts += [(file, groups) for groups in _groups(metadata, most)]
    return parts, wanted or []


def _parquet() -> Any:
    try:
        importlib.import_module("pandas")
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            "parquet files need pandas and pyarrow: pip install 'kernelet[parquet]'"
        ) from error


def _names(schema: Any) -> list[str]:
    """Columns, without those in which pandas and Dask keep the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _groups(metadata: Any, most: int) -> list[list[int]]:
    """Numbers of row groups that go together; empty ones are left out."""
    together: list[list[int]] = []
    room = 0
    for number in range(metadata.num_row_groups):
        n_rows = metadata.row_group(number).num_rows
        if not n_rows:
            continue
        if n_rows > room:
            together.append([])
            room = most
        together[-1].append(number)
        room -= n_rows
    return together


def _read(parquet: Any, file: Path, groups: list[int], columns: list[str]) -> Any:
    with parquet.ParquetFile(file) as opened:
        return opened.read_row_groups(groups, columns=columns).to_pandas(ignore_metadata=True)


def _frame(parquet: Any, file: Path, groups: list[int], columns: Any) -> Any:
    frame = _read(parquet, file, groups, columns)[columns]
    for name, dtype in frame.dtypes.items():
        if dtype.kind not in "fiub":
            raise ValueError(
                f"{file} holds {dtype} in the column {name!r}, where numbers are needed; leave it "
                "out with columns=, or write it as numbers."
            )
    return frame


def _labels(parquet: Any, file: Path, groups: list[int], target: str) -> NDArray[Any]:
    column = _read(parquet, file, groups, [target])[target]
    if column.isna().any():
        raise ValueError(f"{file} has rows without a label in {target!r}; drop them first.")
    values = np.asarray(column)
    is_text = values.dtype.kind == "O" and all(isinstance(value, str) for value in values)
    return values.astype(str) if is_text else values
