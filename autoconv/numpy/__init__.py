"""NumPy's functions on tensors, as NumPy 2 means them: dtypes by NEP 50, every argument that NumPy has.

One table says for each function how it is computed by ops, a file a family; `runtime/numpy_protocol.py` holds it. It is
used alike where NumPy hands over a call (`__array_ufunc__`, `__array_function__`) and where converted code calls.
"""

from autoconv.numpy import (
    changing,
    creation,
    differences,
    generators,
    joining,
    linalg,
    nans,
    products,
    reductions,
    running,
    selection,
    shaping,
    statistics,
    transforms,
    ufuncs,
)

__all__ = [
    "changing",
    "creation",
    "differences",
    "generators",
    "joining",
    "linalg",
    "nans",
    "products",
    "reductions",
    "running",
    "selection",
    "shaping",
    "statistics",
    "transforms",
    "ufuncs",
]
