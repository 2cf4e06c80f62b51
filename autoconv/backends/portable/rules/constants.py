"""Rules of constants, of sizes as values, ranges, checks and casts, and of a few elementwise ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.backends.portable.rules.python_complex import power
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Progression, Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import bfloat16, float32, float64, int16, int32, int64
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.elementwise.casts import common_bounds


@lowers("constant")
def constant(w: Rules, node: Node) -> Term | None:
    value, type_ = node.attributes["value"], node.results[0].type
    dtype = getattr(type_, "dtype", None)
    if dtype is None or dtype.is_string:
        return None
    array = np.asarray(value, dtype.numpy)
    return w.constant(array[()], dtype) if array.shape == () else w.array(array, dtype)


@lowers("eye")
def eye(w: Rules, node: Node, *dimensions: Term) -> Term | None:
    rows, columns, dtype = (node.attributes[name] for name in ("num_rows", "num_columns", "dtype"))
    if not dimensions and isinstance(rows, int) and isinstance(columns, int):
        return w.array(np.eye(rows, columns, dtype=dtype.numpy), dtype)
    if not dimensions or not w.can_be_sizes(*dimensions):
        return None
    shape, sizes = w.requested_sizes((rows, columns), w.check_sizes(node, dimensions[0]))
    row_numbers = w.iota((shape[0], 1), 0, int64, [sizes[0], 1])
    return w.cast(w.compare("eq", row_numbers, w.iota((1, shape[1]), 1, int64, [1, sizes[1]])), dtype)


@lowers("shape")
def shape(w: Rules, node: Node, x: Term) -> Term:
    dtype = node.attributes.get("dtype") or int32
    return w.cast(w.size_vector(x), dtype)


@lowers("dimension", "array_size")
def dimension(w: Rules, node: Node, x: Term) -> Term:
    return w.size_term(x, node.attributes["axis"] % x.rank, node.results[0].dtype)


@lowers("size")
def size(w: Rules, node: Node, x: Term) -> Term:
    dtype = node.results[0].dtype
    total: Any = w.constant(1, dtype)
    for axis in range(x.rank):
        total = total * w.size_term(x, axis, dtype)
    return total


@lowers("rank")
def rank(w: Rules, node: Node, x: Term) -> Term:
    return w.constant(x.rank, node.results[0].dtype)


@lowers("broadcast_shape")
def broadcast_shape(w: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Broadcast two shapes, which are vectors of sizes."""
    (x_rank,), (y_rank,) = x.shape, y.shape
    if not isinstance(x_rank, int) or not isinstance(y_rank, int):
        return None
    rank, one = max(x_rank, y_rank), w.constant(1, x.dtype)
    x, y = (w.pad(sizes, one, [rank - count], [0]) for sizes, count in ((x, x_rank), (y, y_rank)))
    w.fail(~(x.same(1) | y.same(1) | x.same(y)))
    return w.select(x.same(1), y, x)


@lowers("range")
def lower_range(w: Rules, node: Node, start: Term, limit: Term, delta: Term) -> Term | Progression | None:
    """Return the numbers of a range: an array, or a progression if the length is open."""
    (size,) = node.results[0].shape or (None,)
    if isinstance(size, int):
        return start + w.iota((size,), 0, start.dtype) * delta
    is_zero = delta.same(0)
    if not start.dtype.is_integer:
        if not w.can_be_sizes(start, limit, delta):
            return None
        w.fail(is_zero)
        float_length = w.intrinsic("ceil", (limit - start) / w.select(is_zero, 1.0, delta))
        count = w.as_size(w.select(float_length > 0.0, float_length, 0.0))
        return start + w.iota((None,), 0, start.dtype, [count]) * delta
    w.fail(is_zero)
    step = w.select(is_zero, 1, delta)
    is_ascending = step > 0
    distance = w.select(is_ascending, limit - start, start - limit)
    length = w.divide(distance + w.select(is_ascending, step, -step) - 1, w.select(is_ascending, step, -step))
    length = w.select(distance > 0, length, 0)
    return Progression(start, step, length)


