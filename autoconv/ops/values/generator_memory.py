"""Offsets in memory of the states of random generators, for native code and for copies of the states."""

from __future__ import annotations

import ctypes
import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

_HEADER_SIZE = object.__basicsize__  # bytes of an object before its fields
_TWISTER_SIZE = 2500  # bytes of the state of a Mersenne Twister: 624 words and a position
_NORMAL_SIZE = 24  # bytes of the state of normal numbers


@functools.cache
def memory_offsets(class_: type) -> tuple[int, int] | None:
    """Return the offsets in bytes of two parts of a generator: its interface, and its state of normal numbers.

    The interface is NumPy's `bitgen_t`: the address of the state, and functions that draw bits. The result is None if
    the parts are not found. The second offset is 0 for generators without a state of normal numbers. For Python's own
    generators, the first offset is that of the position in the state.
    """
    if class_ is random.Random:
        return _python_offsets()
    generator: Any = np.random.default_rng(0) if class_ is np.random.Generator else np.random.RandomState(0)
    interface = (generator.bit_generator if class_ is np.random.Generator else generator._bit_generator).ctypes
    functions = (interface.next_uint64, interface.next_uint32, interface.next_double)
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    interface_words = [interface.state_address, *addresses]
    words = list((ctypes.c_void_p * (generator.__sizeof__() // 8)).from_address(id(generator)))
    offsets = [8 * i for i in range(len(words)) if words[i : i + len(interface_words)] == interface_words]
    if len(offsets) != 1:
        return None
    (interface_offset,) = offsets
    if class_ is np.random.Generator:
        return interface_offset, 0
    # The state of normal numbers begins with a pointer to the interface.
    normal_offsets = [8 * i for i in range(len(words)) if words[i] == id(generator) + interface_offset]
    return (interface_offset, normal_offsets[0]) if len(normal_offsets) == 1 else None


def _python_offsets() -> tuple[int, int] | None:
    """Return `memory_offsets` of random.Random; None if its position is not where CPython has it, before the words."""
    generator = random.Random(0)
    *words, position = generator.getstate()[1]
    fields = (ctypes.c_uint32 * (1 + len(words))).from_address(id(generator) + _HEADER_SIZE)
    return (_HEADER_SIZE, 0) if list(fields) == [position, *words] else None


def copy_state(generator: Any) -> Callable[[], None] | None:
    """Return a function that restores the current state of a Mersenne Twister; None for other generators.

    The bytes are copied: an access to the state by its methods takes a hundred times as long.
    """
    class_: Any = type(generator)
    offsets = memory_offsets(class_)
    if offsets is None or class_ is np.random.Generator:
        return None
    if class_ is random.Random:
        next_normal = generator.gauss_next
        restore = _copy_memory(id(generator) + offsets[0], _TWISTER_SIZE)

        def restore_with_normal() -> None:
            restore()
            generator.gauss_next = next_normal

        return restore_with_normal
    if type(generator._bit_generator) is not np.random.MT19937:
        return None
    _, normal_offset = offsets
    restore_bits = _copy_memory(generator._bit_generator.ctypes.state_address, _TWISTER_SIZE)
    restore_normal = _copy_memory(id(generator) + normal_offset, _NORMAL_SIZE)

    def restore_both() -> None:
        restore_bits()
        restore_normal()

    return restore_both


def _copy_memory(address: int, size: int) -> Callable[[], Any]:
    """Copy memory, and return a function that writes the copy back."""
    return functools.partial(ctypes.memmove, address, ctypes.string_at(address, size), size)
