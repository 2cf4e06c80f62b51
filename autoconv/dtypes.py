"""Element types by name."""

from __future__ import annotations

from autoconv.api.tensors.casts import cast, saturate_cast
from autoconv.graph.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)

bool = bool_
double, half = float64, float16

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "cast", "complex64", "complex128", "double", "float16",
    "float32", "float64", "half", "int8", "int16", "int32", "int64", "saturate_cast", "string", "uint8",
    "uint16", "uint32", "uint64",
]  # fmt: skip
