"""Ops of Python's objects, exceptions and output, and the log that undoes their changes."""
