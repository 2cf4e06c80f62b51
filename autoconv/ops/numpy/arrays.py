"""Mutable arrays in memory, and views of them, with NumPy's meaning.

A value of an ArrayType refers to memory: `array_load` reads its elements as a tensor of their current values, and
`array_store` writes them. Loads and stores keep their program order. To a kernel the value is an ndarray.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.graph.dimensions import plus
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import ArrayType, Dimension, ObjectType, TensorType, Type, dense_strides, number_type
from autoconv.ops.index_spec import INPUT, At, Entry, NewAxis, Rest, Slice, Spec, align
from autoconv.ops.movement.indexing import indexed_shape
from autoconv.ops.movement.numpy_index import unchecked_numpy_index
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import diagonal_length, is_known_to_broadcast
from autoconv.ops.traits import Indexing

_NO_GRADIENT = no_gradient("an array was changed in place")


def array_type(array: np.ndarray, dtype: DType) -> ArrayType:
    """Return the type of an array, with all sizes and strides static."""
    return ArrayType(dtype, array.shape, array.strides)


# ---- views


def _view_type(x: ArrayType, *operands: TensorType, spec: Spec) -> ArrayType:
    """Return the type of a view, whose strides are in bytes, or None where they are unknown."""
    shape = indexed_shape(x.shape, operands, spec)
    assert shape is not None
    strides: list[int | None] = []
    for entry, axis in basic_entries(x.rank, spec):
        if isinstance(entry, NewAxis):
            strides.append(0)
        elif isinstance(entry, Slice):
            step, stride = 1 if entry.step is None else entry.step, x.strides[axis]
            strides.append(None if step == INPUT or stride is None else step * stride)
    return replace(x, shape=tuple(shape), strides=tuple(strides))


def basic_entries(rank: int, spec: Spec) -> list[tuple[Entry, int]]:
    """Return pairs of an entry of a basic index and the dimension that it indexes.

    Dimensions that the index omits have a slice that takes them whole.
    """
    result: list[tuple[Entry, int]] = []
    for entry, _, axis, width in align(spec, rank):
        if isinstance(entry, Rest):
            result += [(Slice(), axis + i) for i in range(width)]
        else:
            result.append((entry, axis))
    return result


def view_index(operands: Sequence[Any], spec: Spec) -> tuple[Any, ...]:
    """Return NumPy's index; it has an ellipsis, so that the result is a view even if it is a single element."""
    index = unchecked_numpy_index(spec, operands)
    return index if Ellipsis in index else (*index, Ellipsis)


