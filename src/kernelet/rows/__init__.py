"""Rows that need not be in memory: files that are read in chunks, and Dask collections."""

from kernelet.rows.block import Block
from kernelet.rows.chunks import Chunks
from kernelet.rows.files import npy_chunks
from kernelet.rows.labelled import LabelledBlocks
from kernelet.rows.libsvm_files import libsvm_chunks
from kernelet.rows.opening import is_distant, open_pieces
from kernelet.rows.parquet_files import parquet_chunks
from kernelet.rows.pieces import ClusterError, Piece, Pieces

__all__ = [
    "Block",
    "Chunks",
    "ClusterError",
    "LabelledBlocks",
    "Piece",
    "Pieces",
    "is_distant",
    "libsvm_chunks",
    "npy_chunks",
    "open_pieces",
    "parquet_chunks",
]
