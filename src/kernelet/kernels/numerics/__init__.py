"""Numerics that kernels are made of: arrays and blocks of rows, products, distances."""
