"""Rules of sums over all natural numbers: the first terms in a loop, the others by the Euler-Maclaurin formula."""

from __future__ import annotations

import math
from collections.abc import Callable

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node
from autoconv.ops.elementwise.incomplete import EULER_MACLAURIN, ZETA_FROM, ZETA_LAST
from autoconv.ops.elementwise.special import ASYMPTOTIC_FROM, BERNOULLI, RECURRENCE_LIMIT


@lowers("polygamma")
def polygamma(w: Control, node: Node, x: Term) -> Term:
    """Sum 1/(x+k)^(order+1), times the factorial of the order and a sign; nan for far negative numbers."""
    order = node.attributes["order"]
    power = order + 1
    position = w.cast(x, float64)
    position = w.select(position < -RECURRENCE_LIMIT, math.nan, position)

    def term(position: Term) -> Term:
        return w.binary("divide", 1.0, _integer_power(position, power))

    position, total = _sum_first_terms(w, position, w.fill_like(position, ASYMPTOTIC_FROM + order, float64), term)
    first = term(position)
    total = total + first * position / float(order) + first * 0.5
    factor, inverse_square, scaled = float(power), w.binary("divide", 1.0, position * position), first / position
    for j, bernoulli in enumerate(BERNOULLI, 1):
        total = total + scaled * (bernoulli / math.factorial(2 * j) * factor)
        factor *= (power + 2 * j - 1) * (power + 2 * j)
        scaled = scaled * inverse_square
    return w.cast(total * ((1.0 if order % 2 else -1.0) * math.factorial(order)), x.dtype)


@lowers("zeta")
def zeta(w: Control, node: Node, x: Term, q: Term) -> Term:
    """Sum (q + k)^-x, for x > 1."""
    power, position = w.broadcast(w.cast(x, float64), w.cast(q, float64))
    is_integer = position.same(w.emit_unary("floor", position))
    is_outside = (position <= 0.0) & ~is_integer & power.differs(w.emit_unary("floor", power))
    is_undefined = w.is_nan(power) | w.is_nan(position) | (power < 1.0) | is_outside
    is_infinite = power.same(1.0) | ((position <= 0.0) & is_integer)
    position = w.select(is_undefined | is_infinite, 1.0, position)
    power = w.select(is_undefined | is_infinite, 2.0, power)
    start = w.select(power < ZETA_FROM, ZETA_FROM, w.select(power > ZETA_LAST, ZETA_LAST, power))

    def term(position: Term) -> Term:
        return w.binary("power", position, -power)

    position, total = _sum_first_terms(w, position, start, term)
    first = term(position)
    total = total + first * position / (power - 1.0) + first * 0.5
    factor, scaled, inverse_square = power, first / position, w.binary("divide", 1.0, position * position)
    for j, divisor in enumerate(EULER_MACLAURIN):
        total = total + factor * scaled / divisor
        factor = factor * (power + float(2 * j + 1)) * (power + float(2 * j + 2))
        scaled = scaled * inverse_square
    return w.cast(w.select(is_undefined, math.nan, w.select(is_infinite, math.inf, total)), node.results[0].dtype)


def _sum_first_terms(w: Control, position: Term, start: Term, term: Callable[[Term], Term]) -> tuple[Term, Term]:
    """Add terms while positions are below `start`; return the positions after the last terms, and the sums."""

    def is_below(state: list[Term], word: Term) -> Term:
        w.word = word
        return w.reduce_any(state[0] < start)

    def add_term(state: list[Term], word: Term) -> list[Term]:
        w.word = word
        position, total = state
        is_below_start = position < start
        next_position = w.select(is_below_start, position + 1.0, position)
        return [next_position, w.select(is_below_start, total + term(position), total)]

    after = w.loop(is_below, add_term, [position, w.fill_like(position, 0.0, float64)], w.error_word_or_zero(w.word))
    w.word = after.pop()
    return after[0], after[1]


def _integer_power(x: Term, power: int) -> Term:
    """Raise to a positive power by repeated squaring."""
    if power == 1:
        return x
    half = _integer_power(x, power // 2)
    return half * half * x if power % 2 else half * half
