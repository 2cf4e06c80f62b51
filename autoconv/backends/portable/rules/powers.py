"""Powers of integers: runtimes convert them to floats, or read some bits of the exponent only."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.graph import Node


@lowers("power")
def power(w: Control, node: Node, x: Term, y: Term) -> Term | None:
    """Square and multiply, by a bit of the exponent in each turn. None for floats, which have an element rule."""
    if not x.dtype.is_integer or x.dtype is not y.dtype:
        return None
    x, y = w.broadcast(x, y)
    if not y.dtype.is_unsigned:
        w.fail(y < 0)
    state = [x, y, w.filled_like(x, 1, x.dtype)]
    word = w.sure(w.word)
    after = w.loop(lambda now, word: _has_bits(w, now, word), lambda now, word: _turn(w, now, word), state, word)
    w.word = after.pop()
    return after[2]


def _has_bits(w: Control, now: list[Term], word: Term) -> Term:
    w.word = word
    return w.reduce_any(now[1] > 0)


def _turn(w: Control, now: list[Term], word: Term) -> list[Term]:
    w.word = word
    base, exponent, product = now
    is_odd = (exponent & 1).same(1)
    return [base * base, w.bits("lshr", exponent, 1), w.select(is_odd, product * base, product)]
