"""
On the way to a small machine
=============================

`SparsityPathDisplay` shows what a method does step by step. Left: the objective of a machine with a
fixed number of vectors falls as the vectors are moved. Right: machines along a path of budgets;
each has more vectors than the one before, and a lower objective.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from kernelet import SparseSVC, SparsityPathDisplay

X, y = load_digits(n_class=6, return_X_y=True)
X = X / 16
maker = SparseSVC(20, C=10.0, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
SparsityPathDisplay.from_estimator(maker.fit(X, y), ax=axes[0])
SparsityPathDisplay.from_results(maker.fit_path(X, y, [2, 4, 6, 8, 12, 16, 20]), ax=axes[1])
axes[1].set_title("a path of budgets", fontsize="medium")
plt.show()
