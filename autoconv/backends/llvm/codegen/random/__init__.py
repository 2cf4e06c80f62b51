"""Lowerings of random numbers: the generators of this package and those of NumPy."""
