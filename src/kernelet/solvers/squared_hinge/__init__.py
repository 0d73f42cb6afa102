"""Squared hinge and squared interval losses with a ridge."""
