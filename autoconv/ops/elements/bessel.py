"""Element rules of modified Bessel functions.

Small arguments use the power series (NIST's Digital Library, 10.25.2), large ones Hankel's expansion (10.40.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from autoconv.graph.dtypes import float32, float64
from autoconv.ops.elements.maths import apply, horner
from autoconv.ops.elements.registry import Elements, Rule, element

# From this argument on Hankel's expansion is used: its smallest term is below the precision there.
_HANKEL_START = {float32: 10.0, float64: 24.0}
_TERM_LIMIT = 64  # the number of terms of a series
_PRECISION = {float32: 1e-9, float64: 1e-17}  # of sums; smaller terms are left out, relative to the sum


def _series(order: int) -> Iterator[float]:
    """Yield the coefficients of I(x) / (x/2)^order as a power series in x²/4."""
    for k in itertools.count():
        yield 1.0 / (math.factorial(k) * math.factorial(k + order))


def _hankel(order: int) -> Iterator[float]:
    """Yield the coefficients of I(x)·sqrt(2πx) / e^x as a series in 1/x."""
    term = 1.0
    for k in itertools.count(1):
        yield term
        term *= ((2 * k - 1) ** 2 - 4 * order**2) / (8.0 * k)


def _truncate(coefficients: Iterator[float], x: float, precision: float) -> tuple[float, ...]:
    """Return the leading coefficients of a power series that affect its sum at x, the highest power first."""
    significant_coefficients: list[float] = []
    total = 0.0
    for power, coefficient in enumerate(coefficients):
        term = coefficient * x**power
        if power > _TERM_LIMIT or (power and abs(term) < precision * abs(total)):
            break
        significant_coefficients.append(coefficient)
        total += term
    return tuple(reversed(significant_coefficients))


def _sum_series(b: Elements, x: Any, coefficients: tuple[float, ...], order: int) -> Any:
    """Return I(x) / (x/2)^order from its power series in x²/4, corrected for the rounding error of the square.

    The factor of the error is a bound of the ratio of two functions of neighbouring orders (Amos, 1974).
    """
    square = x * x
    total = horner(b, square * 0.25, coefficients)
    ratio = 0.5 / (b.intrinsic("sqrt", square + (order + 1.0) ** 2) + (order + 0.75))  # I of order + 1 over 2x·I
    return b.fma(total, b.fma(x, x, -square) * ratio, total)


def _rule(order: int, is_scaled: bool) -> Rule:
    """Return the rule of I(x), the modified Bessel function of this order, or of e^-|x|·I(x)."""
    series_coefficients, hankel_coefficients = {}, {}
    for dtype, start in _HANKEL_START.items():
        series_coefficients[dtype] = _truncate(_series(order), start**2 / 4, _PRECISION[dtype])
        hankel_coefficients[dtype] = _truncate(_hankel(order), 1.0 / start, _PRECISION[dtype])

    def rule(b: Elements, x: Any) -> Any:
        """Return the function by its series below the start of Hankel's expansion, and by that above."""
        if x.dtype not in _HANKEL_START:
            return None
        magnitude, start = b.intrinsic("fabs", x), _HANKEL_START[x.dtype]
        is_far = magnitude >= start
        near, far = b.select(is_far, start, magnitude), b.select(is_far, magnitude, start)
        by_series = _sum_series(b, near, series_coefficients[x.dtype], order)
        if order:
            by_series = by_series * (near * 0.5)
        by_expansion = horner(b, 1.0 / far, hankel_coefficients[x.dtype])
        by_expansion = by_expansion / (b.intrinsic("sqrt", far) * math.sqrt(2.0 * math.pi))
        if is_scaled:
            by_series = by_series * apply(b, "exp", -near)
        else:
            by_expansion = by_expansion * apply(b, "exp", far)
        value = b.select(is_far, by_expansion, by_series)
        return b.select(x < 0.0, -value, value) if order else value

    return rule


i0e, i1e = element("bessel_i0e")(_rule(0, is_scaled=True)), element("bessel_i1e")(_rule(1, is_scaled=True))
i0, i1 = element("bessel_i0")(_rule(0, is_scaled=False)), element("bessel_i1")(_rule(1, is_scaled=False))
