"""
One class, few vectors
======================

A one-class SVM learns where rows usually are, and keeps at least the share `nu` of them as
vectors. `SparseOneClassSVM` learns the same contour with a handful. Colours show the score, the
line is where it is zero, and crosses are rows outside.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import OneClassSVM

from kernelet import SparseOneClassSVM

X, _ = make_moons(400, noise=0.08, random_state=0)
new, _ = make_moons(4000, noise=0.08, random_state=1)
anywhere = np.random.default_rng(0).uniform([-2, -1.5], [3, 2], size=(4000, 2))

parameters = {"nu": 0.1, "gamma": 3.0}
models = {
    "OneClassSVM": OneClassSVM(**parameters).fit(X),
    "SparseOneClassSVM": SparseOneClassSVM(n_vectors=12, random_state=0, **parameters).fit(X),
    "SparseOneClassSVM ": SparseOneClassSVM(n_vectors=6, random_state=0, **parameters).fit(X),
}

figure, axes = plt.subplots(1, 3, figsize=(11, 4.1), layout="constrained", sharey=True)
grid = np.stack(np.meshgrid(np.linspace(-1.7, 2.7, 220), np.linspace(-1.2, 1.7, 160)), axis=-1)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    scores = scores / np.abs(scores).max()
    vectors = model.support_vectors_ if isinstance(model, OneClassSVM) else model.vectors_
    axis.contourf(*np.moveaxis(grid, -1, 0), scores, levels=20, cmap="Blues", alpha=0.85)
    axis.contour(*np.moveaxis(grid, -1, 0), scores, levels=[0.0], colors="black", linewidths=1.4)
    inside = model.predict(X) == 1
    axis.plot(*X[inside].T, ".", color="0.25", markersize=3)
    axis.plot(*X[~inside].T, "x", color="tab:red", markersize=5)
    axis.scatter(*vectors.T, s=55, facecolor="gold", edgecolor="black", linewidth=0.9, zorder=3)
    axis.set_title(f"{name.strip()}: {len(vectors)} vectors")
    axis.set(xticks=[], yticks=[], xlim=(-1.7, 2.7), ylim=(-1.2, 1.7))
    kept, taken = (model.predict(new) == 1).mean(), (model.predict(anywhere) == 1).mean()
    print(f"{len(vectors):3d} vectors: {kept:.2f} of new rows inside, {taken:.2f} of the whole box")
plt.show()
