"""Array creation: from shapes, ranges, and other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    cast,
    check,
    common_dtype,
    computes,
    find_function,
    holds_tensors,
    integer,
    is_weak,
    numpy_dtype,
    numpy_dtype_of,
    promotion_operand,
    rank_of,
    refuse,
    refuse_column_major,
    refuse_options,
    require_known_shape,
    sizes_of,
    tensor,
)
from autoconv.numpy.shapes import shape_argument
from autoconv.ops.index_spec import At
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.arrays.array_checks import check_as_numpy, check_sizes, is_beyond_memory
from autoconv.runtime.arrays.assigned_values import loses_imaginary_parts
from autoconv.runtime.recording.numpy_protocol import CREATION_FUNCTIONS
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

_MAX_ELEMENTS = 2**62  # more than any array has


def creates(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register an implementation as `computes` does, for functions that always return new arrays."""
    CREATION_FUNCTIONS.update(function for function in map(find_function, names) if function is not None)
    return computes(*names)


def fill_array(shape: ShapeLike, value: TensorLike, dtype: np.dtype[Any]) -> Tensor:
    """Return a new array that holds the value in all elements; sizes may be known only at run time."""
    check_sizes(shape)
    size_operands, known_sizes = shape_argument(shape)
    if not size_operands and known_sizes is not None and any(size is not None and size < 0 for size in known_sizes):
        raise ValueError("negative dimensions are not allowed")
    if is_beyond_memory(known_sizes or (), dtype.itemsize):
        refuse("creates an array that does not fit into memory")
    return apply("fill", tensor(value, dtype), *size_operands, shape=known_sizes)


def check_order(order: str) -> None:
    """Refuse memory orders that NumPy accepts only where an array is copied."""
    if order not in ("C", "F", None):
        refuse(f"is given order {order!r}")


def _filling_function(value: int) -> Callable[..., Tensor]:
    def create(
        shape: ShapeLike, dtype: DTypeLike | None = None, order: str = "C", *, device: str | None = None,
        like: object = None,
    ) -> Tensor:  # fmt: skip
        check_order(order)
        result = fill_array(shape, value, numpy_dtype(float if dtype is None else dtype))
        refuse_column_major(order, result.type.rank)
        return result

    return create


creates("zeros", "empty")(_filling_function(0))  # the contents of `empty` are unspecified: zeros
creates("ones")(_filling_function(1))


@creates("ndarray")
def ndarray(
    shape: ShapeLike, dtype: DTypeLike = float, buffer: object = None, offset: int = 0, strides: object = None,
    order: str | None = None,
) -> Tensor:  # fmt: skip
    if buffer is not None or strides is not None:
        refuse("is given memory")
    return _filling_function(0)(shape, dtype, order or "C")


@creates("full")
def full(
    shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None, order: str = "C", *,
    device: str | None = None, like: object = None
) -> Tensor:
    result_dtype = numpy_dtype_of(fill_value) if dtype is None else numpy_dtype(dtype)
    value = _fill_value(fill_value, result_dtype)
    check_order(order)
    refuse_column_major(order, rank=None)
    if rank_of(value):
        size_operands, known_sizes = shape_argument(shape)
        return apply("broadcast_to", value, *size_operands, shape=known_sizes)
    return fill_array(shape, value, result_dtype)


def _filling_like_function(value: int) -> Callable[..., Tensor]:
    def create_like(
        a: TensorLike, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
        shape: ShapeLike | None = None, *, device: str | None = None
    ) -> Tensor:
        return full_like(a, value, dtype, order, shape=shape)

    return create_like


def _fill_value(value: TensorLike, dtype: np.dtype[Any]) -> Tensor:
    """Return the value that fills an array: Python ints must fit, floats are converted to ints with a C cast."""
    if not is_weak(value):
        return tensor(value, dtype)
    if loses_imaginary_parts(value, as_dtype(dtype)):
        refuse("fills a real array with a complex number, for which NumPy warns")
    is_float = dtype.kind in "iu" and promotion_operand(value) is float
    return cast(tensor(value), dtype) if is_float else tensor(value, dtype)


