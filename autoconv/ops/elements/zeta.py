"""Element rules of sums of inverse powers: Hurwitz' zeta function and the polygamma functions.

The first terms are added one by one, the others by the Euler-Maclaurin formula (NIST Digital Library of Mathematical
Functions, 5.15 and 25.11.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.graph.dtypes import float64
from autoconv.ops.elements.incomplete_gamma_beta import MAX_TERMS, in_float64
from autoconv.ops.elements.registry import Elements, element

_EULER_MACLAURIN = (  # (2j)! / B(2j) for j = 1 …
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000 / 691, 74724249600.0, -10670622842880000 / 3617,
    5109094217170944000 / 43867,
)  # fmt: skip
_MIN_POSITION = -10_000.0  # below it the functions return nan: they would sum too many terms
_START, _START_BY_POWER = 12.0, 1.5  # the formula is exact for positions from _START + _START_BY_POWER · power on


@element("polygamma")
def polygamma(b: Elements, x: Any, *, order: int) -> Any:
    """Return (-1)^(order+1) · order! times the sum of 1/(x+k)^(order+1) over all k from 0."""
    factor = (1.0 if order % 2 else -1.0) * math.factorial(order)

    def rule(b: Elements, position: Any, precision: float) -> Any:
        position = b.select(position < _MIN_POSITION, math.nan, position)
        power = b.constant(float(order + 1), float64)
        return _sum(b, position, power, precision, lambda x: 1.0 / _integer_power(x, order + 1)) * factor

    return in_float64(b, f"polygamma{order}_", rule, x)


@element("zeta")
def zeta(b: Elements, x: Any, q: Any) -> Any:
    return in_float64(b, "zeta", _zeta, x, q)


def _zeta(b: Elements, power: Any, position: Any, precision: float) -> Any:
    """Return the sum of (position + k)^-power over all k from 0, for powers above 1."""
    is_integer = position.same(b.intrinsic("floor", position))
    is_outside = (position <= 0.0) & ~is_integer & power.differs(b.intrinsic("floor", power))
    is_undefined = power.differs(power) | position.differs(position) | (power < 1.0) | is_outside
    is_undefined = is_undefined | ((position < _MIN_POSITION) & ~is_integer)
    is_infinite = power.same(1.0) | ((position <= 0.0) & is_integer)
    is_special = is_undefined | is_infinite
    position, power = b.select(is_special, 1.0, position), b.select(is_special, 2.0, power)
    total = _sum(b, position, power, precision, lambda x: b.libm("pow", x, -power))
    return b.select(is_undefined, math.nan, b.select(is_infinite, math.inf, total))


def _sum(b: Elements, position: Any, power: Any, precision: float, term: Callable[[Any], Any]) -> Any:
    """Return the sum of term(position + k) over all k from 0; term(x) is x^-power."""
    start = power * _START_BY_POWER + _START

    def step(n: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        current, total = state
        addend = term(current)
        total, current = total + addend, current + 1.0
        is_significant = b.intrinsic("fabs", addend) > b.intrinsic("fabs", total) * (0.125 * precision)
        return (current < start) & (is_significant | (current < 1.0)), [current, total]

    is_position_infinite = position.same(math.inf)
    position, total = b.iterate(position < start, [position, b.constant(0.0, float64)], step, MAX_TERMS)
    next_term = term(position)
    total = total + next_term * position / (power - 1.0) + next_term * 0.5
    factor, scaled_term, inverse_square = power, next_term / position, 1.0 / (position * position)
    for j, divisor in enumerate(_EULER_MACLAURIN):
        total = total + factor * scaled_term / divisor
        factor = factor * (power + float(2 * j + 1)) * (power + float(2 * j + 2))
        scaled_term = scaled_term * inverse_square
    return b.select(is_position_infinite, 0.0, total)


def _integer_power(x: Any, power: int) -> Any:
    """Return x^power for a positive integer power, by repeated squaring."""
    if power == 1:
        return x
    half = _integer_power(x, power // 2)
    return half * half * x if power % 2 else half * half
