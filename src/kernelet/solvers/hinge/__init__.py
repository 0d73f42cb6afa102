"""Hinge and interval losses with a ridge or a 2-norm."""
