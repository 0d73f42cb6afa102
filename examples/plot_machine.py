"""
A machine in the plane
======================

What a machine does with two features: regions, boundary, margins, data and the vectors, whose area
grows with the coefficient. Left: the full SVM and all its support vectors. Middle: a machine with
five learned vectors. Right: a machine for three classes that share six vectors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kernelet import MachineDisplay, SparseSVC
from kernelet.datasets import make_ripley

X, y = make_ripley(250, random_state=0)
iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
species = iris.target_names[iris.target]

svc = SVC(gamma=2.0).fit(X, y)
sparse = SparseSVC(5, gamma=2.0, random_state=0).fit(X, y)
flowers = SparseSVC(6, C=10.0, random_state=0).fit(petals, species)

figure, axes = plt.subplots(1, 3, figsize=(16, 4.6), layout="constrained")
for ax, title, model, rows, labels in (
    (axes[0], "SVC", svc, X, y),
    (axes[1], "SparseSVC(5)", sparse, X, y),
    (axes[2], "SparseSVC(6), three classes", flowers, petals, species),
):
    MachineDisplay.from_estimator(model, rows, labels, ax=ax)
    ax.set_title(f"{title}: training error {100 * (1 - model.score(rows, labels)):.1f} %")
plt.show()
