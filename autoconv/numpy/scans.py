"""Scans along an axis and related functions: cumulative sums and products, differences, integrals."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    MISSING,
    axes_of,
    axis_of,
    cast,
    common_dtype,
    computes,
    integer,
    is_weak,
    numpy_dtype,
    rank_of,
    refuse,
    refuse_options,
    require_known_shape,
    sizes_of,
    tensor,
)
from autoconv.numpy.reductions import apply_reduction
from autoconv.numpy.shapes import shape_argument
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.index_spec import Slice
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, OutLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _scan_function(name: str) -> Callable[..., Any]:
    """Return NumPy's `cumsum` or `cumprod`, by its name."""
    def compute(
        a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, out: OutLike | None = None
    ) -> Any:
        x = tensor(a)
        axis_index = None if axis is None else axis_of(axis, max(rank_of(x), 1))
        if x.type.shape == ():
            x = apply("reshape", x, shape=(1,))
        result_dtype = None if dtype is None else as_dtype(numpy_dtype(dtype))
        if result_dtype is not None and result_dtype.is_bool:
            return call_numpy(name, x, axis=axis_index, dtype=result_dtype, out=out)
        result = apply(f"numpy_{name}", x, axis=axis_index, dtype=result_dtype)
        return result if out is None else write_into(out, result)

    return compute


computes("cumsum")(_scan_function("cumsum"))
computes("cumprod")(_scan_function("cumprod"))


def _cumulative_function(name: str) -> Callable[..., Any]:
    """Return `cumulative_sum` or `cumulative_prod` of the array API standard, by the name of the older function."""
    def compute(
        x: TensorLike, /, *, axis: AxisLike | None = None, dtype: DTypeLike | None = None, out: OutLike | None = None,
        include_initial: bool = False,
    ) -> Any:  # fmt: skip
        x = tensor(x)
        if axis is None:
            if rank_of(x) > 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        result = _scan_function(name)(x, axis, dtype)
        if include_initial:
            axis_index = axis_of(axis, rank_of(result))
            shape = tuple(1 if i == axis_index else size for i, size in enumerate(require_known_shape(result)))
            initial = apply("fill", tensor(0 if name == "cumsum" else 1, result.dtype), shape=shape)
            result = apply("concat", initial, result, axis=axis_index)
        return result if out is None else write_into(out, result)

    return compute


computes("cumulative_sum")(_cumulative_function("cumsum"))
computes("cumulative_prod")(_cumulative_function("cumprod"))


@computes("diff")
def _diff(
    a: TensorLike, n: IntLike = 1, axis: AxisLike = -1, prepend: TensorLike = MISSING, append: TensorLike = MISSING
) -> Any:
    x = tensor(a)
    count = integer(n)
    if count == 0:
        return x
    if count < 0:
        raise ValueError("order must be non-negative but got " + repr(count))
    if rank_of(x) == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis_index = axis_of(axis, rank_of(x))
    for value, is_prefix in ((prepend, True), (append, False)):
        if value is MISSING:
            continue
        addition = tensor(value)
        if rank_of(addition) == 0:
            addition_sizes = tuple(1 if i == axis_index else size for i, size in enumerate(sizes_of(x)))
            size_operands, shape = shape_argument(addition_sizes)
            addition = apply("broadcast_to", addition, *size_operands, shape=shape)
        dtype = common_dtype(x, addition)
        parts = [cast(addition, dtype), cast(x, dtype)]
        x = apply("concat", *(parts if is_prefix else parts[::-1]), axis=axis_index)
    for _ in range(count):
        x = call_ufunc(np.not_equal if x.dtype.is_bool else np.subtract, *_neighbours(x, axis_index))
    return x


def _neighbours(x: Tensor, axis: int) -> list[Tensor]:
    """Return all elements but the first along an axis, and all but the last."""
    return [_part_of_axis(x, axis, 1, stop=None), _part_of_axis(x, axis, None, -1)]


