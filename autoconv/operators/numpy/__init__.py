"""Calls of NumPy's functions in converted code."""
