"""NumPy's functions on tensors with NumPy 2's semantics: dtypes by NEP 50, and every argument of NumPy.

One table gives for each function its implementation by ops, with one file for each family;
`runtime/recording/numpy_protocol.py` holds the table, which serves both NumPy's dispatch (`__array_ufunc__`,
`__array_function__`) and calls in converted code.
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

__all__ = [
    "mutation",
    "comparisons",
    "creation",
    "diagonals",
    "generators",
    "histograms",
    "joining",
    "linalg",
    "nans",
    "order_statistics",
    "products",
    "reductions",
    "repetition",
    "scans",
    "selection",
    "shapes",
    "statistics",
    "transforms",
    "ufuncs",
]
