"""Keys of floats: integers in the order of the floats, which one instruction compares, also where one is nan."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import DType, float32, float64, int32, int64

_KEY_DTYPES = {float32: int32, float64: int64}


def search_key_dtype(dtype: DType) -> DType:
    """Return the dtype of the keys of numbers of `dtype`; integers are their own keys."""
    return _KEY_DTYPES.get(dtype, dtype)


def search_key(b: ElementWriter, x: Element, kind: str) -> Element:
    """Return the key of a number for a search for the "max" or the "min", in which nan counts as best."""
    if not x.dtype.is_floating:
        return x
    dtype = search_key_dtype(x.dtype)
    bits = b.bitcast(x, dtype)
    # The bits of negative floats, read as integers, have the reverse order.
    ordered_bits = bits ^ (b.bits("ashr", bits, dtype.size * 8 - 1) & dtype.max)
    return b.select(b.is_nan(x), dtype.max if kind == "max" else dtype.min, ordered_bits)


def worst_key(dtype: DType, kind: str) -> Any:
    """Return the key with which a search begins: a lower bound of all keys for "max", an upper bound for "min"."""
    if dtype.is_floating:
        infinity_key = {4: 0x7F800000, 8: 0x7FF0000000000000}[dtype.size]
        return -infinity_key - 1 if kind == "max" else infinity_key  # the key of -inf or of inf
    return dtype.min if kind == "max" else dtype.max


def better_key(b: ElementWriter, x: Element, y: Element, kind: str) -> Element:
    """Return the greater of two keys for "max", the lesser for "min"."""
    return b.intrinsic(("u" if x.dtype.is_unsigned or x.dtype.is_bool else "s") + kind, x, y)
