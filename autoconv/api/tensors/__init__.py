"""Functions that make, move, select, reduce and convert the elements of tensors."""
