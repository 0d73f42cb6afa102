"""
Denoising digits with 60 vectors
================================

Kernel principal components describe a digit by few numbers, and the inverse transform of these
numbers gives a digit without the noise. scikit-learn's KernelPCA keeps all 1200 training images for
that; `SparseKernelPCA` learns 60 vectors for the components and 60 for the inverse transform. The
curve shows how much of the variance the leading components keep.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from kernelet import SparseKernelPCA

X, y = load_digits(return_X_y=True)
X = X / 16
train, test = X[:1200], X[1200:]
noisy = test + 0.25 * np.random.default_rng(0).normal(size=test.shape)

parameters = {"n_components": 25, "gamma": 0.03, "fit_inverse_transform": True}
full = KernelPCA(kernel="rbf", alpha=0.01, **parameters).fit(train)
small = SparseKernelPCA(n_vectors=60, tol=1e-2, random_state=0, **parameters).fit(train)
cleaned = {
    "true": test,
    "with noise": noisy,
    "KernelPCA, 1200": full.inverse_transform(full.transform(noisy)),
    "SparseKernelPCA, 60": small.inverse_transform(small.transform(noisy)),
}

figure = plt.figure(figsize=(10, 6.4), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[2.1, 1.2])
chosen = [int(np.flatnonzero(y[1200:] == digit)[3]) for digit in range(10)]
axes = top.subplots(4, 10)
for row, (name, images) in zip(axes, cleaned.items(), strict=True):
    error = np.sqrt(np.mean((images - test) ** 2))
    print(f"{name:20s} root mean squared difference {error:.3f}")
    for axis, index in zip(row, chosen, strict=True):
        axis.imshow(images[index].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axis.set(xticks=[], yticks=[])
    row[0].set_ylabel(name.replace(", ", "\n"), rotation=0, ha="right", va="center")
axis = bottom.subplots()
for label, variance, style in (
    ("KernelPCA, 1200 vectors", full.eigenvalues_ / len(train), "k-"),
    ("SparseKernelPCA, 60 vectors", small.explained_variance_, "o--"),
):
    axis.plot(np.arange(1, 26), np.cumsum(variance), style, markersize=4, label=label)
axis.set(xlabel="components", ylabel="variance kept", ylim=(0, None))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="lower right")
plt.show()
