"""Ops that compute each element of the result from the same element of their operands."""
