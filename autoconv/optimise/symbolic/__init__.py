"""Symbolic sizes: rules by which sizes and numbers of a graph follow from the sizes of its arguments."""
