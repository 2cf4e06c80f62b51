"""Memory pool of large arrays: freed blocks are kept for the next array of the same size.

The C library returns large blocks to the system when they are freed, and each page of a new one costs a fault. For a
softmax of a megabyte that takes several times as long as the arithmetic. Native code therefore allocates large arrays
with a memory handler of its own (NEP 49). It keeps up to 64 MB of freed blocks and evicts the oldest first. NumPy
frees an array by the handler that allocated it, under the GIL. Blocks come from the C library, aligned to 64 bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

SMALLEST, LARGEST = 1 << 16, 1 << 25  # sizes in bytes of the arrays that the pool allocates
_MOST = 1 << 26  # bytes of freed blocks that are kept
_BLOCKS = 32
_NAME = b"mem_handler"  # the capsule keeps a pointer to these bytes

FUNCTIONS = [f"autoconv_pool_{name}" for name in ("malloc", "calloc", "realloc", "free")]
TEXT = f"""
%block = type {{ ptr, i64 }}
@blocks = internal global [{_BLOCKS} x %block] zeroinitializer
@oldest = internal global i64 0
@held = internal global i64 0
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @autoconv_pool_calloc(ptr %context, i64 %count, i64 %size) nounwind {{
  %made = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %made
}}

define ptr @autoconv_pool_realloc(ptr %context, ptr %block, i64 %size) nounwind {{
  %made = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %made
}}

define ptr @autoconv_pool_malloc(ptr %context, i64 %size) nounwind {{
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %at = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %i
  %kept = load ptr, ptr %at
  %there = icmp ne ptr %kept, null
  %size_at = getelementptr %block, ptr %at, i64 0, i32 1
  %own = load i64, ptr %size_at
  %same = icmp eq i64 %own, %size
  %fits = and i1 %there, %same
  br i1 %fits, label %take, label %other
other:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {_BLOCKS}
  br i1 %more, label %look, label %make
take:
  store ptr null, ptr %at
  store i64 0, ptr %size_at
  %held = load i64, ptr @held
  %left = sub i64 %held, %size
  store i64 %left, ptr @held
  ret ptr %kept
make:
  %more_than = add i64 %size, 63
  %whole = and i64 %more_than, -64
  %made = call ptr @aligned_alloc(i64 64, i64 %whole)
  ret ptr %made
}}

define void @autoconv_pool_free(ptr %context, ptr %block, i64 %size) nounwind {{
entry:
  %large = icmp uge i64 %size, {SMALLEST}
  %fits = icmp ule i64 %size, {LARGEST}
  %keeps = and i1 %large, %fits
  br i1 %keeps, label %evict, label %drop
evict:
  %i = load i64, ptr @oldest
  %at = getelementptr [{_BLOCKS} x %block], ptr @blocks, i64 0, i64 %i
  %size_at = getelementptr %block, ptr %at, i64 0, i32 1
  %old = load ptr, ptr %at
  %own = load i64, ptr %size_at
  call void @free(ptr %old)
  store ptr null, ptr %at
  store i64 0, ptr %size_at
  %held = load i64, ptr @held
  %left = sub i64 %held, %own
  store i64 %left, ptr @held
  %after = add i64 %i, 1
  %next = urem i64 %after, {_BLOCKS}
  store i64 %next, ptr @oldest
  %total = add i64 %left, %size
  %over = icmp ugt i64 %total, {_MOST}
  br i1 %over, label %evict, label %put
put:
  store ptr %block, ptr %at
  store i64 %size, ptr %size_at
  store i64 %total, ptr @held
  ret void
drop:
  call void @free(ptr %block)
  ret void
}}
"""


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )  # fmt: skip


def capsule(functions: Sequence[int], code: Any) -> Any:
    """Return the capsule for PyDataMem_SetHandler, given the addresses of FUNCTIONS in `code`.

    Capsule and code are never freed, as arrays may outlive everything else.
    """
    made = _Handler(b"autoconv", 1, None, *functions)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    found = new(ctypes.addressof(made), _NAME, None)
    for item in (made, found, code):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
    return found