@creates("full_like")
def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
    shape: ShapeLike | None = None, *, device: str | None = None,
) -> Tensor:  # fmt: skip
    x = tensor(a)
    refuse_column_major(order, x.type.rank if shape is None else None)
    result_dtype = x.dtype.numpy if dtype is None else numpy_dtype(dtype)
    if shape is not None:
        return full(shape, fill_value, result_dtype)
    if fill_value in (0, 1) and type(fill_value) is int:
        return apply("ones_like" if fill_value else "zeros_like", x, dtype=as_dtype(result_dtype))
    if result_dtype.kind == "b":  # bools have no difference
        return full(require_known_shape(x), fill_value, result_dtype)
    zeros = apply("zeros_like", x, dtype=as_dtype(result_dtype))
    return apply("subtract", _fill_value(fill_value, result_dtype), zeros)  # a sum would lose the sign of -0.0


creates("zeros_like", "empty_like")(_filling_like_function(0))
creates("ones_like")(_filling_like_function(1))


# ---- from other values


def _array(
    object: Any, dtype: DTypeLike | None = None, *, copy: Any = True, order: str = "K", subok: bool = False,
    ndmin: int = 0, like: object = None,
) -> Tensor:  # fmt: skip
    x = tensor(object, None if dtype is None else numpy_dtype(dtype))
    refuse_column_major(order, x.type.rank)
    min_rank = np.array(0, ndmin=integer(ndmin)).ndim if ndmin else 0  # NumPy raises for a number that it rejects
    for _ in range(min_rank - rank_of(x)):
        x = apply("expand_dims", x, axis=0)
    # A converted argument is a new array already.
    return apply("numpy_copy", x, method="copy", copy_id=0) if copy and x is as_tensor(object) else x


def _as_array(
    a: Any, dtype: Any = None, order: Any = None, *, device: str | None = None, copy: Any = None, like: object = None
) -> Tensor:
    return _array(a, dtype, copy=bool(copy), order=order)


creates("array")(_array)
creates("asarray", "asanyarray")(_as_array)


@creates("ascontiguousarray")
def _as_row_major(a: TensorLike, dtype: DTypeLike | None = None, *, like: object = None) -> Tensor:
    x = _array(a, dtype, copy=False)
    return x if rank_of(x) else apply("reshape", x, shape=(1,))


@creates("asfortranarray")
def _as_column_major(a: TensorLike, dtype: DTypeLike | None = None, *, like: object = None) -> Tensor:
    refuse_column_major("F", tensor(a).type.rank)
    return _as_row_major(a, dtype)


# ---- ranges


@creates("arange")
def arange(
    *bounds: Any, dtype: DTypeLike | None = None, device: str | None = None, like: object = None, **named_bounds: Any
) -> Tensor:
    start_stop_step = [named_bounds.pop(name, None) for name in ("start", "stop", "step")]
    refuse_options(**named_bounds)
    if len(bounds) == 4:
        *bounds, dtype = bounds  # type: ignore[assignment]
    if len(bounds) == 1 and start_stop_step[1] is None:
        start_stop_step[1] = bounds[0]
    else:
        start_stop_step[: len(bounds)] = bounds
    start, stop, step = start_stop_step
    if start is None and stop is not None and len(bounds) > 1:
        check_as_numpy(lambda: np.arange(start_stop_step[0], 1))  # raises NumPy's error for a start of None
    if stop is None:
        start, stop = None, start
    start, step = 0 if start is None else start, 1 if step is None else step
    # As in NumPy, bounds of a smaller dtype still give int64 or float64.
    result_dtype = np.result_type(common_dtype(start, stop, step), np.int64) if dtype is None else numpy_dtype(dtype)
    if not any(map(holds_tensors, (start, stop, step))):
        return tensor(np.arange(start, stop, step, dtype=result_dtype))
    if result_dtype.kind == "b":
        refuse("is given the dtype bool")
    bound_dtype = common_dtype(start, stop, step)
    if bound_dtype.kind != "f" and (dtype is None or result_dtype.kind == "f"):
        bound_dtype = np.promote_types(result_dtype, np.int32)  # not float32, which does not hold all ints
    operands = [tensor(bound, bound_dtype) for bound in (start, stop, step)]
    if bound_dtype.kind == "f":
        return _float_range(operands, result_dtype)
    return cast(apply("range", *operands), result_dtype)


