"""Powers of integers: runtimes convert them to floats, or read some bits of the exponent only."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.graph import Node


@lowers("power")
def power(writer: Control, node: Node, x: Term, y: Term) -> Term | None:
    """Square and multiply, one bit of the exponent in each iteration. None for floats, which have an element rule."""
    if not x.dtype.is_integer or x.dtype is not y.dtype:
        return None
    x, y = writer.broadcast(x, y)
    if not y.dtype.is_unsigned:
        writer.fail_if(y < 0)
    state = [x, y, writer.fill_like(x, 1, x.dtype)]  # base, exponent, product
    *_, product = writer.loop_while(
        lambda state: _has_bits_left(writer, state), lambda state: _multiply_by_bit(writer, state), state
    )
    return product


def _has_bits_left(writer: Control, state: list[Term]) -> Term:
    """Return the condition of the loop: whether an exponent has bits that are not processed."""
    _, exponent, _ = state
    return writer.reduce_any(exponent > 0)


def _multiply_by_bit(writer: Control, state: list[Term]) -> list[Term]:
    """Return the next state of the loop: multiplied where the exponent's lowest bit is set; the base is squared."""
    base, exponent, product = state
    is_odd = (exponent & 1).same(1)
    return [base * base, writer.bits("lshr", exponent, 1), writer.select(is_odd, product * base, product)]
