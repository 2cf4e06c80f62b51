"""Runtime functions for references, new arrays and calls into Python, which all native code shares.

They are compiled once in a process (see library.py), not for each graph.
"""

from __future__ import annotations

import functools
import sys

from autoconv.backends.call_form import MIN_STRIDED_BYTES
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.array_pool import MAX_POOLED_BYTES, MIN_POOLED_BYTES
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.llvm.target import abi

# Name -> (type of the result, types of the parameters).
SIGNATURES = {
    "retain": ("void", "ptr"),
    "release": ("void", "ptr"),
    "release_all": ("void", "ptr, i64"),
    "new_array": ("ptr", "i32, ptr, ptr"),
    "new_large_array": ("ptr", "i32, ptr, ptr, ptr"),
    "new_sized_array": ("ptr", "i32, ptr, ptr, ptr, i64"),
    "is_open_array": ("i1", "ptr, ptr, ptr, i64, ptr"),
    "new_view": ("ptr", "ptr, ptr, i32, ptr, ptr, ptr, ptr, i32"),
    "contiguous_copy": ("ptr", "ptr, ptr, ptr, i64, i64"),
    "is_column_major": ("i1", "ptr, ptr"),
    "transposed_view": ("ptr", "ptr, ptr, ptr, i64"),
    "transpose_in_place": ("void", "ptr"),
    "is_contiguous_array": ("i1", "ptr, ptr, ptr, i64, ptr"),
    "array_attribute": ("ptr", "ptr, ptr, ptr, ptr, i64, ptr, ptr"),
    "set_attribute": ("ptr", "ptr, ptr, ptr, ptr"),
    "is_memory": ("i1", "ptr, ptr, ptr, i64, ptr, ptr"),
    "keep_spare": ("void", "ptr, ptr, i64"),
    "spare_array": ("ptr", "ptr, i64"),
    "keep_spare_vector": ("void", "ptr, ptr, i64, i64"),
    "spare_vector": ("ptr", "ptr, i64, i64"),
    "restore_arrays": ("void", "ptr, ptr, i64"),
    "pause": ("i1", ""),
    "resize": ("i1", "ptr, i64"),
    "grow_bytes": ("i1", "ptr, i64"),
    "call_python": ("ptr", "ptr, ptr, i64"),
    "stack_floor": ("i64", ""),
}  # fmt: skip


def declare_shared(module: ModuleText) -> None:
    """Declare the shared functions in a module, and define those that each module inlines."""
    for name, (result, parameters) in SIGNATURES.items():
        module.declare(name, result, parameters, "memory(inaccessiblemem: readwrite)" if name == "pause" else "")
    module.constant("is_alone", _is_alone_text(), "i1", ("ptr",))


@functools.cache
def _is_alone_text() -> str:
    return f"\n{read('is_alone', BASE=abi.BASE)}"


@functools.cache
def text(has_stack_floor: bool = sys.platform == "linux", has_float_flags: bool = True) -> str:
    """Return the text of the functions.

    Without a stack floor, calls into Python may exhaust the caller's stack. If `has_float_flags`, calls into Python
    keep the flags of floating-point errors, which NumPy's functions would clear.
    """
    functions = read(
        "references", WRITABLE=abi.WRITABLE_FLAGS, ANY_NUMBER=abi.ANY_NUMBER, FLAGS=abi.FLAGS, OWNED=abi.OWNED_FLAGS,
        PLAIN=abi.PLAIN_FLAGS, ORDERS=abi.ORDER_FLAGS, BY_COLUMNS=abi.COLUMN_FLAGS, DATA=abi.DATA,
        TYPE=abi.TYPE_OFFSET, RANK=abi.RANK, BYTE_COUNT=abi.BYTE_COUNT, STRIDES=abi.STRIDES,
        DESCRIPTOR=abi.DESCRIPTOR, DIMENSIONS=abi.DIMENSIONS, SMALLEST=MIN_POOLED_BYTES, LARGEST=MAX_POOLED_BYTES,
        CONTIGUOUS=abi.CONTIGUOUS_FLAGS, MIN_STRIDED_BYTES=MIN_STRIDED_BYTES,
    )  # fmt: skip
    stack = read("stack_floor" if has_stack_floor else "no_stack_floor")
    flags = float_flags.text() if has_float_flags else float_flags.no_flags_text()
    return f"{_is_alone_text()}\n{functions}\n{stack}\n{flags}\n"
