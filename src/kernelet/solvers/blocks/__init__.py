"""Hinge problems over rows that are read in blocks."""
