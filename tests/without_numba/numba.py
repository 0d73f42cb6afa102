"""In front of the path, this hides numba, as if it were not installed."""

raise ModuleNotFoundError("No module named 'numba': it is hidden for a test", name="numba")
