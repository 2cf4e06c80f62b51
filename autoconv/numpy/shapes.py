"""Changes of shapes and of the order of axes and elements: reshaping, moving axes, broadcasting, reversing."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import int64
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    axes_of,
    axis_of,
    cast,
    check,
    computes,
    holds_tensors,
    integer,
    is_under_compile,
    is_weak,
    numpy_dtype,
    numpy_dtype_of,
    promotion_operand,
    rank_of,
    refuse,
    refuse_column_major,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.writes import note_change
from autoconv.ops.index_spec import Slice
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.arrays.method_arguments import new_shape
from autoconv.runtime.arrays.read_only import mark_read_only
from autoconv.runtime.arrays.windows import window_axes
from autoconv.runtime.tensors.binary_dispatch import count_of
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

WHOLE = Slice()  # the index entry `:`


def shape_argument(shape: Any) -> tuple[tuple[Any, ...], tuple[int | None, ...] | None]:
    """Return a shape as ops take it: (operands, known sizes).

    If some sizes are symbolic, the only operand is a vector of all sizes; otherwise there is none. The known sizes have
    None for each symbolic size. They are None as a whole if the number of sizes is unknown.
    """
    sizes: Any = shape if isinstance(shape, (list, tuple)) else None
    if sizes is None:
        static_shape = static_value(shape)
        if static_shape is not None:
            sizes = np.ravel(static_shape).tolist()
        elif holds_tensors(shape):
            vector = tensor(shape)
            _refuse_other_than_ints(vector)
            if rank_of(vector) == 1:
                length = vector.type.shape[0]  # type: ignore[index]
                return (vector,), (None,) * length if isinstance(length, int) else None
            sizes = (shape,)
        else:
            sizes = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    known_sizes = tuple(_known_size(size) for size in sizes)
    if None not in known_sizes:
        return (), known_sizes
    return (apply("stack", *(tensor(size, np.int64) for size in sizes), axis=0),), known_sizes


def _known_size(size: ShapeLike) -> int | None:
    """Return a size as an int; None if it is known only at run time."""
    known_size = static_value(size)
    if known_size is None and holds_tensors(size):
        _refuse_other_than_ints(tensor(size))
        return None
    return integer(size)


def _refuse_other_than_ints(sizes: Tensor) -> None:
    """Refuse sizes that NumPy does not accept: floats, and bools that are not Python's."""
    if not (sizes.dtype.is_integer or (sizes.dtype.is_bool and sizes.weak)):
        refuse("is given a size that is no int")


@computes("reshape")
def reshape(a: TensorLike, /, shape: object, order: str = "C", *, copy: Any = None) -> Tensor:
    x = tensor(a)
    size_operands, known_sizes = shape_argument(shape)
    if known_sizes is not None and not size_operands and is_under_compile():
        known_sizes = new_shape(x, known_sizes)  # type: ignore[arg-type]
    may_show_order = sum(size != 1 for size in x.type.shape or (0, 0)) > 1  # as an unknown shape may
    if order in ("A", "K") and may_show_order and is_under_compile():
        refuse(f"is given order {order!r}, which depends on the memory layout: a graph does not have it")
    if order not in ("C", "A", "K", None):
        if order != "F" or size_operands or known_sizes is None:
            refuse(f"is given order {order!r}")
        # Column-major order is the row-major order of the transposes.
        return apply("transpose", apply("reshape", apply("transpose", x), shape=known_sizes[::-1]))
    return apply("reshape", x, *size_operands, shape=known_sizes)


@computes("ravel")
def ravel(a: TensorLike, order: str = "C") -> Tensor:
    return reshape(a, (-1,), order)


@computes("transpose", "permute_dims")
def transpose(a: TensorLike, axes: Any = None) -> Tensor:
    x = tensor(a)
    if axes is None:
        return x if x.type.shape == () else apply("transpose", x)
    rank = rank_of(x)
    if len(axes) != rank:
        raise ValueError("axes don't match array")
    if not rank:
        return x
    return apply("transpose", x, perm=axes_of(tuple(axes), rank))


@computes("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(x: TensorLike, /) -> Tensor:
    x = tensor(x)
    if rank_of(x) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {rank_of(x)}")
    return swapaxes(x, -1, -2)


@computes("swapaxes")
def swapaxes(a: TensorLike, axis1: IntLike, axis2: IntLike) -> Tensor:
    x = tensor(a)
    rank = rank_of(x)
    order = list(range(rank))
    i, j = axis_of(axis1, rank), axis_of(axis2, rank)
    order[i], order[j] = order[j], order[i]
    return transpose(x, order)


@computes("moveaxis")
def moveaxis(a: TensorLike, source: TensorLike, destination: Any) -> Tensor:
    x = tensor(a)
    rank = rank_of(x)
    sources, destinations = axes_of(axis_tuple(source), rank), axes_of(axis_tuple(destination), rank)
    if len(sources) != len(destinations):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(rank) if axis not in sources]
    for destination_axis, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(destination_axis, axis)
    return transpose(x, order)


