"""
Three digits in the plane
=========================

Figure 1 of Tsang, Kocsor and Kwok (2006): the digits 0, 6 and 9 in two dimensions, by kernel Fisher
discriminant analysis and by maximum margin discriminant analysis. Both separate the classes, but
Fisher's features need the kernel values of a row with all training rows, and margin features only
those with their core sets.

With ``KERNELET_DATA`` set to a folder that has ``optdigits.npz`` the digits are the paper's;
otherwise they are scikit-learn's, which are the paper's test rows.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from kernelet import KernelFisherDiscriminant, MaxMarginDiscriminantAnalysis

DIGITS = (0, 6, 9)


def digits():
    """Rows and labels to train and test on, pixels from 0 to 1."""
    path = Path(os.environ.get("KERNELET_DATA", "")) / "optdigits.npz"
    if path.is_file():
        data = np.load(path, allow_pickle=False)
        parts = [data[name] for name in ("X_train", "X_test", "y_train", "y_test")]
    else:
        parts = train_test_split(*load_digits(return_X_y=True), random_state=0)
    X_train, X_test, y_train, y_test = parts
    train, test = np.isin(y_train, DIGITS), np.isin(y_test, DIGITS)
    return X_train[train] / 16, y_train[train], X_test[test] / 16, y_test[test]


X_train, y_train, X_test, y_test = digits()
margins = MaxMarginDiscriminantAnalysis(2, random_state=0).fit(X_train, y_train)
width = margins.machine_.kernel.gamma
fisher = KernelFisherDiscriminant(2, gamma=width).fit(X_train, y_train)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axis, title, model in (
    (axes[0], "kernel Fisher (KFD)", fisher),
    (axes[1], "maximum margin (MMDA)", margins),
):
    train, test = model.transform(X_train), model.transform(X_test)
    error = 1.0 - KNeighborsClassifier(1).fit(train, y_train).score(test, y_test)
    vectors = model.machine_.n_vectors
    print(f"{title:22s} {vectors:5d} kernel values  nearest neighbour {100 * error:.2f} % wrong")
    for digit, marker in zip(DIGITS, "o^s", strict=True):
        mine = test[y_test == digit]
        axis.scatter(mine[:, 0], mine[:, 1], s=18, marker=marker, alpha=0.6, label=str(digit))
    axis.set_title(f"{title}, {vectors} kernel values", fontsize=11)
    axis.set_xlabel("first feature")
    axis.set_ylabel("second feature")
axes[0].legend(title="digit")
figure.suptitle("Test rows of three digits in the plane")
plt.show()
