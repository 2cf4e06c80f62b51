"""Products, quotients and powers of complex numbers by their parts, as NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_complex, sizes
from autoconv.backends.llvm.legalize.complex import elementary as functions
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Entry, Slice

Parts = tuple[Value, Value]
_MOST = 100  # exponents below it are lowered to products


def product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Multiply as NumPy does: arrays as its loops do, scalars as NumPy's and Python's scalars do."""
    arrays = any(value.shape for value in (x[0], y[0]))
    return fused_product(b, x, y) if arrays else plain_product(b, x, y)


def quotient(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Divide by Smith's method (Algorithm 116, 1962).

    It divides by the larger part of the divisor first, so that squares do not overflow.
    """
    (xr, xi), (yr, yi) = x, y
    upright = b.greater_equal(b.abs(yr), b.abs(yi))
    large, small = b.select(upright, yr, yi), b.select(upright, yi, yr)
    zero = b.equal(large, 0.0)  # then both parts are
    ratio = b.divide(small, large)
    scale = b.divide(1.0, b.add(large, b.multiply(small, ratio)))
    first, second = b.select(upright, xr, xi), b.select(upright, xi, xr)
    real = b.multiply(b.add(first, b.multiply(second, ratio)), scale)
    turned = b.multiply(first, ratio)
    imag = b.multiply(b.select(upright, b.subtract(second, turned), b.subtract(turned, second)), scale)
    size = b.abs(yr)
    return b.select(zero, b.divide(xr, size), real), b.select(zero, b.divide(xi, size), imag)


def fused_product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    (xr, xi), (yr, yi) = x, y
    real = b.multiply_add(xr, yr, b.negative(b.multiply(xi, yi)))
    return real, b.multiply_add(xr, yi, b.multiply(xi, yr))


def plain_product(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Multiply, with each step rounded."""
    (xr, xi), (yr, yi) = x, y
    return b.subtract(b.multiply(xr, yr), b.multiply(xi, yi)), b.add(b.multiply(xr, yi), b.multiply(xi, yr))


def power(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Raise to a power: to integers below 100 in magnitude by products, to others by the logarithm.

    Negative integers invert the product. The error of the logarithm's last digits grows with the exponent of the
    result. A power of 0 is 1, 0 or nan, depending on the exponent.
    """
    x, y = operands
    found = _power(b, node, x, y)
    none = b.logical_and(b.equal(x[0], 0.0), b.equal(x[1], 0.0))
    flat = b.logical_and(b.equal(y[0], 0.0), b.equal(y[1], 0.0))
    zero = b.zeros_like(found[0])
    nothing = b.select(b.greater(y[0], 0.0), zero, b.add(zero, float("nan")))
    real, imag = b.select(none, nothing, found[0]), b.select(none, nothing, found[1])
    return b.select(flat, b.ones_like(real), real), b.select(flat, zero, imag)


def _power(b: GraphBuilder, node: Node, x: Parts, y: Parts) -> Parts:
    exponent = node.inputs[1].node
    if exponent is not None and exponent.op.name == "constant":
        array = np.asarray(exponent.attributes["value"])
        numbers = np.unique(array)
        whole = (numbers.imag == 0) & (np.abs(numbers.real) < _MOST) & (numbers.real == np.trunc(numbers.real))
        shape = sizes(node.results[0].type)
        if numbers.size == 1 and whole.all() and sizes(node.inputs[0].type) == shape:
            return _power_of(b, x, int(numbers[0].real))
        if not whole.any():
            return _by_logarithm(b, x, y)
    (yr, yi) = y
    size = b.abs(yr)
    small = b.logical_and(b.less(size, float(_MOST)), b.logical_and(b.equal(yi, 0.0), b.equal(yr, b.trunc(yr))))
    by_squares, other = _by_squares(b, x, y, b.select(small, size, b.zeros_like(size))), _by_logarithm(b, x, y)
    return b.select(small, by_squares[0], other[0]), b.select(small, by_squares[1], other[1])


def _power_of(b: GraphBuilder, x: Parts, n: int) -> Parts:
    """Raise to a constant integer."""
    one = b.ones_like(x[0]), b.zeros_like(x[0])
    if abs(n) <= 3 and n > 0:
        squared = plain_product(b, x, x)
        return (x, squared, plain_product(b, x, squared))[n - 1]
    found, square, left = one, x, abs(n)
    while left:
        if left & 1:
            found = plain_product(b, found, square)
        left >>= 1
        if left:
            square = plain_product(b, square, square)
    return quotient(b, one, found) if n < 0 else found


def _by_squares(b: GraphBuilder, x: Parts, y: Parts, size: Value) -> Parts:
    """Raise to an integer for each element, of magnitude `size`, whose bits select the squares that are factors."""
    (yr, _), bits = y, b.cast(size, dtype=int64)
    like = b.add(b.zeros_like(x[0]), b.zeros_like(yr))  # the broadcast shape of both
    found: Parts = (b.ones_like(like), b.zeros_like(like))
    one, square = found, x
    squares = [x]
    for bit in range(7):
        is_set = b.not_equal(b.bitwise_and(bits, 1 << bit), 0)
        longer = plain_product(b, found, square)
        found = b.select(is_set, longer[0], found[0]), b.select(is_set, longer[1], found[1])
        square = plain_product(b, square, square)
        squares.append(square)
    for n, exact in ((1, x), (2, squares[1]), (3, plain_product(b, x, squares[1]))):
        this = b.equal(yr, float(n))
        found = b.select(this, exact[0], found[0]), b.select(this, exact[1], found[1])
    over = quotient(b, one, found)
    negative = b.less(yr, 0.0)
    return b.select(negative, over[0], found[0]), b.select(negative, over[1], found[1])


def _by_logarithm(b: GraphBuilder, x: Parts, y: Parts) -> Parts:
    """Return e to the product of exponent and logarithm; for float32 in float64, as float32 would lose digits."""
    narrow = x[0].dtype
    if narrow is not float64:
        wide = [tuple(b.cast(part, dtype=float64) for part in pair) for pair in (x, y)]
        real, imag = _by_logarithm(b, *wide)  # type: ignore[arg-type]
        return b.cast(real, dtype=narrow), b.cast(imag, dtype=narrow)
    size, angle = functions.log(b, *x)
    real, imag = plain_product(b, y, (size, angle))
    # With an infinite magnitude and an unknown angle, the product is still infinite (C's Annex G).
    lost = b.logical_and(b.is_inf(size), b.logical_and(b.is_nan(real), b.is_nan(imag)))
    one, none = b.copysign(b.ones_like(size), size), b.copysign(b.zeros_like(angle), angle)
    endless = plain_product(b, y, (one, none))
    real, imag = (
        b.select(lost, b.multiply(end, float("inf")), part) for end, part in zip(endless, (real, imag), strict=True)
    )
    return functions.exp(b, real, imag)


def prod(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Multiply along axes: up to 8 elements one by one; else the first half by the second, until one is left."""
    ((xr, xi),) = operands
    shape, axis_given = sizes(xr.type), node.attributes.get("axis")
    if not is_complex(node.results[0].type) or not node.attributes.keys() <= {"axis", "keepdims", "dtype"}:
        return None
    axes_given = (
        range(len(shape)) if axis_given is None else (axis_given,) if isinstance(axis_given, int) else axis_given
    )
    axes = sorted({axis % len(shape) for axis in axes_given})
    if not axes or 0 in shape or node.inputs[0].dtype is not node.results[0].dtype:
        return None
    total: Parts = (xr, xi)
    for axis in reversed(axes):
        total = _conjugate_symmetric(b, total, axis, shape[axis])
        if not node.attributes.get("keepdims"):
            total = _slice_parts(b, total, axis, At(0))
    return total


def _slice_parts(b: GraphBuilder, x: Parts, axis: int, index: Entry) -> Parts:
    spec = (*[Slice()] * axis, index)
    return b.get_item(x[0], spec=spec), b.get_item(x[1], spec=spec)


def _conjugate_symmetric(b: GraphBuilder, x: Parts, axis: int, size: int) -> Parts:
    if size <= 8:
        rows = [_slice_parts(b, x, axis, Slice(i, i + 1, None)) for i in range(size)]
        total = rows[0]
        for row in rows[1:]:
            total = product(b, total, row)
        return total
    while size > 1:
        half = size // 2
        paired = product(b, *(_slice_parts(b, x, axis, Slice(at, at + half, None)) for at in (0, half)))
        if size % 2:
            last = _slice_parts(b, x, axis, Slice(size - 1, size, None))
            paired = tuple(b.concat(one, other, axis=axis) for one, other in zip(paired, last, strict=True))
        x, size = paired, half + size % 2
    return x


__all__ = ["fused_product", "plain_product", "power", "prod", "product", "quotient"]
