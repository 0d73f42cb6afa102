"""Compiles exported C with every warning an error, and calls it on arrays."""

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest

from kernelet.export import c

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]

# Types of the numbers that any machine with a Gaussian kernel can have; "q7" is for few bits.
DTYPES = ("float32", "float64", "q15")
FIXED = ("q15", "q7")


def compilers():
    """Those that KERNELET_COMPILERS names, as CI does, else those of this machine."""
    named = os.environ.get("KERNELET_COMPILERS", "").split()
    if named:
        assert all(shutil.which(name) for name in named), f"{named} are to be used"
        return named
    found = [name for name in ("gcc", "clang", "cc") if shutil.which(name)]
    if not found and not os.environ.get("CI"):
        pytest.skip("no C compiler on this machine")
    assert found, "CI has to compile what is exported"
    return found[:2]


def compiled(models, folder, *, compiler=None, optimize="-O0"):
    """A `Library` for each ``(model, dtype)``, by one call of the compiler."""
    folder.mkdir(exist_ok=True)
    names = [f"machine_{place}" for place in range(len(models))]
    written = [
        c(model, folder / f"{name}.c", dtype=dtype)
        for name, (model, dtype) in zip(names, models, strict=True)
    ]
    target = folder / "machines.so"
    sources = [str(folder / f"{name}.c") for name in names]
    command = [compiler or compilers()[0], *FLAGS, optimize, "-shared", "-fPIC", *sources]
    done = subprocess.run([*command, "-o", str(target), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    functions = ctypes.CDLL(str(target))
    return [Library(functions, one, dtype) for one, (_, dtype) in zip(written, models, strict=True)]


class Library:
    """The compiled functions of one model, which take and give arrays."""

    def __init__(self, functions, written, dtype):
        self.functions, self.written = functions, written
        self.is_fixed = dtype in FIXED
        self.row_type = np.dtype("int16" if self.is_fixed else dtype)
        self.score_type = np.dtype("int32" if self.is_fixed else dtype)
        self.share_type = np.dtype("uint16" if self.is_fixed else dtype)

    def constant(self, name):
        """A number that the header defines."""
        line = self.written.header.split(f"{self.written.name.upper()}_{name} ")[1]
        return float(line.split()[0].rstrip("f"))

    def entry(self, function, *kinds):
        found = getattr(self.functions, f"{self.written.name}_{function}")
        found.argtypes = list(kinds)
        return found

    def quantize(self, X):
        """Rows as integers, and how many features of each were out of range."""
        rows = np.ascontiguousarray(X, dtype=np.float32)
        counted = ("COMBINATIONS", "USED_FEATURES", "FEATURES")
        length = next(word for word in counted if f"_{word} " in self.written.header)
        quantized = np.empty((len(rows), int(self.constant(length))), dtype=np.int16)
        entry = self.entry("quantize", ctypes.c_void_p, ctypes.c_void_p)
        outside = np.empty(len(rows), dtype=int)
        for i, row in enumerate(rows):
            outside[i] = entry(row.ctypes.data, quantized[i].ctypes.data)
        return quantized, outside

    def _call(self, function, X, shape, kind):
        rows = self.quantize(X)[0] if self.is_fixed else X
        rows = np.ascontiguousarray(rows, dtype=self.row_type)
        results = np.empty((len(rows), *shape), dtype=kind)
        entry = self.entry(f"{function}_batch", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        entry(rows.ctypes.data, len(rows), results.ctypes.data)
        return results

    def decision_function(self, X):
        shape = (int(self.constant("SCORES")),)
        scores = self._call("decision_function", X, shape, self.score_type)
        return scores * self.constant("SCORE_UNIT") if self.is_fixed else scores

    def predict(self, X):
        return self._call("predict", X, (), np.dtype(np.intc))

    def predict_proba(self, X):
        shape = (int(self.constant("CLASSES")),)
        shares = self._call("predict_proba", X, shape, self.share_type)
        return shares / 32768 if self.is_fixed else shares

    def category(self, column, text):
        entry = self.entry("category", ctypes.c_int, ctypes.c_char_p)
        return entry(column, text.encode())

    def texts(self, name, count):
        """A table of texts."""
        table = (ctypes.c_char_p * count).in_dll(self.functions, f"{self.written.name}_{name}")
        return [text.decode() for text in table]
