"""Tensors built from a shape or from bounds: zeros, ones, identity matrices, ranges."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices, with_default_dtype
from autoconv.api.tensors.arguments import axis_in_range, shape_argument, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.errors import DtypeError, InvalidArgumentError
from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import DType, as_dtype, bfloat16, float16, float32, float64, int32, int64
from autoconv.runtime.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import as_tensor, constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def zeros(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: object = None) -> Tensor:
    """Zeros (False, empty strings) of that shape, which may be or contain tensors.

    `layout` has no effect.

    >>> autoconv.zeros([2, 3]).numpy()
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return _fill_with(shape, dtype, 0, name)


def ones(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: object = None) -> Tensor:
    """Ones (True) of that shape, which may be or contain tensors.

    `layout` has no effect.

    >>> autoconv.ones([2], autoconv.int32).numpy()
    array([1, 1], dtype=int32)
    """
    return _fill_with(shape, dtype, 1, name)


def _fill_with(shape: Any, dtype: object, number: int, name: str | None) -> Tensor:
    """Return a tensor filled with `number`, 0 or 1; for strings with an empty string or "1"."""
    out_dtype = as_dtype(dtype)
    value = (b"", b"1")[number] if out_dtype.is_string else number
    operands, static_shape = shape_argument(with_default_dtype(shape, int32, LARGE_INTEGERS))
    return apply("fill", np.array(value, out_dtype.numpy), *operands, shape=static_shape, name=name)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: object = None) -> Tensor:
    """Zeros of the shape of `input`, with its dtype unless `dtype` is given.

    `layout` has no effect.

    >>> autoconv.zeros_like(autoconv.constant([1.5, 2.5])).numpy()
    array([0., 0.], dtype=float32)
    """
    return apply("zeros_like", input, dtype=_dtype_or_none(dtype), name=name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: object = None) -> Tensor:
    """Ones of the shape of `input`, with its dtype unless `dtype` is given.

    `layout` has no effect.

    >>> autoconv.ones_like(autoconv.constant([1.5, 2.5])).numpy()
    array([1., 1.], dtype=float32)
    """
    return apply("ones_like", input, dtype=_dtype_or_none(dtype), name=name)


def _dtype_or_none(dtype: DTypeLike) -> DType | None:
    """Return the dtype, None for None."""
    return None if dtype is None else as_dtype(dtype)


