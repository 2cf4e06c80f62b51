"""Rule of linear recurrences along an axis: a loop over its positions."""

from __future__ import annotations

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.movement import drop_axes
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


@lowers("linear_recurrence")
def linear_recurrence(writer: Control, node: Node, coefficient: Term, addend: Term) -> Term | None:
    """Compute y_i = a_i · y_(i-1) + b_i, where the first is b_0; in reverse, y_i = a_i · y_(i+1) + b_i."""
    coefficient, addend = writer.broadcast(coefficient, addend)
    axis, backwards = node.attributes["axis"] % addend.rank, node.attributes["reverse"]
    size = addend.shape[axis]
    if static_shape(addend.shape) is None:
        return None
    if size == 0:
        return addend

    def take_row(x: Term, position: Term) -> Term:
        return drop_axes(writer, writer.dynamic_slice(x, axis, position, 1), [axis])

    def compute_row(state: list[Term]) -> list[Term]:
        """Compute the row at one position from the row before, and write it to the result."""
        step, row, result = state
        position = (size - 1) - step if backwards else step
        row = take_row(coefficient, position) * row + take_row(addend, position)
        starts = [position if i == axis else writer.constant(0, int64) for i in range(addend.rank)]
        row_with_axis = writer.reshape(row, [1 if i == axis else row_size for i, row_size in enumerate(addend.shape)])
        return [step + 1, row, writer.dynamic_update(result, row_with_axis, starts)]

    first_row = take_row(addend, writer.constant(size - 1 if backwards else 0, int64))
    state = [writer.constant(1, int64), first_row, addend]
    *_, result = writer.loop_while(lambda state: state[0] < size, compute_row, state)
    return result
