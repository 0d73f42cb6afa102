"""Measuring: data sets, methods, the papers' tables, and the runner that compares ours with theirs.

Run from the root of the repository with ``python -m benchmarks``; not part of the wheel.
"""