def fill(dims: AxisLike, value: TensorLike, name: str | None = None, layout: object = None) -> Tensor:
    """A tensor of shape `dims` with all elements equal to the scalar `value`.

    `layout` has no effect.

    >>> autoconv.fill([2, 2], 7).numpy()
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    dims = as_indices("fill", dims)
    operands, static_shape = shape_argument(dims)
    return apply("fill", value, *operands, shape=static_shape, name=name)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The identity matrix, or a batch of it of shape `batch_shape`; square unless `num_columns` is given.

    >>> autoconv.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    operands, sizes = shape_argument([num_rows, num_rows if num_columns is None else num_columns])
    assert sizes is not None  # a list has a known length
    rows, columns = sizes
    matrix = apply("eye", *operands, num_rows=rows, num_columns=columns, dtype=as_dtype(dtype), name=name)
    if batch_shape is None:
        return matrix
    batch_operands, static_batch = shape_argument(batch_shape)
    if not batch_operands and None not in (rows, columns):
        return apply("broadcast_to", matrix, shape=(*(static_batch or ()), rows, columns))
    batch_sizes = batch_operands[0] if batch_operands else constant(np.array(static_batch, np.int32))
    full_shape = apply("concat", batch_sizes, apply("shape", matrix, dtype=batch_sizes.dtype), axis=0)
    static_shape = None if static_batch is None else (*static_batch, rows, columns)
    return apply("broadcast_to", matrix, full_shape, shape=static_shape)


_DTYPES_BY_WIDTH: tuple[DType, ...] = (int32, int64, float16, bfloat16, float32, float64)  # for `range`, in order


def range(
    start: TensorLike, limit: TensorLike | None = None, delta: TensorLike = 1, dtype: DTypeLike | None = None,
    name: str | None = "range"
) -> Tensor:
    """The numbers from `start` (0 if only one is given) to `limit`, exclusive, in steps of `delta`.

    The dtype is the widest of the bounds' (int32 for Python ints, float32 for floats) unless `dtype` is given. Raises
    InvalidArgumentError for a step of zero.

    >>> autoconv.range(2, 10, 3).numpy()
    array([2, 5, 8], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    bounds = tuple(map(_as_scalar, (start, limit, delta)))
    for bound in bounds:
        tensor = as_tensor(bound)
        if isinstance(bound, complex) or (tensor is not None and tensor.dtype.is_complex):
            raise DtypeError(f"range() takes real numbers, found {bound!r}")
    out_dtype = as_dtype(dtype) if dtype is not None else _widest_dtype(bounds)
    static_bounds = [static_value(bound) for bound in bounds]
    length = None if any(bound is None for bound in static_bounds) else _range_length(*static_bounds)
    return apply("range", *(_convert_to_dtype(bound, out_dtype) for bound in bounds), length=length, name=name)


def _as_scalar(bound: Any) -> Any:
    """Return scalars unchanged, and outside of a graph the element of a vector that has one.

    Raises InvalidArgumentError for all other tensors and lists.
    """
    if not isinstance(bound, (list, tuple, np.ndarray)) and (as_tensor(bound) is None or not bound.shape.rank):
        return bound
    tensor = convert_to_tensor(bound)
    if tensor.shape.rank == 0:
        return bound
    if tensor.shape.num_elements() != 1 or current_region() is not None:
        raise InvalidArgumentError(f"a bound must be a scalar, not shape {tensor.shape}")
    return apply("reshape", tensor, shape=())


def _widest_dtype(bounds: tuple[Any, ...]) -> DType:
    """Return the widest dtype of the bounds of a range; that of the first if a bound has none of `_DTYPES_BY_WIDTH`."""
    dtypes = [
        (convert_to_tensor(bound) if tensor is None else tensor).dtype
        for bound, tensor in zip(bounds, map(as_tensor, bounds), strict=True)
    ]
    ordered_dtypes = [dtype for dtype in dtypes if dtype in _DTYPES_BY_WIDTH]
    return max(ordered_dtypes, key=_DTYPES_BY_WIDTH.index) if len(ordered_dtypes) == len(dtypes) else dtypes[0]


def _convert_to_dtype(value: TensorLike, dtype: DType) -> Any:
    """Return the value as a tensor or array of the dtype."""
    tensor = as_tensor(value)
    if tensor is None:
        return np.asarray(value).astype(dtype.numpy)
    if tensor.weak:
        return convert_to_tensor(tensor, dtype)
    return tensor if tensor.dtype is dtype else apply("cast", tensor, dtype=dtype)


def _range_length(start: Any, limit: Any, delta: Any) -> int | None:
    """Return the number of elements of a range, None if only the kernel can determine it."""
    if delta == 0:
        return None
    if all(isinstance(bound, (int, np.integer)) for bound in (start, limit, delta)):
        return len(builtins.range(int(start), int(limit), int(delta)))
    # The length of other ranges of floats depends on rounding in their dtype, so the kernel determines it.
    quotient = (float(limit) - float(start)) / float(delta)
    has_whole_bounds = all(float(bound).is_integer() for bound in (start, delta))
    is_exact = quotient.is_integer() and abs(quotient) < 2**20 and has_whole_bounds
    return max(math.ceil(quotient), 0) if is_exact else None


@accepts_run_time_axes(new_axes=1)
def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: AxisLike = 0
) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, evenly spaced, along a new dimension `axis`.

    Integer bounds become float64, those of 8 and 16 bits float32. Raises InvalidArgumentError for a negative `num`.

    >>> autoconv.linspace(0.0, 1.0, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    new_axis = static_int(axis, "axis")
    first, last = _float_bounds(start, stop)
    num = _as_scalar(num)
    static_count = static_value(num)
    operands = () if static_count is not None else (num,)
    # The op returns at least one number, which is dropped below if `num` is 0.
    result = apply(
        "linspace", first, last, *operands, num=None if static_count is None else int(static_count) or 1, name=name
    )
    if static_count is not None and int(static_count) == 0:
        result = result[:0]
    if new_axis == 0:
        return result
    rank = result.shape.rank
    if rank is None:
        raise ValueError("linspace along an axis needs bounds of known rank")
    new_axis = axis_in_range(new_axis, rank)
    order = (*builtins.range(1, new_axis + 1), 0, *builtins.range(new_axis + 1, rank))
    return apply("transpose", result, perm=order)


def _float_bounds(start: TensorLike, stop: TensorLike) -> tuple[Any, Any]:
    """Return both bounds as floats or complex numbers of one dtype."""
    first = convert_to_tensor(start)
    last = convert_to_tensor(stop)
    if as_tensor(start) is not None and as_tensor(stop) is not None:
        last = convert_to_tensor(stop, first.dtype)  # raises ValueError for another dtype
    dtype = first.dtype if first.dtype.is_floating or first.dtype.is_complex else last.dtype
    if dtype.is_integer:
        dtype = float32 if dtype.size <= 2 else float64
    return _convert_to_dtype(first, dtype), _convert_to_dtype(last, dtype)
