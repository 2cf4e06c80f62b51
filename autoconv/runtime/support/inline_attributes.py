"""Attributes of an object, read without creating its `__dict__`.

Up to Python 3.12, the attributes of an object lie in an array in the order of names that its class keeps. The first
read of `__dict__` moves them into a dict for good, and later reads of an attribute take twice as long. From 3.13 on
the dict refers to the array, and reads stay fast. The layouts below are those of CPython 3.11 and 3.12; if a probe
finds another one, each function answers as for an object that has its dict.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_MANAGED_DICT = 1 << 4  # Py_TPFLAGS_MANAGED_DICT: the words of the array and of the dict lie before the object
_WORD = 8
_IS_TAGGED = sys.version_info >= (3, 12)  # one word for both: the array's address less one, or the dict's address
_ARRAY_OFFSET = -3 * _WORD if _IS_TAGGED else -4 * _WORD
_KEYS_OFFSET_IN_DICT, _LOG2_INDEX_BYTES_OFFSET, _INDICES_OFFSET = 32, 9, 32  # of PyDictObject and PyDictKeysObject
_flags_of: Any = type.__dict__["__flags__"].__get__  # a metaclass of the program may compute `__flags__` itself


def has_inline_attributes(value: object) -> bool:
    """Return whether the object keeps its attributes in an array, and has no `__dict__` yet."""
    return _array_address(value) != 0


def inline_attributes(value: object) -> dict[str, Any] | None:
    """Return the attributes in the order of their assignment; None if the object has a `__dict__`, or can have none."""
    address = _array_address(value)
    if not address:
        return None
    # Before the array lie, from its address down, the count of attributes and their positions in order of assignment.
    count = ctypes.c_ubyte.from_address(address - 2).value
    if not count:
        return {}
    positions = bytes((ctypes.c_ubyte * count).from_address(address - 2 - count))[::-1]
    size = max(positions) + 1
    values = (ctypes.py_object * size).from_address(address)
    keys = ctypes.c_void_p.from_address(id(type(value)) + _keys_offset).value
    assert keys is not None
    log2_index_bytes = ctypes.c_ubyte.from_address(keys + _LOG2_INDEX_BYTES_OFFSET).value
    entries: Any = (ctypes.py_object * (2 * size)).from_address(keys + _INDICES_OFFSET + (1 << log2_index_bytes))
    return {entries[2 * position]: values[position] for position in positions}


def _array_address(value: object) -> int:
    """Return the address of the array of attributes; 0 if there is none."""
    if not (_keys_offset and _flags_of(type(value)) & _MANAGED_DICT):
        return 0
    word = ctypes.c_size_t.from_address(id(value) + _ARRAY_OFFSET).value
    return (word + 1 if word & 1 else 0) if _IS_TAGGED else word


def _find_keys_offset() -> int:
    """Return the offset, in a class, of the names of its objects' attributes; 0 if the layout is another one."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 13):
        return 0

    class Probe:
        """A class whose instances have their attributes in line."""

    probe = Probe()
    if not _flags_of(Probe) & _MANAGED_DICT:
        return 0
    keys = ctypes.c_size_t.from_address(id(probe.__dict__) + _KEYS_OFFSET_IN_DICT).value
    class_type: Any = type
    words = list((ctypes.c_size_t * (class_type.__basicsize__ // _WORD)).from_address(id(Probe)))
    return _WORD * words.index(keys) if keys in words else 0


_keys_offset = _find_keys_offset()
