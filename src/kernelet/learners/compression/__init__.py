"""Fewer vectors for models that are already trained."""
