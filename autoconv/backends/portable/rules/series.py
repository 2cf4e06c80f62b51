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
    place = w.cast(x, float64)
    place = w.select(place < -RECURRENCE_LIMIT, math.nan, place)

    def term(place: Term) -> Term:
        return w.binary("divide", 1.0, _whole_power(place, power))

    place, total = _first_terms(w, place, w.filled_like(place, ASYMPTOTIC_FROM + order, float64), term)
    first = term(place)
    total = total + first * place / float(order) + first * 0.5
    factor, inverse_square, scaled = float(power), w.binary("divide", 1.0, place * place), first / place
    for j, bernoulli in enumerate(BERNOULLI, 1):
        total = total + scaled * (bernoulli / math.factorial(2 * j) * factor)
        factor *= (power + 2 * j - 1) * (power + 2 * j)
        scaled = scaled * inverse_square
    return w.cast(total * ((1.0 if order % 2 else -1.0) * math.factorial(order)), x.dtype)


@lowers("zeta")
def zeta(w: Control, node: Node, x: Term, q: Term) -> Term:
    """Sum (q + k)^-x, for x > 1."""
    power, place = w.broadcast(w.cast(x, float64), w.cast(q, float64))
    whole = place.same(w.unary("floor", place))
    outside = (place <= 0.0) & ~whole & power.differs(w.unary("floor", power))
    undefined = w.is_nan(power) | w.is_nan(place) | (power < 1.0) | outside
    infinite = power.same(1.0) | ((place <= 0.0) & whole)
    place = w.select(undefined | infinite, 1.0, place)
    power = w.select(undefined | infinite, 2.0, power)
    start = w.select(power < ZETA_FROM, ZETA_FROM, w.select(power > ZETA_LAST, ZETA_LAST, power))

    def term(place: Term) -> Term:
        return w.binary("power", place, -power)

    place, total = _first_terms(w, place, start, term)
    first = term(place)
    total = total + first * place / (power - 1.0) + first * 0.5
    factor, scaled, inverse_square = power, first / place, w.binary("divide", 1.0, place * place)
    for j, divisor in enumerate(EULER_MACLAURIN):
        total = total + factor * scaled / divisor
        factor = factor * (power + float(2 * j + 1)) * (power + float(2 * j + 2))
        scaled = scaled * inverse_square
    return w.cast(w.select(undefined, math.nan, w.select(infinite, math.inf, total)), node.results[0].dtype)


def _first_terms(w: Control, place: Term, start: Term, term: Callable[[Term], Term]) -> tuple[Term, Term]:
    """Add terms while places are below `start`; return the places after them, and the sums."""

    def is_below(now: list[Term], word: Term) -> Term:
        w.word = word
        return w.reduce_any(now[0] < start)

    def added(now: list[Term], word: Term) -> list[Term]:
        w.word = word
        at, total = now
        below = at < start
        return [w.select(below, at + 1.0, at), w.select(below, total + term(at), total)]

    after = w.loop(is_below, added, [place, w.filled_like(place, 0.0, float64)], w.sure(w.word))
    w.word = after.pop()
    return after[0], after[1]


def _whole_power(x: Term, power: int) -> Term:
    """Multiply by squares."""
    if power == 1:
        return x
    half = _whole_power(x, power // 2)
    return half * half * x if power % 2 else half * half
