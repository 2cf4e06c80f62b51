"""StableHLO's text for dtypes, for types of arrays, and for constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType

_ELEMENT_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16",
    "uint32": "ui32", "uint64": "ui64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}  # fmt: skip
# NumPy's unsigned dtypes as which the bits of floats are read.
_BITS_DTYPES = {"float16": "<u2", "bfloat16": "<u2", "float32": "<u4", "float64": "<u8"}


def element_type(dtype: DType) -> str:
    """Return the text of a dtype; raises GraphUnfit for text and objects."""
    name = _ELEMENT_TYPES.get(dtype.name)
    if name is None:
        raise GraphUnfit(dtype.name, "StableHLO has no such element type")
    return name


def tensor_type(dtype: DType, shape: Sequence[Any]) -> str:
    """Return the text of a type; an open size is `?`."""
    sizes = "".join(f"{size}x" if isinstance(size, int) else "?x" for size in shape)
    return f"tensor<{sizes}{element_type(dtype)}>"


def literal(array: np.ndarray, dtype: DType) -> str:
    """Return the text of a constant: its elements, floats as their bits, and its type."""
    type_text = tensor_type(dtype, array.shape)
    if array.size == 0:
        return f"dense<> : {type_text}"
    first = array.reshape(-1)[:1]
    if array.tobytes() == first.tobytes() * array.size:  # equal bits: 0.0 and -0.0 are different elements
        return f"dense<{_number_text(first[0], dtype)}> : {type_text}"
    return f"dense<{_nested_text(array, dtype)}> : {type_text}"


def _nested_text(array: np.ndarray, dtype: DType) -> str:
    if array.ndim == 0:
        return _number_text(array[()], dtype)
    return f"[{', '.join(_nested_text(np.asarray(part), dtype) for part in array)}]"


def _number_text(number: Any, dtype: DType) -> str:
    """Return the text of a number; floats are written by their bits."""
    if dtype.is_bool:
        return "true" if number else "false"
    if dtype.is_complex:
        real_dtype = dtype.real_dtype
        real, imag = np.real(number).astype(real_dtype.numpy), np.imag(number).astype(real_dtype.numpy)
        return f"({_number_text(real, real_dtype)}, {_number_text(imag, real_dtype)})"
    if dtype.is_floating:
        bits = np.asarray(number, dtype.numpy).view(_BITS_DTYPES[dtype.name])
        return f"0x{int(bits):0{2 * dtype.size}X}"
    return str(int(number))
