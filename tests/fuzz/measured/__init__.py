"""Measurements of random programs in a separate process."""
