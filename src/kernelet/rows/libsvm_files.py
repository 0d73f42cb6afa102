"""Rows in LIBSVM's text format, read in parts."""

from __future__ import annotations

import bz2
import gzip
import io
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from kernelet.machine.texts import visible
from kernelet.rows.chunks import Chunks
from kernelet.rows.files import Paths, matching

# Bytes of text in a chunk, as of a chunk of other files: an entry such as "1234:0.567 " takes 12
# bytes in memory, and about as many in the file.
CHUNK_TEXT = 32_000_000
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def libsvm_chunks(
    paths: Paths, n_features: int | None = None, zero_based: bool = False
) -> tuple[Chunks, Chunks]:
    r"""Rows and labels in files of LIBSVM's format, in chunks of about 32 MB of text.

    Rows are CSR matrices. A compressed file (.gz, .bz2) is one chunk.

    Parameters
    ----------
    paths : path-like, or sequence of path-like
        Files; names may hold wildcards. Files that match are read in the order of their names.
    n_features : int, default=None
        Number of columns; with None, all files are read once to find it.
    zero_based : bool, default=False
        Whether the first column is called 0; LIBSVM calls it 1.

    Returns
    -------
    X, y : Chunks

    Raises
    ------
    FileNotFoundError
        If a name matches no file.
    ValueError
        If a file is in another format, or has more columns; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "rows.libsvm"
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:1.5\n")
    ...     X, y = libsvm_chunks(file)
    ...     rows, labels = X[0].toarray(), y[0]
    >>> rows
    array([[0.5, 0. , 2. ],
           [0. , 1.5, 0. ]])
    >>> labels
    array([ 1., -1.])
    """
    parts = [part for file in matching(paths) for part in _parts(file)]
    if n_features is None:
        shapes = [_loaded(part, None, zero_based)[0].shape for part in parts]
        n_features = max(width for _, width in shapes)
        parts = [part for part, (n, _) in zip(parts, shapes, strict=True) if n]
        if not parts or not n_features:
            raise ValueError(f"there are no rows with values in {paths!r:.200}.")
    last = threading.local()

    def read(number: int) -> tuple[Any, NDArray[Any]]:
        # rows and labels are asked for one after the other, by one thread
        if getattr(last, "number", None) != number:
            last.both, last.number = _loaded(parts[number], n_features, zero_based), number
        both: tuple[Any, NDArray[Any]] = last.both
        return both

    names = [str(file) + (f", from byte {start}" if start else "") for file, start, _ in parts]
    X = Chunks(lambda number: read(number)[0], len(parts), names)
    y = Chunks(lambda number: read(number)[1], len(parts), names)
    return X, y


# What compression that is damaged raises beside a ValueError, and an index of 20 digits.
_OF_READERS = (ValueError, OverflowError, EOFError, OSError, zlib.error)
# A file, and the bytes where lines begin and end.
_Part = tuple[Path, int, int]


def _parts(file: Path) -> list[_Part]:
    size = file.stat().st_size
    if file.suffix in _OPENERS or size <= CHUNK_TEXT:
        return [(file, 0, -1)]
    starts = [0]
    with file.open("rb") as stream:
        while starts[-1] + CHUNK_TEXT < size:
            stream.seek(starts[-1] + CHUNK_TEXT - 1)
            stream.readline()
            starts.append(stream.tell())
    ends = [*starts[1:], size]
    return [(file, start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _loaded(part: _Part, n_features: int | None, zero_based: bool) -> tuple[Any, NDArray[Any]]:
    file, start, end = part
    with _OPENERS.get(file.suffix, open)(file, "rb") as stream:
        try:
            stream.seek(start)
            text = stream.read(end - start if end >= 0 else -1)
            X, y = load_svmlight_file(
                io.BytesIO(text), n_features=n_features, zero_based=zero_based
            )
        except _OF_READERS as error:
            if getattr(error, "errno", None) is not None:  # of the disk, not of the file
                raise
            where = f"{file} cannot be read as LIBSVM's format with n_features={n_features}"
            raise ValueError(visible(f"{where}: {error}")) from error
    return X, np.asarray(y)