def _view_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE if a single index may be out of range, or the step of a slice may be 0; else PURE."""
    x = types[0]
    assert isinstance(x, ArrayType)
    for entry, axis in basic_entries(x.rank, attributes["spec"]):
        if isinstance(entry, At) and (entry.index == INPUT or not isinstance(x.shape[axis], int)):
            return Effects.RAISE
        if isinstance(entry, Slice) and entry.step == INPUT:
            return Effects.RAISE
    return Effects.PURE


define(
    name="array_view", graphdef="ArrayView", result=_view_type, effects=_view_effects, gradient=_NO_GRADIENT,
    kernel=lambda x, *operands, spec: x[view_index(operands, spec)],
    view=True, op_on_tensors="get_item",
)  # fmt: skip


def _strided(
    x: np.ndarray, *, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], read_only: bool | str = False
) -> np.ndarray:
    """Return a view of `x` that starts `offset` bytes after its first element.

    `read_only` is True, or "overlaps" for a view that NumPy lets the program write, although its elements overlap.
    """
    view = np.asarray(_ArrayInterface(x, offset, shape, strides))
    if read_only:
        view.flags.writeable = False
    return view


class _ArrayInterface:
    """An array interface to the memory of an array, with another shape and strides."""

    def __init__(self, x: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        interface = x.__array_interface__
        address, is_read_only = interface["data"]
        changes = {"data": (address + offset, is_read_only), "shape": shape, "strides": strides}
        self.__array_interface__ = {**interface, **changes}
        self.owner = x  # keeps the memory alive


define(
    name="array_strided", graphdef="ArrayStrided", kernel=_strided, gradient=_NO_GRADIENT,
    result=lambda x, *, offset, shape, strides, read_only=False: replace(
        x, shape=shape, strides=strides, read_only=x.read_only or bool(read_only)
    ),
    view=True,
)  # fmt: skip
define(
    name="array_transpose", graphdef="ArrayTranspose", gradient=_NO_GRADIENT,
    result=lambda x, *, perm: replace(
        x, shape=tuple(x.shape[axis] for axis in perm), strides=tuple(x.strides[axis] for axis in perm)
    ),
    kernel=lambda x, *, perm: x.transpose(perm),
    view=True, op_on_tensors="transpose",
)  # fmt: skip


def _diagonal_type(x: ArrayType, *, offset: int) -> ArrayType:
    *outer_strides, row_stride, column_stride = x.strides
    stride = None if row_stride is None or column_stride is None else row_stride + column_stride
    shape = (*x.shape[:-2], diagonal_length(x.shape[-2], x.shape[-1], offset))
    return replace(x, shape=shape, strides=(*outer_strides, stride), read_only=True)


def _windows_type(x: ArrayType, *, axes: tuple[int, ...], lengths: tuple[int, ...]) -> ArrayType:
    """Return the type of a view of windows; elements of a window have the stride of the axis along which it slides."""
    shape = list(x.shape)
    for axis, length in zip(axes, lengths, strict=True):
        shape[axis] = plus(shape[axis], 1 - length)
    strides = (*x.strides, *(x.strides[axis] for axis in axes))
    return replace(x, shape=(*shape, *lengths), strides=strides, read_only=True)


define(
    name="array_windows", graphdef="ArrayWindows", result=_windows_type, gradient=_NO_GRADIENT,
    kernel=lambda x, *, axes, lengths: np.lib.stride_tricks.sliding_window_view(x, lengths, axes),
    view=True, op_on_tensors="sliding_windows",
)  # fmt: skip
define(
    name="array_diagonal", graphdef="ArrayDiagonal", result=_diagonal_type, gradient=_NO_GRADIENT,
    kernel=lambda x, *, offset: x.diagonal(offset, -2, -1),
    view=True, op_on_tensors="diag_part",
)  # fmt: skip
define(
    name="array_size", graphdef="ArraySize", gradient=_NO_GRADIENT, shape_only=(0,),
    result=lambda x, *, axis: number_type(int64), kernel=lambda x, *, axis: np.array(x.shape[axis]),
)  # fmt: skip


def _common_size(*sizes: Any) -> np.ndarray:
    """Return the broadcast size of one dimension of several operands."""
    sizes_other_than_one = {int(size) for size in sizes} - {1}
    if len(sizes_other_than_one) > 1:
        shapes = " ".join(f"({size},)" for size in sizes)
        raise ValueError(f"operands could not be broadcast together with shapes {shapes} ")
    return np.array(sizes_other_than_one.pop() if sizes_other_than_one else 1)


define(
    name="common_size", graphdef="CommonSize", gradient=_NO_GRADIENT, kernel=_common_size, effects=Effects.RAISE,
    result=lambda *_: number_type(int64),
    samples=(sample(np.array(3), np.array(1), np.array(3)),),
)  # fmt: skip


def _part_type(x: ArrayType, *, part_name: str) -> ArrayType:
    """Return the type of a view of one part of complex elements; `part_name` is "real" or "imag"."""
    return replace(x, dtype=x.dtype.real_dtype)


define(
    name="array_part", graphdef="ArrayPart", result=_part_type, gradient=_NO_GRADIENT,
    kernel=lambda x, *, part_name: getattr(x, part_name),
    view=True,
)  # fmt: skip


def _bits_type(x: ArrayType, *, dtype: DType) -> ArrayType:
    """Return the type of a view of the bytes as another dtype; the last dimension changes with the size of elements."""
    if x.dtype.size == dtype.size:
        return replace(x, dtype=dtype)
    size = x.shape[-1]
    has_contiguous_rows = x.strides[-1] == x.dtype.size
    if not has_contiguous_rows or not isinstance(size, int) or size * x.dtype.size % dtype.size:
        raise TypeError(f"view takes rows of a known size that lie in one piece, found {x}")
    shape = (*x.shape[:-1], size * x.dtype.size // dtype.size)
    return replace(x, dtype=dtype, shape=shape, strides=(*x.strides[:-1], dtype.size))


define(
    name="array_bits", graphdef="ArrayBits", result=_bits_type, gradient=_NO_GRADIENT,
    kernel=lambda x, *, dtype: x.view(dtype.numpy),
    view=True,
)  # fmt: skip

# ---- elements

define(
    name="array_load", graphdef="ArrayLoad", result=lambda x: TensorType(x.dtype, x.shape), kernel=np.array,
    gradient=_NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip


def _store_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    x, value = types[:2]
    assert isinstance(x, ArrayType) and isinstance(value, TensorType)
    return Effects.WRITE if is_known_to_broadcast(x.shape, value.shape) else Effects.WRITE | Effects.RAISE


def _store(x: np.ndarray, value: Any) -> tuple[()]:
    if x.dtype.kind in "iuf" and np.iscomplexobj(value):
        value = np.real(value)  # as NumPy does, but without its warning
    with np.errstate(all="ignore"):
        x[...] = value
    return ()


define(
    name="array_store", graphdef="ArrayStore", result=lambda *_: (), kernel=_store, gradient=_NO_GRADIENT,
    effects=_store_effects,
    stores_into=0,
)  # fmt: skip


def _set(x: np.ndarray, value: Any, *operands: Any, spec: Spec) -> tuple[()]:
    """Assign a value to the elements that an index selects, without NumPy's warnings of casts."""
    with np.errstate(all="ignore"):
        x[unchecked_numpy_index(spec, operands)] = value
    return ()


