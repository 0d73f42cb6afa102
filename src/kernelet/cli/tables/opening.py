"""The bytes of a table: opened, decompressed, and counted while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any, cast

from kernelet.cli.tables.sources import STDIN, Source

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Bytes that are read at once: a bar moves by a hundredth where a file has 25 MB, and calls from
# Python cost nothing beside parsing as many.
_PIECE = 1 << 18


class Watched(io.RawIOBase):
    """A stream that reports how far it has been read."""

    def __init__(self, stream: IO[bytes], watch: Callable[[int], None]) -> None:
        self._stream, self._watch, self._n_read = stream, watch, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._n_read = self._stream.seek(offset, whence)
        return self._n_read

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        read: Any = getattr(self._stream, "read1", self._stream.read)
        data = read(len(buffer))
        buffer[: len(data)] = data
        self._n_read += len(data)
        self._watch(self._n_read)
        return len(data)


def opened(source: Source, stack: ExitStack) -> IO[bytes]:
    """The bytes of a file, decompressed where its name says so, or of stdin.

    What `Source.watch` counts are the bytes on the disk.
    """
    stream: Any = sys.stdin.buffer
    if source.path != STDIN:
        stream = stack.enter_context(open(source.path, "rb"))  # noqa: SIM115 (the stack closes it)
    if source.watch is not None:
        stream = io.BufferedReader(Watched(stream, source.watch), _PIECE)
    opener = _OPENERS.get("." + source.path.lower().rpartition(".")[2])
    if opener is not None:
        stream = stack.enter_context(opener(stream, "rb"))
    return cast("IO[bytes]", stream)