@computes("trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = tensor(y)
    axis_index = axis_of(axis, rank_of(y))
    if x is None:
        step = dx if not isinstance(dx, (list, tuple)) else tensor(dx)
    else:
        x = tensor(x)
        step = _diff(x, axis=axis_index if rank_of(x) > 1 else -1)
        if rank_of(x) == 1:
            step = apply("reshape", step, shape=tuple(-1 if i == axis_index else 1 for i in range(rank_of(y))))
    double_areas = call_ufunc(np.multiply, step, call_ufunc(np.add, *_neighbours(y, axis_index)))
    return apply_reduction("sum", call_ufunc(np.true_divide, double_areas, 2.0), axis_index, keepdims=False, out=None)


@computes("ediff1d")
def _ediff1d(ary: TensorLike, to_end: Any = None, to_begin: Any = None) -> Any:
    refuse_options(to_end=to_end, to_begin=to_begin)
    x = apply("reshape", tensor(ary), shape=(-1,))
    return call_ufunc(np.subtract, *_neighbours(x, 0))


@computes("gradient")
def gradient(f: object, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Compute central differences, one-sided at the ends; at uneven coordinates, the distances weigh them."""
    x = tensor(f)
    rank = rank_of(x)
    if not rank:
        refuse("is given a scalar")
    axes = axes_of(axis, rank)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    shape = x.type.shape
    sizes = () if shape is None else tuple(shape[index] for index in axes)
    are_steps = len(steps) == len(axes) and all(map(_is_supported_step, steps, sizes, [edge_order] * len(sizes)))
    has_enough_elements = len(sizes) == len(axes) and all(isinstance(size, int) and size > edge_order for size in sizes)
    if not are_steps or not has_enough_elements or edge_order not in (1, 2) or x.dtype.is_bool:
        return call_numpy("gradient", x, *varargs, axis=axis, edge_order=edge_order)
    if x.dtype.is_integer:
        x = cast(x, np.float64)
    gradients = tuple(
        (_gradient_by_step if _is_number(step) else _gradient_by_coordinates)(x, axis_index, step, edge_order)
        for axis_index, step in zip(axes, steps, strict=True)
    )
    return gradients[0] if len(gradients) == 1 else gradients


def _is_number(step: TensorLike) -> bool:
    """Return whether the step is a Python number, or stands for one in a graph."""
    return type(step) in (int, float) or is_weak(step)


def _is_supported_step(step: TensorLike, size: Any, edge_order: int) -> bool:
    """Return whether the step of an axis is a number, or an array of float64 coordinates of the axis' elements.

    Coordinates are supported for `edge_order` 1 only.
    """
    if _is_number(step):
        return True
    if not isinstance(step, np.ndarray) and as_tensor(step) is None:
        return False
    coordinates = tensor(step)
    return coordinates.type.shape == (size,) and coordinates.dtype.numpy == np.float64 and edge_order == 1


def _gradient_by_coordinates(x: Tensor, axis: int, coordinates: TensorLike, edge_order: int) -> Any:
    """Weigh differences by the distances of coordinates; as in NumPy, equal distances are one uniform step."""
    points = tensor(coordinates)
    distances = apply("subtract", *_neighbours(points, 0))
    first_distance = _part_of_axis(distances, 0, None, 1)
    is_even = apply("reduce_all", apply("equal", distances, first_distance), axis=None)
    shape = tuple(-1 if i == axis else 1 for i in range(rank_of(x)))
    before, after = (
        apply("reshape", _part_of_axis(distances, 0, *bounds), shape=shape) for bounds in ((None, -1), (1, None))
    )

    part_of_axis = functools.partial(_part_of_axis, x, axis)
    sum_of_distances = apply("add", before, after)
    weights = (
        apply("divide", apply("negative", after), apply("multiply", before, sum_of_distances)),
        apply("divide", apply("subtract", after, before), apply("multiply", before, after)),
        apply("divide", before, apply("multiply", after, sum_of_distances)),
    )
    parts = part_of_axis(None, -2), part_of_axis(1, -1), part_of_axis(2, None)
    first, second, third = (call_ufunc(np.multiply, *pair) for pair in zip(weights, parts, strict=True))
    uneven = call_ufunc(np.add, call_ufunc(np.add, first, second), third)
    doubled = apply("multiply", tensor(2.0, np.float64), before)
    even = call_ufunc(np.true_divide, call_ufunc(np.subtract, parts[2], parts[0]), doubled)
    interior = apply("select", is_even, even, uneven)
    ends = [
        call_ufunc(np.true_divide, call_ufunc(np.subtract, part_of_axis(*later), part_of_axis(*earlier)), distance)
        for later, earlier, distance in (
            ((1, 2), (0, 1), apply("reshape", first_distance, shape=(1,) * rank_of(x))),
            ((-1, None), (-2, -1), _part_of_axis(after, axis, -1, stop=None)),
        )
    ]
    return apply("concat", *(cast(part, x.dtype.numpy) for part in (ends[0], interior, ends[1])), axis=axis)


def _part_of_axis(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Return the elements from `start` to `stop` along an axis; None stands for its beginning or its end."""
    return apply("get_item", x, spec=(*[Slice()] * axis, Slice(start, stop, None)))


def _gradient_by_step(x: Tensor, axis: int, step: TensorLike, edge_order: int) -> Any:
    """Return central differences along an axis for one step, and one-sided ones at the ends."""
    part_of_axis = functools.partial(_part_of_axis, x, axis)

    def difference_quotient(later: Tensor, earlier: Tensor, distance: Any) -> Any:
        return call_ufunc(np.true_divide, call_ufunc(np.subtract, later, earlier), distance)

    def weighted_sum(*terms: tuple[float, Tensor]) -> Any:
        products = [call_ufunc(np.multiply, call_ufunc(np.true_divide, weight, step), part) for weight, part in terms]
        return call_ufunc(np.add, call_ufunc(np.add, products[0], products[1]), products[2])

    interior = difference_quotient(part_of_axis(2, None), part_of_axis(None, -2), call_ufunc(np.multiply, 2.0, step))
    if edge_order == 1:
        first = difference_quotient(part_of_axis(1, 2), part_of_axis(0, 1), step)
        last = difference_quotient(part_of_axis(-1, None), part_of_axis(-2, -1), step)
    else:
        first = weighted_sum((-1.5, part_of_axis(0, 1)), (2.0, part_of_axis(1, 2)), (-0.5, part_of_axis(2, 3)))
        last = weighted_sum((0.5, part_of_axis(-3, -2)), (-2.0, part_of_axis(-2, -1)), (1.5, part_of_axis(-1, None)))
    return apply("concat", *(cast(part, x.dtype.numpy) for part in (first, interior, last)), axis=axis)
