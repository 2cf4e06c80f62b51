"""Elementary functions of complex numbers, by real ones: what C's Annex G says of infinities, nan and signs of zero holds.

Each rule is `(b, real, imag) -> (real, imag)`. Formulas are Kahan's (Branch cuts for complex elementary functions, 1987),
but for scales: powers of two that keep squares and exponentials within range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import float32
from autoconv.graph.graph import Value
from autoconv.ops.builder import GraphBuilder

Parts = tuple[Value, Value]


def _single(x: Value) -> bool:
    return x.type.dtype is float32  # type: ignore[union-attr]


def _copysign(b: GraphBuilder, size: Any, sign: Value) -> Any:
    """`size`, which is not negative, with the sign of `sign`, also of a zero."""
    bits = "int32" if _single(sign) else "int64"
    del bits
    negative = b.less(b.atan2(sign, b.ones_like(sign)), 0.0)
    return b.select(negative, b.negative(size), size)


def _powers(b: GraphBuilder, x: Value) -> tuple[Any, Any]:
    """Two factors whose product is e to the power of x, also where that would overflow before it meets a small one."""
    limit, step = (80.0, 80.0) if _single(x) else (700.0, 700.0)
    beyond = b.greater(x, limit)
    scale = float(np.exp(np.float64(step)))
    first = b.exp(b.select(beyond, b.subtract(x, step), x))
    return first, b.select(beyond, b.multiply(b.ones_like(x), scale), b.ones_like(x))


def exp(b: GraphBuilder, x: Value, y: Value) -> Parts:
    size, scale = _powers(b, x)
    zero = b.equal(y, 0.0)
    wild = b.logical_not(b.is_finite(y))
    none = b.logical_and(wild, b.equal(x, -np.inf))  # then it is zero
    endless = b.logical_and(wild, b.equal(x, np.inf))
    real = b.multiply(b.multiply(size, b.cos(y)), scale)
    imag = b.multiply(b.multiply(size, b.sin(y)), scale)
    real = b.select(endless, x, b.select(none, size, real))
    return real, b.select(zero, y, b.select(none, size, imag))


FUNCTIONS: dict[str, Callable[[GraphBuilder, Value, Value], Parts]] = {"exp": exp}
