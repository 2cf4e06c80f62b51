"""Measurements of random programs, in a process of their own."""
