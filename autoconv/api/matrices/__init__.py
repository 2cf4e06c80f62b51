"""Products, factors, solutions and functions of matrices, their bands and diagonals."""
