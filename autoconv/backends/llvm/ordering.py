"""Floats as integers of the same order: the best of many is then found by one instruction, with no look at nan."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.graph.dtypes import DType, float32, float64, int32, int64

_INTEGER = {float32: int32, float64: int64}


def key_dtype(dtype: DType) -> DType:
    """Of the keys of numbers of that dtype: integers are their own."""
    return _INTEGER.get(dtype, dtype)


def key(b: ElementWriter, x: Element, kind: str) -> Element:
    """The key of a number, for a search for the "max" or the "min", where nan is what counts as best."""
    if not x.dtype.is_floating:
        return x
    dtype = key_dtype(x.dtype)
    bits = b.bitcast(x, dtype)
    # The bits of a negative float count down as the integer that they are counts up.
    ordered = bits ^ (b.bits("ashr", bits, dtype.size * 8 - 1) & dtype.max)
    return b.select(b.is_nan(x), dtype.max if kind == "max" else dtype.min, ordered)


def worst(dtype: DType, kind: str) -> Any:
    """The key that every other one is as good as."""
    if dtype.is_floating:  # that of an infinity
        infinity = {4: 0x7F800000, 8: 0x7FF0000000000000}[dtype.size]
        return -infinity - 1 if kind == "max" else infinity
    return dtype.min if kind == "max" else dtype.max


def better(b: ElementWriter, x: Element, y: Element, kind: str) -> Element:
    """The better one of two keys."""
    return b.intrinsic(("u" if x.dtype.is_unsigned or x.dtype.is_bool else "s") + kind, x, y)
