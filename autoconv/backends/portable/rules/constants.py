"""Rules of constants, sizes as values, ranges, checks, casts, and a few elementwise ops.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.backends.portable.rules.python_complex import power
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Progression, Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import bfloat16, float32, float64, int32, int64
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.elementwise.casts import common_bounds


@lowers("constant")
def constant(writer: Rules, node: Node) -> Term | None:
    """Write a constant number or array; None for strings and objects."""
    value, type_ = node.attributes["value"], node.results[0].type
    dtype = getattr(type_, "dtype", None)
    if dtype is None or dtype.is_string:
        return None
    array = np.asarray(value, dtype.numpy)
    return writer.constant(array[()], dtype) if array.shape == () else writer.array(array, dtype)


@lowers("eye")
def eye(writer: Rules, node: Node, sizes_vector: Term | None = None) -> Term | None:
    """Write an identity matrix; `sizes_vector` has the sizes that the graph computes."""
    rows, columns, dtype = (node.attributes[name] for name in ("num_rows", "num_columns", "dtype"))
    if sizes_vector is None and isinstance(rows, int) and isinstance(columns, int):
        return writer.array(np.eye(rows, columns, dtype=dtype.numpy), dtype)
    if sizes_vector is None or not writer.can_be_sizes(sizes_vector):
        return None
    shape, sizes = writer.requested_sizes((rows, columns), writer.check_sizes(node, sizes_vector))
    row_numbers = writer.iota((shape[0], 1), 0, int64, [sizes[0], 1])
    return writer.cast(writer.compare("eq", row_numbers, writer.iota((1, shape[1]), 1, int64, [1, sizes[1]])), dtype)


@lowers("shape")
def shape(writer: Rules, node: Node, x: Term) -> Term:
    """Return the shape as a vector."""
    dtype = node.attributes.get("dtype") or int32
    return writer.cast(writer.shape_of(x), dtype)


@lowers("dimension", "array_size")
def dimension(writer: Rules, node: Node, x: Term) -> Term:
    """Return the size along an axis."""
    return writer.size_term(x, node.attributes["axis"] % x.rank, node.results[0].dtype)


@lowers("size")
def size(writer: Rules, node: Node, x: Term) -> Term:
    """Return the number of elements."""
    dtype = node.results[0].dtype
    total: Any = writer.constant(1, dtype)
    for axis in range(x.rank):
        total = total * writer.size_term(x, axis, dtype)
    return total


@lowers("rank")
def rank(writer: Rules, node: Node, x: Term) -> Term:
    """Return the number of dimensions."""
    return writer.constant(x.rank, node.results[0].dtype)


@lowers("broadcast_shape")
def broadcast_shape(writer: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Broadcast two shapes, which are vectors of sizes."""
    (x_rank,), (y_rank,) = x.shape, y.shape
    if not isinstance(x_rank, int) or not isinstance(y_rank, int):
        return None
    rank, one = max(x_rank, y_rank), writer.constant(1, x.dtype)
    x, y = (writer.pad(sizes, one, [rank - count], [0]) for sizes, count in ((x, x_rank), (y, y_rank)))
    writer.fail_if(~(x.same(1) | y.same(1) | x.same(y)))
    return writer.select(x.same(1), y, x)


@lowers("range")
def lower_range(writer: Rules, node: Node, start: Term, limit: Term, delta: Term) -> Term | Progression | None:
    """Return the numbers of a range: an array, or a progression for integers of open length."""
    (size,) = node.results[0].shape or (None,)
    if isinstance(size, int):
        return start + writer.iota((size,), 0, start.dtype) * delta
    is_zero = delta.same(0)
    if not start.dtype.is_integer:
        if not writer.can_be_sizes(start, limit, delta):
            return None
        writer.fail_if(is_zero)
        float_length = writer.intrinsic("ceil", (limit - start) / writer.select(is_zero, 1.0, delta))
        count = writer.as_size(writer.select(float_length > 0.0, float_length, 0.0))
        return start + writer.iota((None,), 0, start.dtype, [count]) * delta
    writer.fail_if(is_zero)
    step = writer.select(is_zero, 1, delta)
    is_ascending = step > 0
    distance = writer.select(is_ascending, limit - start, start - limit)
    magnitude = writer.select(is_ascending, step, -step)
    length = writer.divide(distance + magnitude - 1, magnitude)
    length = writer.select(distance > 0, length, 0)
    return Progression(start, step, length)


