"""Powers of integers: runtimes convert them to floats, or read some bits of the exponent only."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.graph import Node


@lowers("power")
def power(w: Control, node: Node, x: Term, y: Term) -> Term | None:
    """Square and multiply, one bit of the exponent in each iteration. None for floats, which have an element rule."""
    if not x.dtype.is_integer or x.dtype is not y.dtype:
        return None
    x, y = w.broadcast(x, y)
    if not y.dtype.is_unsigned:
        w.fail(y < 0)
    state = [x, y, w.fill_like(x, 1, x.dtype)]  # base, exponent, product
    word = w.error_word_or_zero(w.error_word)
    final_state = w.loop(
        lambda state, word: _has_bits_left(w, state, word),
        lambda state, word: _multiply_by_bit(w, state, word),
        state,
        word,
    )
    w.error_word = final_state.pop()
    return final_state[2]


def _has_bits_left(w: Control, state: list[Term], word: Term) -> Term:
    """Return the condition of the loop: whether an exponent has bits that are not processed."""
    w.error_word = word
    _, exponent, _ = state
    return w.reduce_any(exponent > 0)


def _multiply_by_bit(w: Control, state: list[Term], word: Term) -> list[Term]:
    """Return the next state of the loop: multiplied where the exponent's lowest bit is set; the base is squared."""
    w.error_word = word
    base, exponent, product = state
    is_odd = (exponent & 1).same(1)
    return [base * base, w.bits("lshr", exponent, 1), w.select(is_odd, product * base, product)]
