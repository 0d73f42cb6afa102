"""
How many vectors are enough
===========================

`BudgetSearchCV` cross-validates a list of budgets and chooses the smallest whose score is within
one standard error of the best. `FrontierDisplay` draws its results: error against vectors, with the
full SVM as a line for comparison, and against bytes; ``x="microseconds"`` is the time per row.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kernelet import BudgetSearchCV, FrontierDisplay, SparseSVC

X, y = load_digits(return_X_y=True)
X, y = X / 16, y

search = BudgetSearchCV(
    SparseSVC(C=10.0, tol=3e-2, random_state=0),
    budgets=(5, 10, 20, 40, 80),
    cv=3,
    reference=SVC(C=10.0),
).fit(X, y)
svm = search.reference_results_
print(
    f"SVC: {svm['mean_n_vectors']:.0f} vectors, error {100 * (1 - search.reference_score_):.1f} %"
)
print(f"chosen: {search.n_vectors_} vectors, error {100 * (1 - search.best_score_):.1f} %")

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
FrontierDisplay.from_estimator(search, ax=axes[0])
FrontierDisplay.from_estimator(search, x="bytes", ax=axes[1])
axes[1].set_ylabel("")
figure.suptitle("Digits: cross-validated error of small machines, and of the full SVM")
plt.show()
