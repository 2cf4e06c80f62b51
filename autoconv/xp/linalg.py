"""The extension `linalg` of the Python array API standard."""

from autoconv.numpy.standard import standard_functions

_NAMES = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip

globals().update(standard_functions("linalg.", _NAMES))

__all__ = [*_NAMES]
