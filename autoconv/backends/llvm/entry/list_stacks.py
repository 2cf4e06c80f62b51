"""Conversions of stacks from and to the caller's lists (see analysis/list_stacks.py).

A list argument becomes a header that points to the elements of the caller's list. These are never written, since a push
allocates a new buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.list_stacks import HEADER_BYTES
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.values import Object
from autoconv.graph.graph import Value
from autoconv.ops.values.list_value import ListValue
from autoconv.ops.values.packed_list import PackedList, rows_of


def write_stack_of_list(body: Body, argument: str, value: Value) -> Object:
    """Write the conversion of a list to a stack; return the stack, which a new slot owns."""
    element: Any = value.type.element  # type: ignore[union-attr]
    dtype, shape = element.dtype.numpy, sizes(element)
    return body.own_reference(body.call_python(lambda list_: _borrowed_stack(list_, dtype, shape), argument))


def write_list_of_stack(body: Body, stack: Object, value: Value) -> Object:
    """Write the conversion of a stack to a list; the reference to the stack is released."""
    element: Any = value.type.element  # type: ignore[union-attr]
    dtype, shape, weak = element.dtype.numpy, sizes(element), element.weak
    reference = body.own_reference(stack.ir)
    list_ = body.call_python(lambda array: _result_list(array, dtype, shape, weak), stack.ir)
    body.release(reference.slot)
    return Object(list_)


class _BorrowedStack(np.ndarray):
    """The header of a stack with borrowed elements, which `rows` keeps alive."""

    rows: np.ndarray


def _borrowed_stack(list_: ListValue, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Return a stack whose elements are the rows of a list's array."""
    rows = rows_of(list_, dtype, shape)
    # Length, capacity, address of the elements, padding. The capacity of 0 makes a push allocate a buffer.
    header = np.array([len(rows), 0, rows.ctypes.data, 0], np.int64).view(_BorrowedStack)
    header.rows = rows
    return header


def _result_list(stack: np.ndarray, dtype: np.dtype[Any], shape: tuple[int, ...], weak: bool) -> ListValue:
    """Return the list of a stack's elements."""
    if isinstance(stack, _BorrowedStack):
        rows = stack.rows[: stack[0]]
    else:
        length = int(stack[:HEADER_BYTES].view(np.int64)[0])
        row_bytes = dtype.itemsize * int(np.prod(shape))
        rows = stack[HEADER_BYTES : HEADER_BYTES + length * row_bytes].view(dtype).reshape(length, *shape)
    return PackedList(rows, weak)
