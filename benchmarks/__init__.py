"""Measuring: data sets, methods, the papers' tables, and the runner that puts ours beside theirs.

Run from the root of the repository with ``python -m benchmarks``; not part of the wheel.
"""
