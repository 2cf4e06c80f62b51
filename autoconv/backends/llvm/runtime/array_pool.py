"""Memory pool of large arrays: freed blocks are kept for the next array of the same size.

The C library returns large blocks to the system when they are freed, and each page of a new block costs a page fault.
For a softmax of a megabyte, that takes several times as long as the arithmetic. Native code therefore allocates large
arrays by its own memory handler (NEP 49). It keeps up to 64 MB of freed blocks and evicts the oldest first. NumPy frees
an array by the handler that allocated it, under the GIL. Blocks come from the C library, aligned to 64 bytes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.runtime.llvm_text import read

MIN_POOLED_BYTES, MAX_POOLED_BYTES = 1 << 16, 1 << 25  # range of the sizes of arrays that the pool allocates
_MAX_KEPT_BYTES, _MAX_KEPT_BLOCKS = 1 << 26, 32  # most bytes, and most freed blocks, that the pool keeps
_CAPSULE_NAME = b"mem_handler"  # the capsule keeps a pointer to these bytes

FUNCTIONS = [f"autoconv_pool_{name}" for name in ("malloc", "calloc", "realloc", "free")]


@functools.cache
def text() -> str:
    """Return the LLVM text of the pool's functions."""
    return read(
        "array_pool", BLOCKS=_MAX_KEPT_BLOCKS, SMALLEST=MIN_POOLED_BYTES, LARGEST=MAX_POOLED_BYTES,
        KEPT_BYTES=_MAX_KEPT_BYTES,
    )


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )  # fmt: skip


def new_capsule(functions: Sequence[int], code: Any) -> Any:
    """Return the capsule for PyDataMem_SetHandler, given the addresses of FUNCTIONS, which belong to the object `code`.

    Capsule and code are never freed, as arrays may outlive everything else.
    """
    handler = _Handler(b"autoconv", 1, None, *functions)
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = make_capsule(ctypes.addressof(handler), _CAPSULE_NAME, None)
    for object_ in (handler, capsule, code):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(object_))
    return capsule
