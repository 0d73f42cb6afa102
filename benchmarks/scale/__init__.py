"""Fits on out-of-core rows: time, memory and bytes against the number of rows."""
