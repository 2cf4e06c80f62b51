"""LLVM's spelling of dtypes and of their constants."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bfloat16, float16, float64

_REGISTERS = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64", "float32": "float", "float64": "double",
    "float16": "float", "bfloat16": "float",
}  # fmt: skip
# Types in memory that differ from the type in a register. Registers hold only the parts of complex numbers.
_MEMORY = {
    "bool": "i8", "float16": "half", "bfloat16": "i16", "complex64": "{ float, float }",
    "complex128": "{ double, double }",
}  # fmt: skip


def is_native(dtype: DType) -> bool:
    """Return whether a number of that dtype fits a register."""
    return dtype.name in _REGISTERS and (dtype is not float16 or current_target().has_half_conversions)


def is_narrow(dtype: DType) -> bool:
    """Return whether numbers of the dtype are held in registers as float32, restricted to the dtype's values."""
    return dtype is float16 or dtype is bfloat16


def register(dtype: DType) -> str:
    """Return LLVM's type of a number in a register."""
    return _REGISTERS[dtype.name]


def memory_type(dtype: DType) -> str:
    """Return LLVM's type of a number in memory."""
    return _MEMORY.get(dtype.name) or _REGISTERS[dtype.name]


def literal(number: Any, dtype: DType) -> str:
    """Return a number as an LLVM constant of that dtype."""
    if dtype.is_bool:
        return "true" if number else "false"
    if dtype.is_floating:
        float_value = float(number) if dtype is float64 else float(np.asarray(number).astype(dtype.numpy))
        return f"0x{struct.unpack('<Q', struct.pack('<d', float_value))[0]:016X}"
    number, bits = int(number), dtype.size * 8
    return str(number - (1 << bits) if number >= 1 << (bits - 1) else number)
