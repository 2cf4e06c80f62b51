"""Rule of linear recurrences along an axis: a loop over its positions."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.movement import drop_axes
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


@lowers("linear_recurrence")
def linear_recurrence(w: Control, node: Node, coefficient: Term, addend: Term) -> Term | None:
    """Compute y_i = a_i · y_(i-1) + b_i, where the first is b_0; in reverse, y_i = a_i · y_(i+1) + b_i."""
    coefficient, addend = w.broadcast(coefficient, addend)
    axis, backwards = node.attributes["axis"] % addend.rank, node.attributes["reverse"]
    size = addend.shape[axis]
    if not isinstance(size, int) or not all(isinstance(other, int) for other in addend.shape):
        return None
    if size == 0:
        return addend

    def row(x: Term, place: Term) -> Term:
        return drop_axes(w, w.dynamic_part(x, axis, place, 1), [axis])

    def goes_on(now: list[Term], word: Term) -> Term:
        w.word = word
        return now[0] < size

    def turn(now: list[Term], word: Term) -> list[Term]:
        w.word = word
        step, last, result = now
        place = (size - 1) - step if backwards else step
        last = row(coefficient, place) * last + row(addend, place)
        starts = [place if a == axis else w.constant(0, int64) for a in range(addend.rank)]
        box = w.reshape(last, [1 if a == axis else n for a, n in enumerate(addend.shape)])
        return [step + 1, last, w.dynamic_update(result, box, starts)]

    first = row(addend, w.constant(size - 1 if backwards else 0, int64))
    after = w.loop(goes_on, turn, [w.constant(1, int64), first, addend], w.error_word_or_zero(w.word))
    w.word = after.pop()
    return after[2]
