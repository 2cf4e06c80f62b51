"""The Python array API standard, version 2024.12, over tensors: eagerly and in graphs being traced.

Choices that the standard leaves open follow NumPy 2. Tensors are immutable: there is no `x[i] = value`, and `x += y`
binds the name to another tensor. Operators between tensors of two dtypes raise, as everywhere in this package; `xp.add`
and the other functions promote. A tensor without elements is false, as in TensorFlow.
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
from autoconv.numpy.standard import wrap_for_users as _wrap_for_users
from autoconv.runtime.tensors.tensor import register_namespace
from autoconv.xp import creation as _creation
from autoconv.xp import dtypes as _dtypes
from autoconv.xp import elements as _elements
from autoconv.xp import fft, linalg
from autoconv.xp import manipulation as _manipulation
from autoconv.xp import reductions as _reductions

__array_api_version__ = "2024.12"

e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
bool = bool_

_FAMILIES = (_creation, _dtypes, _reductions, _manipulation)
_FUNCTIONS = {name: getattr(family, name) for family in _FAMILIES for name in family.__all__} | _elements.FUNCTIONS
_FUNCTIONS = {name: _wrap_for_users(function, name) for name, function in _FUNCTIONS.items()}
globals().update(_FUNCTIONS)


def __array_namespace_info__() -> Any:
    """Information about the namespace: dtypes, devices, capabilities."""
    return _dtypes.Info()


__all__ = [
    *sorted(_FUNCTIONS), "__array_api_version__", "__array_namespace_info__", "bool", "complex128", "complex64", "e",
    "fft", "float32", "float64", "inf", "int16", "int32", "int64", "int8", "linalg", "nan", "newaxis", "pi", "uint16",
    "uint32", "uint64", "uint8",
]  # fmt: skip

register_namespace(lambda: _sys.modules[__name__])
