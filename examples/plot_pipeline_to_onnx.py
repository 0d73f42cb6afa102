"""
An SVC in a pipeline, smaller, in ONNX
======================================

A pipeline of a scaler and an `SVC` is to become small and fast without another training. `compress`
replaces the SVC by a machine of few vectors, and `kernelet.export.onnx` writes the pipeline, scaler
included, as a graph of standard operators that onnxruntime and others read.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

import kernelet

scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
pipeline = make_pipeline(MinMaxScaler(), SVC(C=10.0)).fit(X_train, y_train)
scaler, svc = pipeline[0], pipeline[-1]

models = {f"SVC, {len(svc.support_)}": pipeline}
for n_vectors in (20, 40, 80):
    models[f"{n_vectors} vectors"] = make_pipeline(scaler, kernelet.compress(svc, n_vectors))

# Each pipeline as a file, and the runtime's answers for rows as they come, before any scaling.
sizes, errors = {}, {}
for name, model in models.items():
    path = folder / "digits.onnx"
    kernelet.export.onnx(model, path)
    session = onnxruntime.InferenceSession(path)
    (labels,) = session.run(["label"], {"X": X_test.astype(np.float32)})
    sizes[name], errors[name] = path.stat().st_size / 1000, 100 * np.mean(labels != y_test)
    same = np.mean(labels == model.predict(X_test))
    print(f"{name}: {sizes[name]:.0f} kB, test error {errors[name]:.1f} %, ", end="")
    print(f"{100 * same:.1f} % of the labels are those of Python")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for axis, figures, title in zip(
    axes, (sizes, errors), ("kB of ONNX", "test error, %"), strict=True
):
    bars = axis.barh(list(figures), list(figures.values()), color=["0.75", *3 * ["C3"]])
    axis.bar_label(bars, fmt="%.1f", padding=3)
    axis.set(title=title, xlim=(0, 1.2 * max(figures.values())))
axes[0].invert_yaxis()
plt.show()
