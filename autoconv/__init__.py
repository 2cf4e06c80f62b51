"""Turns ordinary Python into compiled, differentiable dataflow graphs."""

# ruff: noqa: E402
from autoconv._start import leave_current_folder

leave_current_folder()  # before anything third-party is imported
