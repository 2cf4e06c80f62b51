"""Lowerings of lists: stacks that only grow and shrink at their end, and typed lists of numbers."""