@lowers("linspace")
def linspace(writer: Rules, node: Node, start: Term, stop: Term, open_count: Term | None = None) -> Term | None:
    """Interpolate as NumPy does: start + i·step, and the last number is `stop` itself."""
    shape = node.results[0].shape
    count = None if shape is None or not shape else shape[0]
    if not start.dtype.is_floating:
        return None
    start, stop = writer.broadcast(start, stop)
    if open_count is not None and writer.can_be_sizes(open_count):
        return _open_linspace(writer, start, stop, open_count)
    if not isinstance(count, int) or open_count is not None or count == 0:
        return None
    position = writer.reshape(writer.iota((count,), 0, start.dtype), (count, *[1] * start.rank))
    if count == 1:
        return writer.reshape(start, (1, *start.shape))
    point = position * ((stop - start) / float(count - 1)) + start
    return writer.select(position.same(float(count - 1)), stop, point)


def _open_linspace(writer: Rules, start: Term, stop: Term, point_count: Term) -> Term:
    """Interpolate at a number of points that is a value of the graph."""
    writer.fail_if(point_count < 0)
    ones, count = [1] * start.rank, writer.as_size(point_count)
    position = writer.reshape(writer.iota((None,), 0, start.dtype, [count]), (None, *ones), [count, *ones])
    last_position = writer.cast(point_count, start.dtype) - 1.0
    point = position * ((stop - start) / writer.select(last_position > 0.0, last_position, 1.0)) + start
    return writer.select(position.same(last_position) & (position > 0.0), stop, point)


@lowers("assert_true")
def assert_true(writer: Rules, node: Node, condition: Term, *message_operands: Term) -> list[Term]:
    """Fail where the condition is false; the operands of the message are not needed."""
    writer.fail_if(~condition)
    return []


@lowers("raise")
def lower_raise(writer: Rules, node: Node, *message_operands: Term) -> list[Term]:
    """Fail in any case; the operands of the message are not needed."""
    writer.fail_if(writer.constant(True, writer.condition_dtype))
    return []


@lowers("check_numerics")
def check_numerics(writer: Rules, node: Node, x: Term) -> Term:
    """Return the operand; infinite and nan elements fail."""
    writer.fail_if(~(writer.emit_unary("abs", x) < float("inf")))
    return x


@lowers("ensure_shape", "ensure_same_shape")
def ensure_shape(writer: Rules, node: Node, x: Term, model: Term | None = None) -> Term:
    """Return `x`; an open size fails unless it is that of `model`, or that of the attribute `shape`."""
    required_shape = model.shape if model is not None else node.attributes["shape"] or ()
    for axis, (size, required_size) in enumerate(zip(x.shape, required_shape, strict=False)):
        is_known = isinstance(size, int) and isinstance(required_size, int)
        if not is_known and (model is not None or required_size is not None):
            required = writer.size_term(model, axis, int64) if model is not None else required_size
            writer.fail_if(writer.size_term(x, axis, int64).differs(required))
    return x


@lowers("identity", "shape_placeholder", "numpy_read_only", "stop_gradient")
def identity(writer: Rules, node: Node, x: Term) -> Term:
    """Return the operand itself."""
    return x


@lowers("absent")
def absent(writer: Rules, node: Node) -> Term | None:
    """Return zeros for a value that nothing reads."""
    type_ = node.results[0].type
    shape = getattr(type_, "shape", None)
    if shape is None or not all(isinstance(size, int) for size in shape):
        return None
    return writer.expand(writer.constant(0, type_.dtype), shape)  # type: ignore[union-attr]


@lowers("real", "imag", "conjugate", "angle")
def complex_parts(writer: Rules, node: Node, x: Term) -> Term:
    """Return the real or imaginary part, the conjugate or the angle of complex or real numbers."""
    name = node.op.name
    if x.dtype.is_complex:
        if name == "conjugate":
            return writer.pair(writer.emit_unary("real", x), -writer.emit_unary("imag", x))
        if name == "angle":
            return writer.libm("atan2", writer.emit_unary("imag", x), writer.emit_unary("real", x))
        return writer.emit_unary(name, x)
    if name == "angle":
        return _real_angle(writer, x)
    return writer.fill_like(x, 0, x.dtype) if name == "imag" else x


