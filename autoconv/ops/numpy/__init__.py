"""Ops of NumPy's arrays in memory, of its methods and functions, and of its generators."""
