"""NumPy functions that mutate their first argument: `ufunc.at`, `copyto`, `put` and related ones.

The argument must be a memory array; `note_change` raises for others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import ItemAssignmentError
from autoconv.graph.dtypes import uint64
from autoconv.numpy.operands import (
    cast,
    computes,
    has_known_shape,
    holds_tensors,
    is_weak,
    numpy_dtype_of,
    positions_along,
    promotion_operand,
    rank_of,
    refuse,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc, loop_of
from autoconv.numpy.writes import note_change, write_into
from autoconv.ops.index_spec import parse_index
from autoconv.ops.program_errors import errors_of_program
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, is_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def at(ufunc: Any, array: Any, indices: Any, *values: Any) -> None:
    """Implement `ufunc.at(array, indices, values)`: an element is changed once for each occurrence of its index."""
    x = _require_mutable(array)
    dtypes = loop_of(ufunc, (x, *values))
    if not np.can_cast(dtypes[-1], numpy_dtype_of(x), "same_kind"):
        raise TypeError(f"Cannot cast ufunc '{ufunc.__name__}' output from {dtypes[-1]!r} to {numpy_dtype_of(x)!r}")
    if ufunc in (np.add, np.subtract) and not x.dtype.is_bool:
        spec, operands = parse_index(indices, is_tensor)
        amount = cast(tensor(values[0], None if is_weak(values[0]) else dtypes[1]), x.dtype)
        amount = apply("negative", amount) if ufunc is np.subtract else amount
        write_into(array, apply("add_at_item", x, amount, *operands, spec=spec, may_fail=True))
        return
    if ufunc in _SCATTER_OPS and _is_row_of_positions(x, indices, values[0], dtypes):
        write_into(array, _replace_by_extremes(_SCATTER_OPS[ufunc], x, indices, tensor(values[0], dtypes[1])))
        return
    if not _has_no_repeated_position(indices):
        refuse("may change one element several times")
    array[indices] = cast(call_ufunc(ufunc, tensor(array[indices]), *values), x.dtype)


# Ufunc -> the op that applies it at repeated positions.
_SCATTER_OPS: dict[Any, str] = {np.minimum: "tensor_scatter_nd_min", np.maximum: "tensor_scatter_nd_max"}


def _is_row_of_positions(x: Any, indices: Any, value: Any, dtypes: Any) -> bool:
    """Return whether the index is a vector of positions in a vector `x`, and the loop has the dtype of `x` alone."""
    if isinstance(indices, tuple) or as_tensor(indices) is None or rank_of(x) != 1:
        return False
    positions = tensor(indices)
    is_row = rank_of(positions) == 1 and positions.dtype.is_integer and positions.dtype is not uint64
    return is_row and rank_of(tensor(value)) <= 1 and {*dtypes} == {x.dtype.numpy} and dtypes[0].kind in "iuf"


def _replace_by_extremes(op: str, x: Any, indices: Any, value: Any) -> Any:
    """Return `x` with extremes at the positions; a position out of range makes the call run plain."""
    positions, size = cast(tensor(indices), np.int64), tensor(sizes_of(x)[0], np.int64)
    zero = tensor(0, np.int64)
    positions = apply("select", apply("less", positions, zero), apply("add", positions, size), positions)
    is_inside = apply("logical_and", apply("greater_equal", positions, zero), apply("less", positions, size))
    rerun_plain_unless(apply("reduce_all", is_inside, axis=(0,), keepdims=False), "a position is outside of the array")
    amounts = apply("broadcast_to_shape_of", value, positions)
    return apply(op, x, apply("expand_dims", positions, axis=1), amounts)


def _require_mutable(array: TensorLike) -> Any:
    """Return the current elements of an array that can be mutated."""
    if isinstance(array, EagerTensor):
        raise ItemAssignmentError("'EagerTensor' object does not support item assignment")
    if isinstance(array, np.ndarray):
        refuse("writes to an array that is not part of the graph")
    if isinstance(array, SymbolicTensor):
        note_change(array)
        refuse("changes a tensor, which is no array in memory")
    return tensor(array)


def _convert_elements(array: TensorLike, values: TensorLike) -> Any:
    """Return values in the array's dtype; Python numbers are converted by NumPy's rules, which may raise."""
    return tensor(values, numpy_dtype_of(array))


def _convert_elements_safely(function: Callable[..., Any], array: TensorLike, values: TensorLike) -> Any:
    """Convert as `_convert_elements`; raise NumPy's error for `values` that cannot be cast safely."""
    if holds_tensors(values) and not is_weak(values) and rank_of(tensor(values)):
        with errors_of_program(TypeError):
            function(np.zeros(1, numpy_dtype_of(array)), [False], np.zeros(1, numpy_dtype_of(values)))
    return _convert_elements(array, values)


