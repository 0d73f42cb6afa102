"""
An exported model at work
=========================

A machine with 24 vectors learns three spirals from 2000 points, and is written as C. If there is a
C compiler, the file is compiled and colours the plane; otherwise the same model is written as JSON
and evaluated by the few lines of plain Python below, which do not use kernelet. Right: how far the
program's scores are from those of the model in Python.
"""

import ctypes
import json
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kernelet
from kernelet import SparseSVC

# three interleaved spirals
rng = np.random.default_rng(0)
arm = rng.integers(3, size=2000)
distance = np.sqrt(rng.uniform(0.02, 1, size=2000))
angle = 5.5 * distance + 2 * np.pi * arm / 3 + 0.2 * rng.normal(size=2000)
X = distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)

model = SparseSVC(n_vectors=24, C=10.0, gamma=6.0, random_state=0).fit(X, arm)
side = 200
ticks = np.linspace(-1.15, 1.15, side)
plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def scores_in_c(model, rows, folder):
    """Compile what `kernelet.export.c` writes, and call it."""
    source = Path(folder) / "spirals.c"
    kernelet.export.c(model, source)
    library = source.with_suffix(".so")
    command = [
        shutil.which("cc"),
        "-O2",
        "-shared",
        "-fPIC",
        str(source),
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, check=True)
    evaluate = ctypes.CDLL(str(library)).spirals_decision_function
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    scores = np.empty((len(rows), 3), dtype=np.float32)
    floats = ctypes.POINTER(ctypes.c_float)
    for row, score in zip(rows, scores, strict=True):
        evaluate(row.ctypes.data_as(floats), score.ctypes.data_as(floats))
    return scores


def scores_from_json(model, rows, folder):
    """Read what `kernelet.export.json` writes, in plain Python."""
    path = Path(folder) / "spirals.json"
    kernelet.export.json(model, path, dtype="float32")
    document = json.loads(path.read_text(encoding="utf-8"))
    # the Gaussian kernel, on features that are each multiplied by a scale
    scales, gamma = document["kernel"]["scales"], document["kernel"]["kernel"]["gamma"]
    scores = []
    for row in rows.tolist():
        total = list(document["intercepts"])
        for vector, beta in zip(document["vectors"], document["coefficients"], strict=True):
            steps = (s * (a - b) for s, a, b in zip(scales, row, vector, strict=True))
            value = math.exp(-gamma * sum(step**2 for step in steps))
            total = [t + b * value for t, b in zip(total, beta, strict=True)]
        scores.append(total)
    return np.array(scores)


with tempfile.TemporaryDirectory() as folder:
    has_compiler = shutil.which("cc") is not None
    run = scores_in_c if has_compiler else scores_from_json
    scores = run(model, plane, folder)
language = "C" if has_compiler else "JSON, plain Python"
difference = np.abs(scores - model.decision_function(plane)).max(axis=1)
print(f"largest difference of a score: {difference.max():.0e}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
palette = np.array([[0.99, 0.75, 0.44], [0.55, 0.71, 0.85], [0.70, 0.87, 0.54]])
shade = np.clip(scores.max(axis=1), -0.4, 1.2)[:, None]
image = 1 - (1 - palette[scores.argmax(axis=1)]) * (0.45 + 0.45 * shade)
box = (ticks[0], ticks[-1], ticks[0], ticks[-1])
axes[0].imshow(np.clip(image, 0, 1).reshape(side, side, 3), origin="lower", extent=box)
axes[0].plot(*X[::4].T, ".", color="0.2", markersize=1.5)
axes[0].plot(*model.vectors_.T, "o", color="black", markersize=7, mfc="white", mew=1.5)
axes[0].set(title=f"24 vectors, evaluated by {language}", xlim=box[:2], ylim=box[2:])
shown = axes[1].imshow(
    np.log10(np.maximum(difference, 1e-9)).reshape(side, side),
    origin="lower",
    extent=box,
    cmap="magma",
)
axes[1].set(title="difference from Python, power of ten")
figure.colorbar(shown, ax=axes[1], shrink=0.85)
for axis in axes:
    axis.set(xticks=[], yticks=[])
plt.show()
