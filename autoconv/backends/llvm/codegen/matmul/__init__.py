"""Lowerings of matrix products: by tiles in vector registers, by BLAS, or by loops for integers."""
