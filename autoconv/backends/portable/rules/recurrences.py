"""Rule of linear recurrences along an axis: a loop over its positions."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.movement import drop_axes
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


@lowers("linear_recurrence")
def linear_recurrence(w: Control, node: Node, coefficient: Term, addend: Term) -> Term | None:
    """Compute y_i = a_i · y_(i-1) + b_i, where the first is b_0; in reverse, y_i = a_i · y_(i+1) + b_i."""
    coefficient, addend = w.broadcast(coefficient, addend)
    axis, backwards = node.attributes["axis"] % addend.rank, node.attributes["reverse"]
    size = addend.shape[axis]
    if static_shape(addend.shape) is None:
        return None
    if size == 0:
        return addend

    def take_row(x: Term, position: Term) -> Term:
        return drop_axes(w, w.dynamic_slice(x, axis, position, 1), [axis])

    def has_next(state: list[Term], word: Term) -> Term:
        w.error_word = word
        return state[0] < size

    def compute_row(state: list[Term], word: Term) -> list[Term]:
        w.error_word = word
        step, row, result = state
        position = (size - 1) - step if backwards else step
        row = take_row(coefficient, position) * row + take_row(addend, position)
        starts = [position if a == axis else w.constant(0, int64) for a in range(addend.rank)]
        boxed_row = w.reshape(row, [1 if a == axis else row_size for a, row_size in enumerate(addend.shape)])
        return [step + 1, row, w.dynamic_update(result, boxed_row, starts)]

    first_row = take_row(addend, w.constant(size - 1 if backwards else 0, int64))
    state = [w.constant(1, int64), first_row, addend]
    final_state = w.loop(has_next, compute_row, state, w.error_word_or_zero(w.error_word))
    w.error_word = final_state.pop()
    return final_state[2]
