"""
Vectors that look like digits
=============================

Example 2 and figure 1 of Wu, Schölkopf and Bakır (2006): a machine that tells 3 from 8 with a tenth
of the SVM's vectors. The vectors are learned, not chosen from the data, and yet look like digits.

With ``KERNELET_DATA`` set to a folder that has ``usps.npz`` the images are the paper's (smoothed,
16 x 16); otherwise they are scikit-learn's 8 x 8 digits.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kernelet import SparseSVC


def images():
    """Rows and labels to train and test on, and the side of an image."""
    path = Path(os.environ.get("KERNELET_DATA", "")) / "usps.npz"
    if path.is_file():
        data = np.load(path, allow_pickle=False)
        parts = []
        for part in ("train", "test"):
            X = data[f"X_{part}"].astype(float).reshape(-1, 16, 16)
            smooth = np.stack([gaussian_filter(image, 0.75) for image in X]).reshape(len(X), -1)
            parts += [smooth, data[f"y_{part}"]]
        return *parts, 16, 1 / 128
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
    return X_train, y_train, X_test, y_test, 8, 0.1


X_train, y_train, X_test, y_test, side, gamma = images()
train, test = np.isin(y_train, (3, 8)), np.isin(y_test, (3, 8))
X_train, y_train, X_test, y_test = X_train[train], y_train[train], X_test[test], y_test[test]

svc = SVC(C=10.0, gamma=gamma).fit(X_train, y_train)
# the paper's machine: the hinge loss and a given kernel; learned scales would blur pixels that
# matter little
paper = {"loss": "hinge", "learn_kernel": False, "C": 10.0}
sparse = SparseSVC(12, gamma=gamma, init="random", random_state=0, **paper).fit(X_train, y_train)
for name, model, n in (("SVC", svc, len(svc.support_)), ("SparseSVC", sparse, 12)):
    print(f"{name:9s} {n:4d} vectors  test error {100 * (1 - model.score(X_test, y_test)):.1f} %")

order = np.argsort(sparse.machine_.coefficients[:, 0])
figure, axes = plt.subplots(2, 6, figsize=(9, 3.4), layout="constrained")
for axis, j in zip(axes.ravel(), order, strict=True):
    beta = sparse.machine_.coefficients[j, 0]
    axis.imshow(sparse.vectors_[j].reshape(side, side), cmap="gray")
    axis.set_title(f"{'8' if beta > 0 else '3'}  ({beta:+.1f})", fontsize=9)
    axis.set_axis_off()
figure.suptitle("The 12 vectors of a machine that tells 3 from 8, with their coefficients")
plt.show()
