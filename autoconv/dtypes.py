"""Element types by name."""

from __future__ import annotations

from types import SimpleNamespace

from autoconv.api.tensors.casts import cast, saturate_cast
from autoconv.api.tensors.maths import complex
from autoconv.graph.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

bool = bool_
double, half = float64, float16
experimental = SimpleNamespace(float8_e4m3fn=float8_e4m3fn, float8_e5m2=float8_e5m2)  # where TensorFlow has them

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "cast", "complex", "complex128", "complex64", "double", "float16",
    "float32", "float64", "half", "int16", "int32", "int64", "int8", "qint16", "qint32", "qint8", "quint16", "quint8",
    "resource", "saturate_cast", "string", "uint16", "uint32", "uint64", "uint8", "variant",
]  # fmt: skip

_wrap_public_functions(globals())
