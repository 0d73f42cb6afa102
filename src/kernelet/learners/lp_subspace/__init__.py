"""The linear programming SVM in a Gram subspace."""
