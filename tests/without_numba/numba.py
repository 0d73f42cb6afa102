"""In front of the path, this hides numba, as if it were not installed."""

raise ImportError("hidden, to test kernelet without numba")
