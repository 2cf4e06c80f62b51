"""The Python array API standard, version 2023.12, over tensors: at once and in graphs that are being traced.

Where the standard leaves a choice it is NumPy 2's. Tensors cannot be changed: there is no `x[i] = value`, and nothing
is written to `out`. Operators between tensors of two dtypes raise, as tensors do; `xp.add` and the others promote.
"""

import math as _math
import sys as _sys
from typing import Any

from autoconv.graph.dtypes import (
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from autoconv.numpy.standard import Info, standard_functions
from autoconv.runtime.tensor import namespace_by
from autoconv.xp import fft, linalg

__array_api_version__ = "2023.12"

e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
bool = bool_

_FUNCTIONS = [
    # elements
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos",
    "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag",
    "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "not_equal", "positive",
    "pow", "real", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
    "trunc",
    # made of nothing, or of other values
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
    # dtypes
    "astype", "broadcast_arrays", "broadcast_to", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
    # products
    "matmul", "matrix_transpose", "tensordot", "vecdot",
    # shapes
    "concat", "expand_dims", "flip", "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack",
    "tile", "unstack",
    # looking up, sets, order
    "argmax", "argmin", "nonzero", "searchsorted", "take", "where", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "argsort", "sort",
    # reductions
    "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var", "all", "any",
]  # fmt: skip

globals().update(standard_functions("", _FUNCTIONS))


def __array_namespace_info__() -> Any:
    """What the namespace can do: dtypes, devices, capabilities."""
    return Info()


__all__ = [
    *_FUNCTIONS, "__array_api_version__", "__array_namespace_info__", "bool", "complex128", "complex64", "e", "fft",
    "float32", "float64", "inf", "int16", "int32", "int64", "int8", "linalg", "nan", "newaxis", "pi", "uint16",
    "uint32", "uint64", "uint8",
]  # fmt: skip

namespace_by(lambda: _sys.modules[__name__])