@lowers("linspace")
def linspace(w: Rules, node: Node, start: Term, stop: Term, *open_count: Term) -> Term | None:
    """Interpolate as NumPy does: start + i·step, and the last number is `stop` itself."""
    shape = node.results[0].shape
    count = None if shape is None or not shape else shape[0]
    if not start.dtype.is_floating:
        return None
    start, stop = w.broadcast(start, stop)
    if open_count and w.can_be_sizes(*open_count):
        return _open_linspace(w, start, stop, open_count[0])
    if not isinstance(count, int) or open_count or count == 0:
        return None
    position = w.reshape(w.iota((count,), 0, start.dtype), (count, *[1] * start.rank))
    if count == 1:
        return w.reshape(start, (1, *start.shape))
    point = position * ((stop - start) / float(count - 1)) + start
    return w.select(position.same(float(count - 1)), stop, point)


def _open_linspace(w: Rules, start: Term, stop: Term, point_count: Term) -> Term:
    """Interpolate at a number of points that is a value of the graph."""
    w.fail(point_count < 0)
    ones, count = [1] * start.rank, w.as_size(point_count)
    position = w.reshape(w.iota((None,), 0, start.dtype, [count]), (None, *ones), [count, *ones])
    last_position = w.cast(point_count, start.dtype) - 1.0
    point = position * ((stop - start) / w.select(last_position > 0.0, last_position, 1.0)) + start
    return w.select(position.same(last_position) & (position > 0.0), stop, point)


@lowers("assert_true")
def assert_true(w: Rules, node: Node, condition: Term, *_: Term) -> list[Term]:
    w.fail(~condition)
    return []


@lowers("raise")
def lower_raise(w: Rules, node: Node, *_: Term) -> list[Term]:
    w.fail(w.constant(True, w.condition_dtype))
    return []


@lowers("check_numerics")
def check_numerics(w: Rules, node: Node, x: Term) -> Term:
    w.fail(~(w.emit_unary("abs", x) < float("inf")))
    return x


@lowers("ensure_shape", "ensure_same_shape")
def ensure_shape(w: Rules, node: Node, x: Term, *_: Term) -> Term:
    return x


@lowers("identity", "outline", "numpy_read_only", "stop_gradient")
def identity(w: Rules, node: Node, x: Term) -> Term:
    return x


@lowers("absent")
def absent(w: Rules, node: Node) -> Term | None:
    """Return zeros for a value that nothing reads."""
    type_ = node.results[0].type
    shape = getattr(type_, "shape", None)
    if shape is None or not all(isinstance(size, int) for size in shape):
        return None
    return w.expand(w.constant(0, type_.dtype), shape)  # type: ignore[union-attr]


@lowers("real", "imag", "conjugate", "angle")
def complex_parts(w: Rules, node: Node, x: Term) -> Term:
    name = node.op.name
    if x.dtype.is_complex:
        if name == "conjugate":
            return w.pair(w.emit_unary("real", x), -w.emit_unary("imag", x))
        if name == "angle":
            return w.libm("atan2", w.emit_unary("imag", x), w.emit_unary("real", x))
        return w.emit_unary(name, x)
    if name == "angle":
        return _real_angle(w, x)
    return w.fill_like(x, 0, x.dtype) if name == "imag" else x


def _real_angle(w: Rules, x: Term) -> Term:
    angle = w.select(x < 0.0, w.constant(np.pi, x.dtype), 0.0)
    return w.select(w.is_nan(x), x, angle)


@lowers("bitcast_rows")
@lowers("bitcast")
def bitcast(w: Rules, node: Node, x: Term) -> Term:
    return w.bitcast(x, node.attributes["dtype"])