def axis_tuple(axis: AxisLike) -> tuple[Any, ...]:
    """Return one axis, or a list or tuple of axes, as a tuple."""
    return tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)


@computes("rollaxis")
def rollaxis(a: TensorLike, axis: Any, start: Any = 0) -> Tensor:
    x = tensor(a)
    rank = rank_of(x)
    axis, start = axis_of(axis, rank), (axis_of(start, rank + 1) if start >= 0 else start + rank)
    order = list(range(rank))
    order.remove(axis)
    order.insert(start - 1 if axis < start else start, axis)
    return transpose(x, order)


@computes("squeeze")
def squeeze(a: TensorLike, axis: AxisLike | None = None) -> Tensor:
    x = tensor(a)
    shape = require_known_shape(x)
    if not shape and axis in (0, -1):  # NumPy accepts these axes of a scalar
        return x
    if axis is None:
        axes = tuple(i for i, size in enumerate(shape) if size == 1)
    else:
        axes = axes_of(axis if isinstance(axis, tuple) else integer(axis), len(shape))
    if any(shape[i] != 1 for i in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return apply("squeeze", x, axis=axes) if axes else x


@computes("expand_dims")
def expand_dims(a: TensorLike, axis: AxisLike) -> Tensor:
    x = tensor(a)
    axes = axis_tuple(axis)
    for axis_index in sorted(axes_of(axes, rank_of(x) + len(axes))):
        x = apply("expand_dims", x, axis=axis_index)
    return x


@computes("broadcast_to")
def broadcast_to(array: TensorLike, shape: ShapeLike, subok: bool = False) -> Tensor:
    size_operands, known_sizes = shape_argument(shape)
    return mark_read_only(apply("broadcast_to", tensor(array), *size_operands, shape=known_sizes))


@computes("lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: TensorLike, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Tensor:
    if subok or writeable:
        refuse("is asked for a subclass, or for windows that are written")
    array = tensor(x)
    lengths = tuple(map(integer, window_shape if isinstance(window_shape, (list, tuple)) else (window_shape,)))
    sizes = sizes_of(array)
    # NumPy's check gets sizes that fit all windows in place of open ones, which are checked at run time below.
    axes, lengths = window_axes([size if isinstance(size, int) else sum(lengths) for size in sizes], lengths, axis)
    for axis_index, size in enumerate(sizes):
        lengths_along = [length for axis_, length in zip(axes, lengths, strict=True) if axis_ == axis_index]
        min_size = sum(length - 1 for length in lengths_along) + 1
        if not isinstance(size, int):
            check(tensor(size, np.int64) >= min_size, "window shape cannot be larger than input array shape")
    return mark_read_only(apply("sliding_windows", array, axes=axes, lengths=lengths))


@computes("lib.stride_tricks.as_strided")
def as_strided(x: TensorLike, *args: Any, **kwargs: Any) -> Any:
    note_change(x)  # the view shares the memory, so the trace needs the array itself
    refuse("is given a tensor")


@computes("broadcast_arrays")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    arrays = [tensor(x) for x in args]
    shape = np.broadcast_shapes(*map(require_known_shape, arrays))
    return tuple(apply("broadcast_to", x, shape=shape) for x in arrays)


def _rank_raiser(min_rank: int) -> Any:
    """Return NumPy's `atleast_1d`, `atleast_2d` or `atleast_3d`."""
    def raise_rank(a: TensorLike) -> Tensor:
        x = tensor(a)
        for _ in range(min_rank - rank_of(x)):
            # A matrix becomes a stack of columns; a vector is first made a row.
            x = apply("expand_dims", x, axis=-1 if min_rank == 3 and rank_of(x) == 2 else 0)
        return x

    def compute(*arys: Any) -> Any:
        results = tuple(map(raise_rank, arys))
        return results[0] if len(results) == 1 else results

    return compute


atleast_1d, atleast_2d, atleast_3d = (computes(f"atleast_{rank}d")(_rank_raiser(rank)) for rank in (1, 2, 3))


# ---- reversing and rotating


@computes("flip")
def flip(m: TensorLike, axis: Any = None) -> Tensor:
    x = tensor(m)
    axes = axes_of(axis, rank_of(x))
    return apply("reverse", x, axis=axes) if axes else x


@computes("fliplr")
def fliplr(m: TensorLike) -> Tensor:
    if rank_of(tensor(m)) < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@computes("flipud")
def flipud(m: TensorLike) -> Tensor:
    if rank_of(tensor(m)) < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@computes("rot90")
def rot90(m: TensorLike, k: Any = 1, axes: Any = (0, 1)) -> Tensor:
    x = tensor(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = map(integer, axes)
    if first == second or abs(first - second) == rank_of(x):
        raise ValueError("Axes must be different.")
    if not all(-rank_of(x) <= axis < rank_of(x) for axis in (first, second)):
        raise ValueError(f"Axes={tuple(axes)} out of range for array of ndim={rank_of(x)}.")
    first, second = first % rank_of(x), second % rank_of(x)
    turns = integer(k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (first, second))
    return swapaxes(flip(x, second), first, second) if turns == 1 else flip(swapaxes(x, first, second), second)


@computes("roll")
def roll(a: TensorLike, shift: TensorLike, axis: AxisLike | None = None) -> Tensor:
    x = tensor(a)
    if axis is None:
        flat_x = apply("reshape", x, shape=(-1,))
        return apply("reshape_like", roll(flat_x, shift, 0), x)
    axes = tuple(axis_of(index, rank_of(x)) for index in axis_tuple(axis))
    shifts, axes = _pair_shifts_with_axes(axis_tuple(shift), axes)
    if holds_tensors(shifts):
        if any(rank_of(tensor(shift)) or not tensor(shift).dtype.is_integer for shift in shifts):
            refuse("is given shifts that are no integers")
        vector = apply("stack", *(tensor(shift, np.int64) for shift in shifts), axis=0)
        return apply("roll", x, vector, axis=axes)
    return apply("roll", x, shift=tuple(map(integer, shifts)), axis=axes)


def _pair_shifts_with_axes(shifts: Sequence[Any], axes: Sequence[int]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return shifts and axes of the same number; a single one is repeated."""
    count = max(len(shifts), len(axes))
    if len(shifts) not in (1, count) or len(axes) not in (1, count):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return tuple(shifts) * (count // len(shifts)), tuple(axes) * (count // len(axes))


# ---- queries and copies


@computes("shape")
def shape_of(a: TensorLike) -> tuple[Any, ...]:
    return sizes_of(tensor(a))


@computes("ndim")
def ndim(a: TensorLike) -> int:
    return rank_of(tensor(a))


@computes("size")
def size(a: TensorLike, axis: AxisLike | None = None) -> Any:
    x = tensor(a)
    return count_of(x) if axis is None else sizes_of(x)[axis_of(axis, rank_of(x))]


@computes("copy")
def copy(a: TensorLike, order: str = "K", subok: bool = False) -> Tensor:
    refuse_column_major(order, tensor(a).type.rank)
    return apply("numpy_copy", tensor(a), method="copy", copy_id=0)


@computes("astype")
def astype(x: TensorLike, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Tensor:
    if is_weak(x):
        refuse("is given a number that is no array")
    return cast(tensor(x), numpy_dtype(dtype))


def _operand_of_result_type(x: TensorLike) -> Any:
    """Return the operand of `np.result_type` for `x`: its dtype, or for a Python number a number of the same class.

    A list or tuple is returned unchanged, since it describes a structured dtype.
    """
    if isinstance(x, (list, tuple)):
        return refuse("is given a list of values") if holds_tensors(x) else x
    operand = promotion_operand(x)
    return operand(0) if isinstance(operand, type) else operand


@computes("result_type")
def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    return np.result_type(
        *(x if isinstance(x, (type, str, np.dtype)) else _operand_of_result_type(x) for x in arrays_and_dtypes)
    )


@computes("common_type")
def common_type(*arrays: TensorLike) -> Any:
    operands = map(promotion_operand, arrays)  # a number of Python's has no dtype, for which NumPy raises
    return np.common_type(*(operand(0) if isinstance(operand, type) else np.empty(0, operand) for operand in operands))


@computes("iscomplexobj")
def iscomplexobj(x: TensorLike) -> bool:
    return numpy_dtype_of(x).kind == "c"


@computes("isrealobj")
def isrealobj(x: TensorLike) -> bool:
    return numpy_dtype_of(x).kind != "c"


@computes("unravel_index")
def unravel_index(indices: TensorLike, shape: ShapeLike, order: str = "C") -> tuple[Tensor, ...]:
    if order != "C" or not isinstance(shape, (tuple, list)) or len(shape) < 2:
        refuse("is given an order other than 'C', or a shape of fewer than two dimensions")
    x, sizes = tensor(indices), [tensor(size) for size in shape]
    if rank_of(x) or x.dtype is not int64 or any(rank_of(size) or not size.dtype.is_integer for size in sizes):
        return call_numpy("unravel_index", x, tuple(shape))
    sizes = [cast(size, np.int64) for size in sizes]
    count = functools.reduce(lambda first, second: apply("multiply", first, second), sizes)
    is_inside = apply("logical_and", apply("greater_equal", x, tensor(0, np.int64)), apply("less", x, count))
    rerun_plain_unless(is_inside, "an index is outside of the shape")
    positions: list[Tensor] = []
    for size in reversed(sizes[1:]):
        positions.insert(0, apply("modulo", x, size))
        x = apply("floor_divide", x, size)
    return (x, *positions)
