"""Tensors, conversion of values to them, dispatch of ops, operators."""