@lowers("nextafter")
def nextafter(w: Rules, node: Node, x: Term, y: Term) -> Term:
    """Increment or decrement the bits as an integer with the order of the floats.

    Arithmetic on floats may flush subnormal numbers to 0. The bits of negative floats, read as integers, have the
    reverse order.
    """
    x, y = w.broadcast(x, y)
    dtype = {2: int16, 4: int32, 8: int64}[x.dtype.size]
    bits = w.bitcast(x, dtype)
    y_bits = w.bitcast(y, dtype)
    order_of_x, order_of_y = (w.select(number < 0, dtype.min - number, number) for number in (bits, y_bits))
    next_order = w.select(order_of_x < order_of_y, order_of_x + 1, order_of_x - 1)
    is_negative = (next_order < 0) | (next_order.same(0) & (bits < 0))
    neighbour = w.bitcast(w.select(is_negative, dtype.min - next_order, next_order), x.dtype)
    return w.select(w.is_nan(x) | w.is_nan(y), math.nan, w.select(order_of_x.same(order_of_y), y, neighbour))


@lowers("saturate_cast")
def saturate_cast(w: Rules, node: Node, x: Term) -> Term | None:
    dtype = node.attributes["dtype"]
    if dtype.is_complex or x.dtype.is_complex:
        return None
    if x.dtype.is_bool or dtype.is_bool:
        return w.cast(x, dtype)
    x = w.cast(x, float32) if x.dtype is bfloat16 else x
    low, high = (bound.item() if hasattr(bound, "item") else bound for bound in common_bounds(x.dtype, dtype))
    bounded_x = w.select(x < low, low, x)
    result = w.cast(w.select(x > high, high, bounded_x), dtype)
    if x.dtype.is_integer or dtype.is_floating:
        return result
    return w.select(w.is_nan(x), 0, w.select(x > high, dtype.max, result))


@lowers("xlogy", "xdivy")
def zero_preserving(w: Rules, node: Node, x: Term, y: Term) -> Term:
    """Return x·log(y) or x/y, and 0 where x is 0."""
    x, y = w.broadcast(x, y)
    result = x * w.libm("log", y) if node.op.name == "xlogy" else x / y
    return w.select(x.same(0.0) & ~w.is_nan(y), 0.0, result)


@lowers("logaddexp")
def logaddexp(w: Rules, node: Node, x: Term, y: Term) -> Term:
    """Return log(exp(x) + exp(y)), computed from the larger one so that nothing overflows."""
    x, y = w.broadcast(x, y)
    large, small = w.select(x > y, x, y), w.select(x > y, y, x)
    total = large + w.libm("log1p", w.libm("exp", small - large))
    return w.select(x.same(y), x + w.constant(float(np.log(2.0)), x.dtype), total)


@lowers("numpy_clip")
def clip(w: Rules, node: Node, x: Term, low: Term, high: Term) -> Term | None:
    if not (x.dtype is low.dtype is high.dtype):
        return None
    x, low, high = w.broadcast(x, low, high)
    if x.dtype.is_floating:
        x = w.select((x < low) | w.is_nan(low), low, x)
        return w.select((x > high) | w.is_nan(high), high, x)
    x = w.select(x < low, low, x)
    return w.select(x > high, high, x)


@lowers("numpy_copy")
def copy(w: Rules, node: Node, x: Term) -> Term | None:
    method = node.attributes["method"]
    if method == "astype":
        return w.cast(x, node.attributes["dtype"])
    if method == "flatten":
        return w.flatten(x)
    return x if method == "copy" else None


@lowers("python_power")
def python_power(w: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Raise to a power as Python does. The element rule would set the error word in cases that are no errors."""
    if x.dtype.is_complex or y.dtype.is_complex:
        return power(w, x, y)
    if not (x.dtype.is_floating or y.dtype.is_floating):
        return ELEMENTS["python_power"](w, x, y)  # type: ignore[no-any-return]
    x, y = w.broadcast(w.cast(x, float64), w.cast(y, float64))
    is_integer = w.emit_unary("floor", y).same(y)
    w.fail((x.same(0.0) & (y < 0.0)) | ((x < 0.0) & ~is_integer))
    result = w.libm("pow", x, y)
    is_finite = (w.emit_unary("abs", x) < math.inf) & (w.emit_unary("abs", y) < math.inf)
    w.fail(is_finite & w.emit_unary("abs", result).same(math.inf))
    return result
