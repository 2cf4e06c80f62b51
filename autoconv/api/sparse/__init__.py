"""Sparse tensors and their functions."""
