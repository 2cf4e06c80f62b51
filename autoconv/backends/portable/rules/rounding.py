"""Rules of rounding to decimal digits, and of quotients of bools.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int8, int64
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS

_MAX_EXACT_POWER_OF_TEN = 22  # the largest n for which a float64 holds 10**n exactly
_SPLITTING_FACTOR = 2.0**27 + 1.0  # splits a float64 into two halves (Dekker, 1971)


@lowers("numpy_round")
def lower_round(writer: Rules, node: Node, x: Term) -> Term | None:
    """Round as NumPy does: integers are rounded to tens as float64."""
    if x.dtype.is_bool:
        return None
    decimals = node.attributes.get("decimals", 0)
    if decimals == 0:
        return writer.intrinsic("rint", x) if x.dtype.is_floating else x
    if decimals > 0:
        scale = float(10**decimals)
        return writer.intrinsic("rint", x * scale) / scale if x.dtype.is_floating else x
    tens = float(10**-decimals)
    number = x if x.dtype.is_floating else writer.cast(x, float64)
    return writer.cast(writer.intrinsic("rint", number / tens) * tens, x.dtype)


@lowers("python_round")
def python_round(writer: Rules, node: Node, x: Term) -> Term | None:
    """Round a float to digits, as Python does: the decimal number nearest to the exact value, ties to even.

    The product with a power of ten is computed with its rounding error (Dekker, 1971), whose sign decides where the
    product seems to be a tie.
    """
    digits = node.attributes["digits"]
    if digits is None or not x.dtype.is_floating or not 0 <= digits <= _MAX_EXACT_POWER_OF_TEN:
        return None
    scale = float(10**digits)
    is_large = writer.emit_unary("abs", x) >= 2.0**52  # an integer; inf and nan are not compared below
    small_x = writer.select(is_large | writer.is_nan(x), 0.0, x)
    product = small_x * scale
    error = _product_error(writer, small_x, scale, product)
    floor = writer.intrinsic("floor", product)
    is_tie = (product - floor).same(0.5)
    nearest_integer = writer.intrinsic("rint", product)
    resolved_tie = writer.select(error > 0.0, floor + 1.0, writer.select(error < 0.0, floor, nearest_integer))
    divisor = small_x * 0.0 + scale  # no constant: XLA multiplies by the reciprocals of constants
    rounded_x = writer.select(is_tie, resolved_tie, nearest_integer) / divisor
    is_product_exact = writer.emit_unary("abs", product) >= 2.0**52  # the product has no more digits to round
    result = writer.intrinsic("copysign", writer.select(is_product_exact, small_x, rounded_x), x)
    return writer.select(is_large | writer.is_nan(x), x, result)


def _product_error(writer: Rules, x: Term, scale: float, product: Term) -> Term:
    """Return the rounding error of a product: x·scale - product, exactly."""
    high_scale = scale * _SPLITTING_FACTOR - (scale * _SPLITTING_FACTOR - scale)
    low_scale = scale - high_scale
    bits = writer.bitcast(x, int64)
    high = writer.bitcast(bits & ~((1 << 27) - 1), x.dtype)  # the upper 26 bits of the fraction
    low = x - high
    return ((high * high_scale - product) + high * low_scale + low * high_scale) + low * low_scale


@lowers("floor_divide", "modulo")
def divide_bools(writer: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Divide bools as the int8 numbers that NumPy makes of them."""
    if not x.dtype.is_bool:
        return None
    x, y = writer.broadcast(writer.cast(x, int8), writer.cast(y, int8))
    result = ELEMENTS[node.op.name](writer, x, y)
    return None if result is None else writer.cast(result, node.results[0].dtype)