def _real_angle(writer: Rules, x: Term) -> Term:
    """Return the angle of real numbers: 0, or π for negative ones."""
    angle = writer.select(x < 0.0, writer.constant(np.pi, x.dtype), 0.0)
    return writer.select(writer.is_nan(x), x, angle)


@lowers("bitcast_rows")
@lowers("bitcast")
def bitcast(writer: Rules, node: Node, x: Term) -> Term:
    """Read the bits as the dtype of the attribute."""
    return writer.bitcast(x, node.attributes["dtype"])


@lowers("saturate_cast")
def saturate_cast(writer: Rules, node: Node, x: Term) -> Term | None:
    """Convert with the bounds of the target as limits; NaN is 0 as an integer. None for complex numbers."""
    dtype = node.attributes["dtype"]
    if dtype.is_complex or x.dtype.is_complex:
        return None
    if x.dtype.is_bool or dtype.is_bool:
        return writer.cast(x, dtype)
    x = writer.cast(x, float32) if x.dtype is bfloat16 else x
    low, high = (bound.item() if hasattr(bound, "item") else bound for bound in common_bounds(x.dtype, dtype))
    bounded_x = writer.select(x < low, low, x)
    result = writer.cast(writer.select(x > high, high, bounded_x), dtype)
    if x.dtype.is_integer or dtype.is_floating:
        return result
    return writer.select(writer.is_nan(x), 0, writer.select(x > high, dtype.max, result))


@lowers("xlogy", "xdivy")
def zero_preserving(writer: Rules, node: Node, x: Term, y: Term) -> Term:
    """Return x·log(y) or x/y, and 0 where x is 0 and y is no nan."""
    x, y = writer.broadcast(x, y)
    result = x * writer.libm("log", y) if node.op.name == "xlogy" else x / y
    return writer.select(x.same(0.0) & ~writer.is_nan(y), 0.0, result)


@lowers("logaddexp")
def logaddexp(writer: Rules, node: Node, x: Term, y: Term) -> Term:
    """Return log(exp(x) + exp(y)), computed from the larger one so that nothing overflows."""
    x, y = writer.broadcast(x, y)
    large, small = writer.select(x > y, x, y), writer.select(x > y, y, x)
    total = large + writer.libm("log1p", writer.libm("exp", small - large))
    return writer.select(x.same(y), x + writer.constant(float(np.log(2.0)), x.dtype), total)


@lowers("numpy_clip")
def clip(writer: Rules, node: Node, x: Term, low: Term, high: Term) -> Term | None:
    """Clip to bounds of the same dtype; a NaN in a bound is the result."""
    if not (x.dtype is low.dtype is high.dtype):
        return None
    x, low, high = writer.broadcast(x, low, high)
    if x.dtype.is_floating:
        x = writer.select((x < low) | writer.is_nan(low), low, x)
        return writer.select((x > high) | writer.is_nan(high), high, x)
    x = writer.select(x < low, low, x)
    return writer.select(x > high, high, x)


@lowers("numpy_copy")
def copy(writer: Rules, node: Node, x: Term) -> Term | None:
    """Copy, flatten or convert; None for other methods."""
    method = node.attributes["method"]
    if method == "astype":
        return writer.cast(x, node.attributes["dtype"])
    if method == "flatten":
        return writer.flatten(x)
    return x if method == "copy" else None


@lowers("python_power")
def python_power(writer: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Raise to a power as Python does; for floats, the element rule would set the error word without an error too."""
    if x.dtype.is_complex or y.dtype.is_complex:
        return power(writer, x, y)
    if not (x.dtype.is_floating or y.dtype.is_floating):
        return ELEMENTS["python_power"](writer, x, y)  # type: ignore[no-any-return]
    x, y = writer.broadcast(writer.cast(x, float64), writer.cast(y, float64))
    is_integer = writer.emit_unary("floor", y).same(y)
    writer.fail_if((x.same(0.0) & (y < 0.0)) | ((x < 0.0) & ~is_integer))
    result = writer.libm("pow", x, y)
    is_finite = (writer.emit_unary("abs", x) < math.inf) & (writer.emit_unary("abs", y) < math.inf)
    writer.fail_if(is_finite & writer.emit_unary("abs", result).same(math.inf))
    return result
