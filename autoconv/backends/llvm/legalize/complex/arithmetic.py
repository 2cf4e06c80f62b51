"""Products, quotients and powers of complex numbers by their parts, as NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_complex, sizes
from autoconv.backends.llvm.legalize.complex import elementary
from autoconv.backends.llvm.legalize.complex.parts import Parts
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Entry, Slice

_MAX_EXPONENT = 100  # exponents below it are lowered to products


def product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Multiply as NumPy does: arrays with fused multiply-adds, scalars with each step rounded."""
    are_arrays = any(value.shape for value in (x[0], y[0]))
    return fused_product(b, x, y) if are_arrays else plain_product(b, x, y)


def quotient(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Divide by Smith's method (Algorithm 116, 1962).

    The larger part of the divisor divides first, so that squares do not overflow.
    """
    (xr, xi), (yr, yi) = x, y
    is_real_max = b.greater_equal(b.abs(yr), b.abs(yi))
    larger_part, smaller_part = b.select(is_real_max, yr, yi), b.select(is_real_max, yi, yr)
    is_divisor_zero = b.equal(larger_part, 0.0)  # then both parts are 0
    ratio = b.divide(smaller_part, larger_part)
    scale = b.divide(1.0, b.add(larger_part, b.multiply(smaller_part, ratio)))
    first, second = b.select(is_real_max, xr, xi), b.select(is_real_max, xi, xr)
    real = b.multiply(b.add(first, b.multiply(second, ratio)), scale)
    scaled_first = b.multiply(first, ratio)
    imag = b.multiply(b.select(is_real_max, b.subtract(second, scaled_first), b.subtract(scaled_first, second)), scale)
    magnitude = b.abs(yr)
    real = b.select(is_divisor_zero, b.divide(xr, magnitude), real)
    return real, b.select(is_divisor_zero, b.divide(xi, magnitude), imag)


def fused_product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Multiply with fused multiply-adds, which are rounded once."""
    (xr, xi), (yr, yi) = x, y
    real = b.multiply_add(xr, yr, b.negative(b.multiply(xi, yi)))
    return real, b.multiply_add(xr, yi, b.multiply(xi, yr))


def plain_product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Multiply, with each step rounded."""
    (xr, xi), (yr, yi) = x, y
    return b.subtract(b.multiply(xr, yr), b.multiply(xi, yi)), b.add(b.multiply(xr, yi), b.multiply(xi, yr))


def power(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Raise to a power: by products for integers below 100 in magnitude, by the logarithm for other exponents.

    Negative integers invert the product. The error of the logarithm's last digits grows with the exponent of the
    result. A power of 0 is 1, 0 or nan, depending on the exponent.
    """
    x, y = operands
    parts = _power(b, node, x, y)
    is_base_zero = b.logical_and(b.equal(x[0], 0.0), b.equal(x[1], 0.0))
    is_exponent_zero = b.logical_and(b.equal(y[0], 0.0), b.equal(y[1], 0.0))
    zero = b.zeros_like(parts[0])
    power_of_zero = b.select(b.greater(y[0], 0.0), zero, b.add(zero, float("nan")))
    real, imag = b.select(is_base_zero, power_of_zero, parts[0]), b.select(is_base_zero, power_of_zero, parts[1])
    return b.select(is_exponent_zero, b.ones_like(real), real), b.select(is_exponent_zero, zero, imag)


def _power(b: GraphBuilder, node: Node, x: Parts, y: Parts) -> Parts:
    """Raise a number that is not 0 to a power."""
    exponent = node.inputs[1].node
    if exponent is not None and exponent.op.name == "constant":
        array = np.asarray(exponent.attributes["value"])
        numbers = np.unique(array)
        is_integer = (numbers.imag == 0) & (numbers.real == np.trunc(numbers.real))
        is_integer &= np.abs(numbers.real) < _MAX_EXPONENT
        shape = sizes(node.results[0].type)
        if numbers.size == 1 and is_integer.all() and sizes(node.inputs[0].type) == shape:
            return _power_of_constant(b, x, int(numbers[0].real))
        if not is_integer.any():
            return _power_by_logarithm(b, x, y)
    (yr, yi) = y
    magnitude = b.abs(yr)
    is_integer = b.logical_and(b.equal(yi, 0.0), b.equal(yr, b.trunc(yr)))
    is_small = b.logical_and(b.less(magnitude, float(_MAX_EXPONENT)), is_integer)
    by_squaring = _power_by_squaring(b, x, y, b.select(is_small, magnitude, b.zeros_like(magnitude)))
    by_logarithm = _power_by_logarithm(b, x, y)
    return b.select(is_small, by_squaring[0], by_logarithm[0]), b.select(is_small, by_squaring[1], by_logarithm[1])


def _power_of_constant(b: GraphBuilder, x: Parts, n: int) -> Parts:
    """Raise to a constant integer."""
    one = b.ones_like(x[0]), b.zeros_like(x[0])
    if n == 1:
        return x
    if n in (2, 3):
        x_squared = plain_product(b, x, x)
        return x_squared if n == 2 else plain_product(b, x, x_squared)
    result, square, remaining_exponent = one, x, abs(n)
    while remaining_exponent:
        if remaining_exponent & 1:
            result = plain_product(b, result, square)
        remaining_exponent >>= 1
        if remaining_exponent:
            square = plain_product(b, square, square)
    return quotient(b, one, result) if n < 0 else result


def _power_by_squaring(b: GraphBuilder, x: Parts, y: Parts, magnitude: Value) -> Parts:
    """Raise each element to its own integer: the bits of its `magnitude` select the repeated squares to multiply."""
    (yr, _), bits = y, b.cast(magnitude, dtype=int64)
    broadcast_zeros = b.add(b.zeros_like(x[0]), b.zeros_like(yr))  # the broadcast shape of both
    result: Parts = (b.ones_like(broadcast_zeros), b.zeros_like(broadcast_zeros))
    one, square = result, x
    squares = [x]
    for bit in range(_MAX_EXPONENT.bit_length()):
        is_set = b.not_equal(b.bitwise_and(bits, 1 << bit), 0)
        next_result = plain_product(b, result, square)
        result = b.select(is_set, next_result[0], result[0]), b.select(is_set, next_result[1], result[1])
        square = plain_product(b, square, square)
        squares.append(square)
    for n, exact_power in ((1, x), (2, squares[1]), (3, plain_product(b, x, squares[1]))):
        is_exponent = b.equal(yr, float(n))
        result = b.select(is_exponent, exact_power[0], result[0]), b.select(is_exponent, exact_power[1], result[1])
    inverse = quotient(b, one, result)
    is_negative = b.less(yr, 0.0)
    return b.select(is_negative, inverse[0], result[0]), b.select(is_negative, inverse[1], result[1])


def _power_by_logarithm(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Return exp(y · log(x)), computed in float64: in float32, digits would be lost."""
    dtype = x[0].dtype
    if dtype is not float64:
        float64_pairs = [tuple(b.cast(part, dtype=float64) for part in pair) for pair in (x, y)]
        real, imag = _power_by_logarithm(b, *float64_pairs)  # type: ignore[arg-type]
        return b.cast(real, dtype=dtype), b.cast(imag, dtype=dtype)
    log_magnitude, angle = elementary.log(b, *x)
    real, imag = plain_product(b, y, (log_magnitude, angle))
    # With an infinite magnitude and an unknown angle, the product is still infinite (C's Annex G).
    is_lost = b.logical_and(b.is_inf(log_magnitude), b.logical_and(b.is_nan(real), b.is_nan(imag)))
    one, zero = b.copysign(b.ones_like(log_magnitude), log_magnitude), b.copysign(b.zeros_like(angle), angle)
    infinite_product = plain_product(b, y, (one, zero))
    pairs = zip(infinite_product, (real, imag), strict=True)
    real, imag = (b.select(is_lost, b.multiply(infinite, float("inf")), part) for infinite, part in pairs)
    return elementary.exp(b, real, imag)


def reduce_prod_rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Multiply along axes, as NumPy does: up to 8 elements in order; more by multiplying one half by the other."""
    is_cast = node.inputs[0].dtype is not node.results[0].dtype
    if is_cast or not is_complex(node.results[0].type) or not node.attributes.keys() <= {"axis", "keepdims", "dtype"}:
        return None
    ((xr, xi),) = operands
    shape, axis_attribute = sizes(xr.type), node.attributes.get("axis")
    reduced_axes = range(len(shape)) if axis_attribute is None else axis_attribute
    if isinstance(reduced_axes, int):
        reduced_axes = (reduced_axes,)
    axes = sorted({axis % len(shape) for axis in reduced_axes})
    if not axes or 0 in shape:
        return None
    total: Parts = (xr, xi)
    for axis in reversed(axes):
        total = _multiply_along_axis(b, total, axis, shape[axis])
        if not node.attributes.get("keepdims"):
            total = _slice_parts(b, total, axis, At(0))
    return total


def _slice_parts(b: GraphBuilder, x: Parts, axis: int, index: Entry) -> Parts:
    spec = (*[Slice()] * axis, index)
    return b.get_item(x[0], spec=spec), b.get_item(x[1], spec=spec)


def _multiply_along_axis(b: GraphBuilder, x: Parts, axis: int, size: int) -> Parts:
    """Return the product along an axis, which keeps the size 1, in NumPy's order."""
    if size <= 8:
        slices = [_slice_parts(b, x, axis, Slice(i, i + 1, None)) for i in range(size)]
        total = slices[0]
        for slice_ in slices[1:]:
            total = product(b, total, slice_)
        return total
    while size > 1:
        half = size // 2
        products = product(b, *(_slice_parts(b, x, axis, Slice(start, start + half, None)) for start in (0, half)))
        if size % 2:
            last_slice = _slice_parts(b, x, axis, Slice(size - 1, size, None))
            pairs = zip(products, last_slice, strict=True)
            products = tuple(b.concat(part, last_part, axis=axis) for part, last_part in pairs)
        x, size = products, half + size % 2
    return x
