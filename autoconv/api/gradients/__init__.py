"""Gradients: tapes, forward accumulators, derivatives of functions and functions with their own gradients."""
