"""Sort keys: unsigned integers with the order of the numbers that they stand for; nan is the last."""

from __future__ import annotations

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import DType, uint8, uint16, uint32, uint64

_UNSIGNED = {1: uint8, 2: uint16, 4: uint32, 8: uint64}


def key_dtype(dtype: DType) -> DType:
    """Return the dtype of the keys of numbers of `dtype`."""
    return _UNSIGNED[dtype.size]


def to_key(b: ElementWriter, x: Element, is_descending: bool, zeros_are_equal: bool) -> Element:
    """Return the key of a number, in reverse order if `is_descending`; -0.0 precedes 0.0 unless `zeros_are_equal`."""
    dtype = key_dtype(x.dtype)
    sign_bit = 1 << dtype.size * 8 - 1
    if x.dtype.is_floating:
        if zeros_are_equal:
            x = x + 0.0
        bits = b.bitcast(x, dtype)
        # All bits of a negative number are inverted, and only the sign bit of other numbers.
        ordered_bits = b.bits("xor", bits, b.bits("or", b.bits("ashr", bits, dtype.size * 8 - 1), sign_bit))
        key = b.select(b.is_nan(x), b.constant(2 * sign_bit - 1, dtype), ordered_bits)
    elif x.dtype.is_bool or x.dtype.is_unsigned:
        key = b.cast(x, dtype)
    else:
        key = b.bits("xor", b.cast(x, dtype), sign_bit)
    return ~key if is_descending else key


def from_key(b: ElementWriter, key: Element, dtype: DType, is_descending: bool) -> Element:
    """Return the number that has a key: the inverse of `to_key`."""
    if is_descending:
        key = ~key
    sign_bit = 1 << key.dtype.size * 8 - 1
    if dtype.is_floating:
        mask = b.bits("or", b.bits("lshr", key, key.dtype.size * 8 - 1) - 1, sign_bit)
        return b.bitcast(b.bits("xor", key, mask), dtype)
    if dtype.is_bool or dtype.is_unsigned:
        return b.cast(key, dtype)
    return b.cast(b.bits("xor", key, sign_bit), dtype)
