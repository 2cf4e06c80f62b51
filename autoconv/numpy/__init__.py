"""NumPy's functions on tensors with NumPy 2's semantics: dtypes by NEP 50, and every argument of NumPy.

One table maps each function to its implementation by ops; each family of functions has a file. The table is in
`runtime/recording/numpy_protocol.py`, and serves NumPy's dispatch (`__array_ufunc__`, `__array_function__`) as well as
calls in converted code.
"""

from autoconv.numpy import (
    comparisons,
    creation,
    diagonals,
    generators,
    histograms,
    joining,
    linalg,
    mutation,
    nans,
    order_statistics,
    polynomials,
    products,
    reductions,
    repetition,
    scans,
    selection,
    shapes,
    statistics,
    transforms,
    ufuncs,
)
