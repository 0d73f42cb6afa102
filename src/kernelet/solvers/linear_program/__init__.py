"""Hinge loss with a 1-norm or an infinity norm: linear programs."""
