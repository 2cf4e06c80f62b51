"""Ops of tensor lists, and of typed lists, which replace Python lists of numbers."""
