"""
Curves from a few vectors
=========================

Left: kernel ridge regression with one vector for each of 300 rows, and with 8 learned ones
(`SparseKernelRidge`); the ticks below are where the vectors are. Middle: three machines of 6
vectors for the quantiles 0.1, 0.5 and 0.9 (`SparseSVR` with ``loss="quantile"``) follow a spread
that grows. Right: the relevance vector machine chooses its vectors (dots) itself, and gives error
bars from the noise that it finds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge

from kernelet import RelevanceVectorRegressor, SparseKernelRidge, SparseSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-4, 4, 300))
X = x[:, None]
curve = np.sin(2 * x) * np.exp(-0.15 * x**2) + 0.3 * x
y = curve + 0.15 * rng.normal(size=x.size)
spread = curve + (0.05 + 0.12 * (x + 4)) * rng.normal(size=x.size)
line = np.linspace(-4, 4, 500)
L = line[:, None]

figure, axes = plt.subplots(1, 3, figsize=(11.5, 4), layout="constrained")

full = KernelRidge(alpha=0.1, kernel="rbf", gamma=1.0).fit(X, y - y.mean())
small = SparseKernelRidge(n_vectors=8, C=10.0, gamma=1.0, random_state=0).fit(X, y)
axes[0].plot(x, y, ".", color="0.7", markersize=4)
axes[0].plot(line, full.predict(L) + y.mean(), color="black", label="300 vectors")
axes[0].plot(line, small.predict(L), "--", color="tab:blue", linewidth=2, label="8 vectors")
axes[0].plot(small.vectors_[:, 0], np.full(8, y.min() - 0.25), "|", color="tab:blue", markersize=12)
axes[0].set_title("ridge regression")

for quantile, colour in ((0.1, "tab:green"), (0.5, "black"), (0.9, "tab:orange")):
    model = SparseSVR(
        n_vectors=6, C=30.0, loss="quantile", quantile=quantile, gamma=0.5, random_state=0
    ).fit(X, spread)
    below = np.mean(spread < model.predict(X))
    axes[1].plot(line, model.predict(L), color=colour, label=f"quantile {quantile}")
    print(f"quantile {quantile}: {below:.2f} of the rows lie below")
axes[1].plot(x, spread, ".", color="0.7", markersize=4, zorder=0)
axes[1].set_title("quantiles, 6 vectors each")

bayes = RelevanceVectorRegressor(gamma=1.0).fit(X, y)
mean, deviation = bayes.predict(L, return_std=True)
axes[2].plot(x, y, ".", color="0.7", markersize=4)
axes[2].fill_between(line, mean - 2 * deviation, mean + 2 * deviation, color="tab:red", alpha=0.2)
axes[2].plot(line, mean, color="tab:red", label=f"{bayes.n_vectors_} vectors, two deviations")
axes[2].scatter(bayes.vectors_[:, 0], bayes.predict(bayes.vectors_), color="tab:red", s=25)
axes[2].set_title("relevance vectors")
for axis in axes:
    axis.legend(frameon=False, loc="upper left", fontsize=9)
    axis.set(xticks=[], yticks=[])
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
