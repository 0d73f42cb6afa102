"""
Few vectors, typical of their class
===================================

Figures 1 and 3 of Huang, Zheng, King and Lyu (2009). Above: an SVM with a polynomial kernel, and
the same with the zero-norm of its coefficients as penalty. Below: SVM, relevance vector machine and
L0-norm SVM with a Gaussian kernel on 100 points of Ripley's mixture. Where there are points, the
boundaries are nearly the same, but the vectors (circles) differ. Those of the SVM lie near the
boundary or on the wrong side, those of the others in the middle of their class.

With ``KERNELET_DATA`` set to a folder that has ``ripley.npz`` the rows are Ripley's own; otherwise
they are drawn from the same density.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kernelet import NormSVC, RelevanceVectorClassifier
from kernelet.datasets import make_ripley


def ripley():
    """100 rows to train on, 1000 to test on."""
    path = Path(os.environ.get("KERNELET_DATA", "")) / "ripley.npz"
    if path.is_file():
        data = np.load(path, allow_pickle=False)
        chosen = np.random.default_rng(0).permutation(len(data["y_train"]))[:100]
        labels = [
            (data[f"y_{part}"] == data["y_train"].max()).astype(int) for part in ("train", "test")
        ]
        return data["X_train"][chosen], labels[0][chosen], data["X_test"], labels[1]
    return *make_ripley(100, random_state=0), *make_ripley(1000, random_state=1)


def draw(axis, model, X, y, title, level=1.0):
    """Rows, vectors in circles, the boundary, and the lines f = -level and +level."""
    low, high = X.min(axis=0) - 0.15, X.max(axis=0) + 0.15
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 200).T), axis=-1)
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
    lines = {"levels": [-level, 0.0, level], "linestyles": ["dashed", "solid", "dashed"]}
    axis.contour(grid[..., 0], grid[..., 1], scores, colors="black", linewidths=1.0, **lines)
    for label, marker, colour in ((0, "x", "tab:red"), (1, ".", "tab:blue")):
        axis.scatter(*X[y == label].T, marker=marker, color=colour, s=22, linewidths=0.9)
    vectors = model.support_vectors_ if isinstance(model, SVC) else model.vectors_
    axis.scatter(*vectors.T, s=90, facecolors="none", edgecolors="black")
    axis.set_title(f"{title}: {len(vectors)} vectors", fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


X, y, X_test, y_test = ripley()
polynomial = {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}
top = [
    ("L2-norm SVM, cubic", SVC(**polynomial).fit(X, y)),
    ("L0-norm SVM, cubic", NormSVC(p=0, C_norm=0.2, **polynomial).fit(X, y)),
]
bottom = [
    ("L2-norm SVM", SVC(gamma=2.0).fit(X, y)),
    ("RVM", RelevanceVectorClassifier(gamma=2.0).fit(X, y)),
    ("L0-norm SVM", NormSVC(p=0, C=1.0, C_norm=0.2, gamma=2.0).fit(X, y)),
]
figure, axes = plt.subplot_mosaic("AAABBB;CCDDEE", figsize=(10, 7.4), layout="constrained")
for name, (title, model) in zip("ABCDE", top + bottom, strict=True):
    draw(axes[name], model, X, y, title)
    print(f"{title:20s} test error {100 * (1 - model.score(X_test, y_test)):.1f} %")
plt.show()