def _float_range(bounds: Sequence[Tensor], dtype: DTypeLike) -> Tensor:
    """Return a range by NumPy's rule: the bounds give the length, the first two elements, rounded to `dtype`, the step.
    """
    start, stop, step = bounds
    quotient = apply("divide", apply("subtract", stop, start), step)
    max_length, one = (tensor(number, start.dtype.numpy) for number in (_MAX_ELEMENTS, 1))
    length = apply("select", _has_start_alone(quotient, start, stop), one, apply("ceil", quotient))
    check(apply("equal", length, length), "arange: cannot compute length")
    is_countable = apply("less_equal", apply("abs", length), tensor(2.0**63, length.dtype.numpy))
    check(is_countable, "Maximum allowed size exceeded")
    count = cast(apply("minimum", length, max_length), np.int64)
    numbers = apply("range", tensor(0, np.int64), count, tensor(1, np.int64))
    first_element = cast(start, dtype)
    delta = apply("subtract", cast(apply("add", start, step), dtype), first_element)
    later_elements = apply("add", first_element, apply("multiply", cast(numbers, dtype), delta))
    return apply("select", apply("equal", numbers, tensor(0, np.int64)), first_element, later_elements)


def _has_start_alone(quotient: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """Return whether a range consists of its start alone, as the quotient for its length has underflowed to 0."""
    one, zero = (tensor(number, start.dtype.numpy) for number in (1, 0))
    is_positive = apply("equal", apply("copysign", one, quotient), one)
    is_positive_zero = apply("logical_and", apply("equal", quotient, zero), is_positive)
    return apply("logical_and", is_positive_zero, apply("not_equal", start, stop))


@creates("linspace")
def linspace(
    start: TensorLike, stop: TensorLike, num: IntLike = 50, endpoint: bool = True, retstep: bool = False,
    dtype: DTypeLike | None = None, axis: AxisLike = 0, *, device: str | None = None,
) -> Any:  # fmt: skip
    """Add multiples of the step to the start, and take the exact end; for axis 0 the number of samples may be open."""
    is_count_open = static_value(num) is None and as_tensor(num) is not None
    if is_count_open and axis == 0 and not retstep:
        points = _linspace_of_open_count(start, stop, num, endpoint)
        return points if dtype is None else _round_to_dtype(points, dtype)
    count = integer(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    result_dtype = np.result_type(common_dtype(start, stop), float(count))
    first, last = tensor(start, result_dtype), tensor(stop, result_dtype)
    if axis != 0:
        options: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        return call_numpy("linspace", first, last, count, endpoint=endpoint, axis=axis, **options)
    interval_count = count - 1 if endpoint else count
    delta = apply("subtract", last, first)
    rank = max(rank_of(first), rank_of(last))
    steps = tensor(np.arange(count, dtype=result_dtype).reshape((-1,) + (1,) * rank))
    if interval_count > 0:
        step = apply("divide", delta, tensor(interval_count, result_dtype))
        multiples = apply("multiply", steps, step)
        if holds_tensors((start, stop)):  # a step that underflows to 0 would make all points equal
            shares_of_delta = apply("multiply", apply("divide", steps, tensor(interval_count, result_dtype)), delta)
            multiples = apply("select", apply("equal", step, tensor(0, result_dtype)), shares_of_delta, multiples)
    else:
        step, multiples = tensor(np.nan, result_dtype), apply("multiply", steps, delta)
    points = apply("add", multiples, first)
    if endpoint and count > 1:
        final = apply("add", apply("zeros_like", delta), last)
        points = apply("set_item", points, final, spec=(At(-1),))
    points = points if dtype is None else _round_to_dtype(points, dtype)
    return (points, step) if retstep else points


def _round_to_dtype(points: Tensor, dtype: DTypeLike) -> Tensor:
    result_dtype = numpy_dtype(dtype)
    return cast(apply("floor", points) if result_dtype.kind in "iu" else points, result_dtype)


def _linspace_of_open_count(start: TensorLike, stop: TensorLike, num: IntLike, endpoint: bool) -> Tensor:
    """Return the samples of linspace, whose number is known only at run time."""
    dtype = np.result_type(common_dtype(start, stop), 1.0)
    first, last = tensor(start, dtype), tensor(stop, dtype)
    if rank_of(first) or rank_of(last) or dtype.kind != "f":
        refuse("is given arrays, or complex numbers, and a size known only at run time")
    positions, one = count_up(num), tensor(1, np.int64)
    interval_count = apply("subtract", tensor(num, np.int64), one) if endpoint else tensor(num, np.int64)
    delta = apply("subtract", last, first)
    divisor = cast(apply("maximum", interval_count, one), dtype)
    steps, step = cast(positions, dtype), apply("divide", delta, divisor)
    shares_of_delta = apply("multiply", apply("divide", steps, divisor), delta)
    multiples = apply("select", apply("equal", step, tensor(0, dtype)), shares_of_delta, apply("multiply", steps, step))
    result = apply("add", multiples, first)
    if not endpoint:
        return result
    has_end = apply("greater", interval_count, tensor(0, np.int64))
    last_position = apply("select", has_end, interval_count, tensor(-1, np.int64))
    return apply("select", apply("equal", positions, last_position), last, result)


def count_up(count: IntLike) -> Tensor:
    """Return the int64 numbers from 0 to a count, exclusive; a negative count raises ValueError."""
    zeros = fill_array(count, 0, np.dtype(np.int64))
    return apply("add", zeros, apply("range", *(tensor(bound, np.int64) for bound in (0, count, 1))))


def _kernel_function(name: str) -> Callable[..., Any]:
    """Return a function that NumPy computes as one op; the size of the result depends on the arguments' values."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        if name in ("tril_indices", "triu_indices") and any(isinstance(x, float) for x in (*args, *kwargs.values())):
            refuse("is given floats as sizes, of which NumPy warns since 2.5")
        return call_numpy(name, *args, by_values=holds_tensors((*args, *kwargs.values())), **kwargs)

    return compute


# ---- grids and choices


@creates("meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Tensor, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [apply("reshape", tensor(x), shape=(-1,)) for x in xi]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = 1, 0  # the first two vectors exchange their axes
    open_grids = [
        apply("reshape", x, shape=tuple(-1 if i == axis else 1 for i in range(len(vectors))))
        for x, axis in zip(vectors, order, strict=True)
    ]
    if sparse:
        return tuple(open_grids)
    sizes = tuple(sizes_of(vectors[order.index(i)])[0] for i in range(len(vectors)))
    size_operands, known_sizes = shape_argument(sizes)
    grids = [apply("broadcast_to", x, *size_operands, shape=known_sizes) for x in open_grids]
    return tuple(apply("numpy_copy", x, method="copy", copy_id=0) if copy else x for x in grids)


@creates("indices")
def indices(dimensions: Any, dtype: DTypeLike = int, sparse: bool = False) -> Any:
    check_sizes(dimensions)
    grids: Any = np.indices(tuple(map(integer, dimensions)), numpy_dtype(dtype), sparse=sparse)  # type: ignore[call-overload]
    return tuple(map(tensor, grids)) if sparse else tensor(grids)


@creates("fromfunction")
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: object = None, **kwargs: Any) -> Any:
    grid = np.indices(tuple(map(integer, shape)), numpy_dtype(dtype))
    return function(*map(tensor, grid), **kwargs)


# ---- scalars


def _scalar(scalar_class: type) -> Callable[..., Any]:
    def make_scalar(x: Any = 0, /) -> Tensor:
        return tensor(x, np.dtype(scalar_class))

    return make_scalar


_SCALAR_CLASSES = (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
    np.float64, np.complex64, np.complex128,
)  # fmt: skip
for _scalar_class in _SCALAR_CLASSES:
    computes(_scalar_class)(_scalar(_scalar_class))

# Ranges, windows, frequencies, and indices of a shape.
for _name in (
    "logspace", "geomspace", "hanning", "hamming", "blackman", "bartlett", "kaiser", "fft.fftfreq", "fft.rfftfreq",
    "tril_indices", "triu_indices", "diag_indices", "mask_indices", "fromiter",
):  # fmt: skip
    creates(_name)(_kernel_function(_name))
