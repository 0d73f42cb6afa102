"""Fewer vectors for models that are trained already."""
