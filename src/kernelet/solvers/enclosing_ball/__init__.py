"""Minimum enclosing balls in a feature space, by core sets."""