define(
    name="array_set", graphdef="ArraySet", result=lambda *_, spec: (), kernel=_set, gradient=_NO_GRADIENT,
    effects=Effects.WRITE | Effects.RAISE,
    stores_into=0, indexing=Indexing("items", 2),
)  # fmt: skip


# ---- allocation


def _new_type(*sizes: TensorType, shape: tuple[Any, ...], dtype: DType, fill: Any = None) -> ArrayType:
    """Return the type of a new array; an INPUT in `shape` stands for the next of the operands `sizes`."""
    static_shape = tuple(None if size == INPUT else size for size in shape)
    return ArrayType(dtype, static_shape, dense_strides(static_shape, dtype))


def _allocate(*sizes: Any, shape: tuple[Any, ...], dtype: DType, fill: Any = None) -> np.ndarray:
    """Allocate an array; if `fill` is None its elements are uninitialised."""
    remaining_sizes = iter(sizes)
    array_shape = tuple(int(next(remaining_sizes)) if size == INPUT else size for size in shape)
    return np.empty(array_shape, dtype.numpy) if fill is None else np.full(array_shape, fill, dtype.numpy)


define(
    name="array_new", graphdef="ArrayNew", result=_new_type, kernel=_allocate, gradient=_NO_GRADIENT,
    effects=lambda types, attributes: Effects.WRITE | Effects.RAISE if types else Effects.WRITE,
    allocates=True,
)  # fmt: skip


def _array_of_type(x: TensorType, *, read_only: bool = False) -> ArrayType:
    shape = _shape_of_known_rank(x.shape)
    return ArrayType(x.dtype, shape, dense_strides(shape, x.dtype), read_only=read_only)


def _array_of(x: Any, *, read_only: bool = False) -> np.ndarray:
    """Copy a tensor's elements into a new array, in row-major order."""
    result = np.array(x, order="C")
    result.flags.writeable = not read_only
    return result


define(
    name="array_of", graphdef="ArrayOf", gradient=_NO_GRADIENT, effects=Effects.WRITE, result=_array_of_type,
    kernel=_array_of,
    allocates=True,
)  # fmt: skip


def _shape_of_known_rank(shape: Any) -> tuple[Dimension, ...]:
    """Return the shape; raises TypeError if its rank is unknown."""
    if shape is None:
        raise TypeError("the number of dimensions of an array has to be known")
    return tuple(shape)


define(
    name="array_object", graphdef="ArrayObject", result=lambda x: ObjectType("ndarray"), kernel=lambda x: (x,),
    gradient=_NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip
