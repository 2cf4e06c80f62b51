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


def _scaled_rule(order: int) -> Rule:
    """Return the rule of e^-|x|·I(x), where I is the modified Bessel function of this order."""
    series_coefficients, hankel_coefficients = {}, {}
    for dtype, start in _HANKEL_START.items():
        series_coefficients[dtype] = _truncate(_series(order), start**2 / 4, _PRECISION[dtype])
        hankel_coefficients[dtype] = _truncate(_hankel(order), 1.0 / start, _PRECISION[dtype])

    def rule(b: Elements, x: Any) -> Any:
        if x.dtype not in _HANKEL_START:
            return None
        magnitude = b.intrinsic("fabs", x)
        by_series = horner(b, magnitude * magnitude * 0.25, series_coefficients[x.dtype]) * apply(b, "exp", -magnitude)
        if order:
            by_series = by_series * (magnitude * 0.5)
        by_expansion = horner(b, 1.0 / magnitude, hankel_coefficients[x.dtype])
        by_expansion = by_expansion / (b.intrinsic("sqrt", magnitude) * math.sqrt(2.0 * math.pi))
        value = b.select(magnitude >= _HANKEL_START[x.dtype], by_expansion, by_series)
        return b.select(x < 0.0, -value, value) if order else value

    return rule


def _unscaled_rule(scaled_rule: Rule) -> Rule:
    """Return the rule of I(x); `scaled_rule` is that of e^-|x|·I(x)."""
    def rule(b: Elements, x: Any) -> Any:
        if x.dtype not in _HANKEL_START:
            return None
        return scaled_rule(b, x) * apply(b, "exp", b.intrinsic("fabs", x))

    return rule


i0e, i1e = element("bessel_i0e")(_scaled_rule(0)), element("bessel_i1e")(_scaled_rule(1))
i0, i1 = element("bessel_i0")(_unscaled_rule(i0e)), element("bessel_i1")(_unscaled_rule(i1e))
