"""
Mislabelled rows do not become vectors
======================================

Figure 4 of Huang, Zheng, King and Lyu (2009): 5, 10 and 15 % of 100 training labels are switched
(squares). For an SVM nearly every mislabelled row is an error and hence a vector, so the machine
grows with the noise. The zero-norm of the coefficients favours rows that explain many others: the
number of vectors stays the same, and mislabelled rows are seldom among them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kernelet import NormSVC, RelevanceVectorClassifier
from kernelet.datasets import make_ripley

MODELS = {
    "L2-norm SVM": lambda: SVC(gamma=2.0),
    "RVM": lambda: RelevanceVectorClassifier(gamma=2.0),
    "L0-norm SVM": lambda: NormSVC(p=0, C=1.0, C_norm=0.2, gamma=2.0),
}
X, truth = make_ripley(100, random_state=0)
X_test, y_test = make_ripley(5000, random_state=1)
order = np.random.default_rng(0).permutation(100)
low, high = X.min(axis=0) - 0.15, X.max(axis=0) + 0.15
grid = np.stack(np.meshgrid(*np.linspace(low, high, 200).T), axis=-1)

figure, axes = plt.subplots(3, 3, figsize=(10, 9.5), layout="constrained")
for row, n_switched in zip(axes, (5, 10, 15), strict=True):
    switched = np.isin(np.arange(100), order[:n_switched])
    y = np.where(switched, 1 - truth, truth)
    for axis, (title, make) in zip(row, MODELS.items(), strict=True):
        model = make().fit(X, y)
        vectors = model.support_vectors_ if isinstance(model, SVC) else model.vectors_
        wrong = sum(switched[(z == X).all(axis=1)].any() for z in vectors)
        error = 100 * (1 - model.score(X_test, y_test))
        scores = model.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
        axis.contour(
            grid[..., 0],
            grid[..., 1],
            scores,
            levels=[-1.0, 0.0, 1.0],
            linestyles=["dashed", "solid", "dashed"],
            colors="black",
            linewidths=1.0,
        )
        for label, marker, colour in ((0, "x", "tab:red"), (1, ".", "tab:blue")):
            axis.scatter(*X[y == label].T, marker=marker, color=colour, s=20, linewidths=0.9)
        axis.scatter(*X[switched].T, marker="s", s=70, facecolors="none", edgecolors="tab:orange")
        axis.scatter(*vectors.T, s=80, facecolors="none", edgecolors="black")
        axis.set_title(
            f"{title}, {n_switched} % switched\n{len(vectors)} vectors, {wrong} of them switched",
            fontsize=9,
        )
        axis.set_xticks([])
        axis.set_yticks([])
        print(
            f"{n_switched:2d} % switched  {title:12s} {len(vectors):3d} vectors, {wrong:2d} of "
            f"them switched, test error {error:.1f} %"
        )
plt.show()
