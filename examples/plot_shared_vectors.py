"""
Vectors that all classes share
==============================

One-vs-rest machines usually have one set of vectors per class. In `SparseSVC` all classes share
their vectors: a prediction costs one kernel value per vector, however many classes there are. Both
pictures have five classes and ten vectors: left two for each class, right ten for all.
"""

import matplotlib.pyplot as plt
import numpy as np

from kernelet import MachineDisplay, SparseSVC


def petals(n, seed):
    """Five petals around a centre, each bent."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=n)
    radius = 0.35 + rng.beta(2, 2, size=n)
    angle = 2 * np.pi * y / 5 + 0.9 * radius + 0.22 * rng.normal(size=n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y


X, y = petals(600, 0)
X_test, y_test = petals(5000, 1)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for axis, vectors, budget in zip(axes, ("per_class", "shared"), (2, 10), strict=True):
    model = SparseSVC(
        n_vectors=budget,
        vectors=vectors,
        C=10.0,
        gamma=2.0,
        learn_kernel=False,  # vectors of one class alone do not learn it either
        random_state=0,
    )
    model.fit(X, y)
    error = 100 * (1 - model.score(X_test, y_test))
    MachineDisplay.from_estimator(model, X=X[:250], y=y[:250], ax=axis)
    words = "two for each class" if vectors == "per_class" else "ten for all classes"
    axis.set_title(f"{words}, test error {error:.1f} %", fontsize=11)
    axis.set(xlabel="", ylabel="", xticks=[], yticks=[])
    print(f"{vectors}: {model.n_vectors_} vectors, test error {error:.1f} %")
axes[0].get_legend().remove()  # the other one says the same
plt.show()
