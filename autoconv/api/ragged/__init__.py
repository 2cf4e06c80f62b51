"""Ragged tensors and their functions."""
