"""Lowerings of operations on Python objects, and the record of the objects that they write."""
