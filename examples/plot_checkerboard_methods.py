"""
One checkerboard, nine methods
==============================

A board of sixteen fields, 1000 points, and a Gaussian kernel of the same width for all methods. The
SVM keeps the points near the lines. Most others draw nearly the same lines from far fewer vectors
(dots): learned vectors lie wherever they serve best, chosen ones are points of the board. Sixteen
k-means centres, which are neither, are too few. The titles give the number of vectors and the share
of the board that is coloured wrongly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kernelet import (
    KernelFisherClassifier,
    MinimalKernelSVC,
    NormSVC,
    ReducedSVC,
    RelevanceVectorClassifier,
    SparseSVC,
    SubspaceLPSVC,
    compress,
)
from kernelet.datasets import checkerboard_grid, make_checkerboard

X, y = make_checkerboard(1000, random_state=1)
grid, colours = checkerboard_grid()

svc = SVC(C=100.0, gamma=1.0).fit(X, y)
width = {"gamma": 1.0}
models = {
    "SVC": svc,
    "SparseSVC": SparseSVC(16, C=100.0, learn_kernel=False, random_state=0, **width).fit(X, y),
    "compress": compress(svc, 16, X, y, refit="direct"),
    "KernelFisherClassifier": KernelFisherClassifier(
        n_vectors=16, mu=1e-4, C=100.0, random_state=0, **width
    ).fit(X, y),
    "ReducedSVC, k-means": ReducedSVC(
        n_vectors=16, C=100.0, init="kmeans", random_state=0, **width
    ).fit(X, y),
    "MinimalKernelSVC": MinimalKernelSVC(C=100.0, random_state=0, **width).fit(X, y),
    "NormSVC": NormSVC(p=0, C=100.0, C_norm=1.0, **width).fit(X, y),
    "RelevanceVectorClassifier": RelevanceVectorClassifier(gamma=2.0).fit(X, y),
    "SubspaceLPSVC": SubspaceLPSVC(
        n_components=30, n_landmarks=60, C=100.0, random_state=0, **width
    ).fit(X, y),
}

figure, axes = plt.subplots(3, 3, figsize=(9, 9.6), layout="constrained")
side = int(np.sqrt(len(grid)))
order = np.lexsort((grid[:, 0], grid[:, 1]))
ticks = np.unique(grid[:, 0])
for axis, (name, model) in zip(axes.flat, models.items(), strict=True):
    vectors = model.support_vectors_ if name == "SVC" else model.vectors_
    scores = model.decision_function(grid[order]).reshape(side, side)
    wrong = 100 * (1 - model.score(grid, colours))
    axis.contourf(ticks, ticks, scores, levels=[-1e9, 0, 1e9], colors=["0.72", "0.97"])
    axis.contour(ticks, ticks, scores, levels=[0], colors="black", linewidths=1.2)
    axis.scatter(*vectors.T, s=20, color="tab:red", edgecolor="white", linewidth=0.4, clip_on=False)
    axis.set_title(f"{name}\n{len(vectors)} vectors, {wrong:.1f} % wrong", fontsize=10)
    axis.set(xlim=(0, 4), ylim=(0, 4), aspect="equal", xticks=[], yticks=[])
    print(f"{name:26s}{len(vectors):5d} vectors {wrong:5.1f} %")
plt.show()
