"""
The frontier on three sets
==========================

How many vectors does it take? Error against the budget for vectors that are learned
(`SparseSVC`), for k-means centres (`ReducedSVC`), and for the reduced set of the SVM without its
data (`compress`). The line is the SVM, with the number of its vectors at its end. The nearer a
curve is to the lower left corner, the better.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelet import ReducedSVC, SparseSVC, compress
from kernelet.datasets import make_banana

BUDGETS = (3, 5, 10, 20, 40)


def split(X, y, size):
    """Rows to train on, scaled, and rows to test on."""
    parts = train_test_split(X, y, train_size=size, random_state=0, stratify=y)
    scaler = StandardScaler().fit(parts[0])
    return scaler.transform(parts[0]), scaler.transform(parts[1]), parts[2], parts[3]


sets = {
    "banana, 2 classes": (split(*make_banana(4400, random_state=0), 400), 10.0, 1.0),
    "breast cancer, 2 classes": (split(*load_breast_cancer(return_X_y=True), 300), 1.0, "scale"),
    "digits, 10 classes": (split(*load_digits(return_X_y=True), 900), 10.0, "scale"),
}
colours = {"learned": "tab:blue", "k-means centres": "tab:orange", "compressed": "tab:green"}

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for axis, (title, ((X, X_test, y, y_test), C, gamma)) in zip(axes, sets.items(), strict=True):
    svc = SVC(C=C, gamma=gamma).fit(X, y)
    path = SparseSVC(C=C, gamma=gamma, tol=3e-2, random_state=0).fit_path(X, y, BUDGETS)
    curves = {
        "learned": path,
        "k-means centres": [
            ReducedSVC(m, C=C, gamma=gamma, init="kmeans", random_state=0).fit(X, y)
            for m in BUDGETS
        ],
        "compressed": [compress(svc, m) for m in BUDGETS],
    }
    for name, models in curves.items():
        errors = [100 * (1 - model.score(X_test, y_test)) for model in models]
        axis.plot(BUDGETS, errors, "o-", color=colours[name], markersize=4, label=name)
    full = 100 * (1 - svc.score(X_test, y_test))
    axis.axhline(full, color="black", linewidth=1)
    axis.annotate(
        f"SVM, {len(svc.support_)} vectors",
        (1, full),
        xycoords=("axes fraction", "data"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=9,
    )
    axis.set(title=title, xlabel="vectors", xscale="log", yscale="log", ylim=(1.8, 70))
    for ticks in (axis.xaxis, axis.yaxis):
        values = BUDGETS if ticks is axis.xaxis else (2, 5, 10, 20, 50)
        ticks.set_ticks(values, [str(value) for value in values])
        ticks.set_ticks([], minor=True)
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("test error, %")
axes[0].legend(frameon=False)
plt.show()
