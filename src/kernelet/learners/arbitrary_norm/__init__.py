"""Machines with any norm of their coefficients (Huang et al. 2009)."""
