"""Fits on rows that are elsewhere: time, memory and bytes against the number of rows."""
