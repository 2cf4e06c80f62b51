"""Functions that make, move, select, reduce, compute and convert the elements of tensors."""
