"""
Start
=====

Train a machine with 20 vectors, and compare it with the SVM that it replaces. This page is a script; its
output is from the time when the site was built.

Install
-------

kernelet needs Python 3.11 or newer. In the folder of the project, without a compiler:

.. code-block:: sh

    pip install '.[plot]'

The extra ``fast`` adds numba, which compiles the inner loop of the hinge loss: on small data, fits of
``SparseSVC(loss="hinge")`` and `SparseSVR` then take about half the time and give the same results. The
first fit after an installation takes some seconds longer because it compiles; numba keeps the compiled
code for later runs if it finds a folder that it can write to.
"""

# %%
# The SVM
# -------
# An RBF SVM reads handwritten digits well, but keeps hundreds of images to compare each new one with.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)


def error(model):
    return 100 * (1 - model.score(X_test, y_test))


svc = SVC(C=10.0).fit(X_train, y_train)
print(f"SVC: {len(svc.support_)} vectors, test error {error(svc):.1f} %")

# %%
# Twenty vectors
# --------------
# You choose the number of vectors. `SparseSVC` then *learns* them: it minimises the SVM's
# own objective over the vectors as well as over their coefficients. All ten classes share them, so a
# prediction costs 20 kernel values in all. By default the loss is the squared hinge, the kernel is learned
# together with the vectors (a scale for each feature, or combinations of features if there are few of
# them), and ``C="auto"`` is chosen by validation on held-out rows; here ``C`` is given. The paper's machine, with
# the hinge and a given kernel, is ``SparseSVC(loss="hinge", learn_kernel=False, C=1.0)``.

from kernelet import SparseSVC

small = SparseSVC(n_vectors=20, C=10.0, random_state=0).fit(X_train, y_train)
print(f"SparseSVC: {small.n_vectors_} vectors, test error {error(small):.1f} %")

# %%
# The vectors are points in the space of the images, so they can be looked at.

from kernelet import VectorsDisplay

VectorsDisplay.from_estimator(small, shape=(8, 8))
plt.show()

# %%
# The SVM that you have already
# -----------------------------
# `compress` takes a fitted scikit-learn model and returns one that predicts like it with fewer vectors.

from kernelet import compress

fewer = compress(svc, n_vectors=60)
print(f"compressed: {fewer.n_vectors_} vectors, test error {error(fewer):.1f} %")

# %%
# How many are enough?
# --------------------
# `BudgetSearchCV` cross-validates a list of budgets and chooses the smallest within one standard error
# of the best.

from kernelet import BudgetSearchCV, FrontierDisplay

search = BudgetSearchCV(
    SparseSVC(C=10.0, tol=3e-2, random_state=0),
    budgets=(5, 10, 20, 40),
    cv=3,
    reference=SVC(C=10.0),
).fit(X_train, y_train)
print(f"{search.n_vectors_} vectors are enough: test error {error(search):.1f} %")
FrontierDisplay.from_estimator(search)
plt.show()

# %%
# Keep it, ship it
# ----------------
# A model file holds arrays and names, no code; ``kernelet.export`` writes C, JavaScript, ONNX and JSON.

import tempfile
from pathlib import Path

import kernelet

with tempfile.TemporaryDirectory() as folder:
    kernelet.save(small, Path(folder) / "digits.kernelet")
    again = kernelet.load(Path(folder) / "digits.kernelet")
    kernelet.export.c(small, Path(folder) / "digits.c")
    print(sorted(path.name for path in Path(folder).iterdir()))
print("the same predictions:", np.array_equal(again.predict(X_test), small.predict(X_test)))

# %%
# Next: which method suits your problem is on the page :doc:`/choosing`; :doc:`/howto/index` has recipes that
# end in something that runs.
