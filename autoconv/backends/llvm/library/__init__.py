"""Object files for C programs: an entry without Python, and code in place of CPython, NumPy, BLAS and LAPACK."""
