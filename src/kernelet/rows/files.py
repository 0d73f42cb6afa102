"""Rows in files of NumPy, and how files are named."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kernelet.rows.chunks import Chunks

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]

# Bytes of a chunk, as doubles: reading it takes longer than opening the file, and a few at a time
# fit into the memory of any machine.
CHUNK_BYTES = 32_000_000
DOUBLE_BYTES = 8


@overload
def npy_chunks(paths: Paths, target: None = None, rows_per_chunk: int | None = None) -> Chunks: ...


@overload
def npy_chunks(
    paths: Paths, target: Paths, rows_per_chunk: int | None = None
) -> tuple[Chunks, Chunks]: ...


def npy_chunks(
    paths: Paths, target: Paths | None = None, rows_per_chunk: int | None = None
) -> Chunks | tuple[Chunks, Chunks]:
    """Rows in .npy files, which are memory-mapped and cut into chunks of about 32 MB.

    Parameters
    ----------
    paths : path-like, or sequence of path-like
        Files of two-dimensional arrays with the same number of columns, or of one-dimensional ones
        (labels or weights). Names may hold wildcards such as ``"rows-*.npy"``; the files that match
        are read in the order of their names.
    target : path-like, or sequence of path-like, default=None
        Files with the labels, one for each file of rows, with one label for each row.
    rows_per_chunk : int, default=None
        Most rows of a chunk; with None, as many as 32 MB of doubles hold.

    Returns
    -------
    Chunks, or two of them if there is a target

    Raises
    ------
    FileNotFoundError
        If a name matches no file.
    ValueError
        If files do not match each other; the message names the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         np.save(Path(folder) / f"rows-{part}.npy", np.full((3, 2), part, dtype=np.float32))
    ...         np.save(Path(folder) / f"labels-{part}.npy", np.array(["no", "yes", "no"]))
    ...     X, y = npy_chunks(f"{folder}/rows-*.npy", f"{folder}/labels-*.npy", rows_per_chunk=2)
    ...     shapes = [chunk.shape for chunk in X]
    ...     labels = y.to_numpy().tolist()
    >>> shapes
    [(2, 2), (1, 2), (2, 2), (1, 2)]
    >>> labels
    ['no', 'yes', 'no', 'no', 'yes', 'no']
    """
    files = matching(paths)
    shapes = [_mapped(file).shape for file in files]
    for file, shape in zip(files, shapes, strict=True):
        if len(shape) not in (1, 2) or shape[1:] != shapes[0][1:]:
            raise ValueError(
                f"{file} holds an array of shape {shape}, and {files[0]} one of {shapes[0]}; all "
                "must have two dimensions, and the same number of columns."
            )
    if rows_per_chunk is None:
        rows_per_chunk = max(1, CHUNK_BYTES // (DOUBLE_BYTES * max(1, int(np.prod(shapes[0][1:])))))
    elif rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk must be at least 1, got {rows_per_chunk!r}.")
    lengths = [shape[0] for shape in shapes]
    rows = _cut(files, lengths, rows_per_chunk)
    if target is None:
        return rows
    columns = matching(target)
    if len(columns) != len(files):
        raise ValueError(
            f"target names {len(columns)} files and paths {len(files)}; there must be one for each."
        )
    for file, column, length in zip(files, columns, lengths, strict=True):
        found = _mapped(column).shape
        if found not in ((length,), (length, 1)):
            raise ValueError(f"{column} must hold {length} labels as {file} has rows; got {found}.")
    return rows, _cut(columns, lengths, rows_per_chunk)


def matching(paths: Paths, suffix: str | None = None) -> list[Path]:
    """The files that names, wildcards or, with a suffix, folders of such files stand for."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for each in given:
        text = os.fspath(each)
        if os.path.isdir(text) and suffix is not None:
            text = os.path.join(glob.escape(text), f"*{suffix}")
        files = [text] if os.path.isfile(text) else sorted(glob.glob(text, recursive=True))
        files = [file for file in files if os.path.isfile(file)]
        if not files:
            raise FileNotFoundError(
                f"no file matches {os.fspath(each)!r}, seen from the folder {os.getcwd()!r}."
            )
        found += map(Path, files)
    if not found:
        raise ValueError("there must be at least one file.")
    return found


def _cut(files: Sequence[Path], lengths: Sequence[int], most: int) -> Chunks:
    parts = [
        (file, first, min(first + most, length))
        for file, length in zip(files, lengths, strict=True)
        for first in range(0, length, most)
    ]
    if not parts:
        raise ValueError(f"there are no rows in {files[0]}" + (", ..." if files[1:] else "."))

    def read(number: int) -> NDArray[Any]:
        # opened each time: thousands of files at once are more than systems allow
        file, first, last = parts[number]
        rows: NDArray[Any] = _mapped(file)[first:last]
        return rows

    return Chunks(
        read, len(parts), [f"{file}, rows {first} to {last - 1}" for file, first, last in parts]
    )


def _mapped(file: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{file} cannot be read as an array: {error}. Text must be saved as text, not as "
            "objects: np.save(path, labels.astype(str))."
        ) from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{file} is not a .npy file, but {type(array).__name__}.")
    return array