def _has_no_repeated_position(indices: TensorLike) -> bool:
    """Return whether an index is known to select no element twice."""
    items = indices if isinstance(indices, tuple) else (indices,)
    position_lists = [part for part in items if not isinstance(part, (int, slice, np.integer)) and part is not Ellipsis]
    if not position_lists:
        return True
    if len(position_lists) > 1 or is_tensor(position_lists[0]):
        return False
    array = np.asarray(position_lists[0])
    return array.dtype == bool or (bool(np.all(array >= 0)) and len(np.unique(array)) == array.size)


for _ufunc in {id(ufunc): ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}.values():
    computes(_ufunc.at)(lambda *args, _ufunc=_ufunc: at(_ufunc, *args))


@computes("copyto")
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: TensorLike = True) -> None:
    x = _require_mutable(dst)
    value = _convert_number(src, numpy_dtype_of(x), casting) if is_weak(src) else tensor(src)
    if rank_of(value) > rank_of(x):
        refuse("copies from an array of more dimensions")
    write_into(dst, value, where, casting, broadcasts=True)


def _convert_number(number: TensorLike, dtype: np.dtype[Any], casting: Any) -> Any:
    """Return a Python number as an element; raises NumPy's error if the casting rule forbids its class."""
    number_class = promotion_operand(number)
    with errors_of_program(TypeError):
        np.copyto(np.zeros((), dtype), number_class(0) if isinstance(number_class, type) else False, casting)
    return tensor(number, dtype)


@computes("putmask")
def putmask(a: TensorLike, mask: TensorLike, values: TensorLike) -> None:
    x, new_elements = _require_mutable(a), _convert_elements_safely(np.putmask, a, values)
    if rank_of(new_elements) and require_known_shape(new_elements) != require_known_shape(x):
        refuse("is given values of another shape")
    write_into(a, new_elements, mask, broadcasts=True)


@computes("place")
def place(arr: TensorLike, mask: TensorLike, vals: Any) -> None:
    _require_mutable(arr)
    new_elements = _convert_elements_safely(np.place, arr, vals)
    if rank_of(new_elements) and require_known_shape(new_elements) != (1,):
        refuse("is given several values")
    write_into(arr, new_elements, mask, broadcasts=True)


@computes("put")
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    x, new_elements = _require_mutable(a), _convert_elements(a, v)
    if ind is None or isinstance(ind, (str, bytes)) or not tensor(ind).dtype.is_integer:
        refuse("is given positions that are no integers, which it converts")
    is_array = bool(rank_of(new_elements))
    has_other_shape = is_array and require_known_shape(new_elements) != require_known_shape(tensor(ind))
    if rank_of(x) != 1 or mode != "raise" or has_other_shape:
        refuse("is given several dimensions, a mode, or values of another shape")
    a[ind if not isinstance(ind, int) else (ind,)] = new_elements


@computes("fill_diagonal")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    x = _require_mutable(a)
    if rank_of(x) != 2 or wrap:
        refuse("is given another number of dimensions than two, or wrap")
    values = _convert_elements(a, val)
    if not np.ndim(val) and not has_known_shape(x):
        sizes = [tensor(size, np.int64) for size in sizes_of(x)]
        positions: Any = apply("range", tensor(0), apply("minimum", *sizes), tensor(1))
        a[positions, positions] = values
        return
    positions = np.arange(min(require_known_shape(x)))
    if np.ndim(val):  # as assignment to a flat iterator, which repeats the values
        elements = apply("reshape", tensor(values), shape=(-1,))
        (count,) = require_known_shape(elements)
        if not count:
            return
        values = apply("gather", elements, positions % count, axis=0)
    a[positions, positions] = values


@computes("put_along_axis")
def put_along_axis(arr: Any, indices: object, values: Any, axis: Any) -> None:
    x, positions = _require_mutable(arr), tensor(indices)
    rank = rank_of(x)
    if axis is None or rank_of(positions) != rank:
        refuse("is given no axis, or indices of another number of dimensions")
    axis_index = range(rank)[axis]
    index = tuple(positions if i == axis_index else positions_along(x, i) for i in range(rank))
    arr[index] = _convert_elements(arr, values)
