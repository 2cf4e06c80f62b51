"""Rules of subscripts: slices of known bounds, slices of known size, gathers, scatters, and masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.gathers import check_index, gather_elements, move_axes
from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.ops.index_spec import INPUT, At, Entry, Gather, Mask, NewAxis, Rest, Slice, Spec, align

_PAST_LAST = 2**31 - 1  # the stop of a slice up to the end of any axis
_FULL_SLICE = Slice(None, None, None)


@lowers("get_item", "array_view")
def get_item(writer: Rules, node: Node, x: Term, *operands: Term) -> Term | None:
    """Take the elements that a subscript selects."""
    return subscript(writer, x, node.attributes["spec"], operands)


def subscript(writer: Rules, x: Term, spec: Spec, operands: Sequence[Term]) -> Term | None:
    """Return x[spec]; None if the runtime has no arrays of the size of the result."""
    if spec and isinstance(spec[0], Mask) and all(isinstance(later_entry, (Rest, Slice)) for later_entry in spec[1:]):
        true_positions = writer.true_positions(operands[0])
        if true_positions is None:
            return None
        true_elements = writer.gather_nd(x, true_positions)
        return subscript(writer, true_elements, (_FULL_SLICE, *spec[1:]), operands[1:])
    if any(isinstance(entry, Mask) for entry in spec):
        gathers = _gathers_of_masks(writer, spec, operands)
        return None if gathers is None else subscript(writer, x, *gathers)
    entries = align(spec, x.rank, operands, lambda operand: operand.rank)
    has_gathers = any(isinstance(aligned.entry, Gather) for aligned in entries)
    positions: list[Any] = []  # for each dimension of `x` so far: None, or the positions to gather along it
    axis, dropped_axes = 0, []
    for entry, entry_operands, _, width in entries:
        match entry:
            case NewAxis():
                x = insert_axis(writer, x, axis)
                positions.append(None)
                axis += 1
            case Rest():  # the dimensions stay whole
                positions += [None] * width
                axis += width
            case Slice():
                sliced_x = _slice_axis(writer, x, axis, entry, entry_operands)
                if sliced_x is None:
                    return None
                x = sliced_x
                positions.append(None)
                axis += 1
            case _:  # At or Gather
                position: Any = entry_operands[0] if entry_operands else entry.index  # type: ignore[attr-defined]
                if has_gathers:
                    positions.append(position if isinstance(position, Term) else writer.constant(position, int64))
                else:
                    x = _take_position(writer, x, axis, position)
                    dropped_axes.append(axis)
                    positions.append(None)
                axis += 1
    if not has_gathers:
        return drop_axes(writer, x, dropped_axes) if dropped_axes else x
    return _gather_at(writer, x, positions)


def _gathers_of_masks(writer: Rules, spec: Spec, operands: Sequence[Term]) -> tuple[Spec, list[Term]] | None:
    """Return the index, and its operands, with arrays of the positions of true elements in place of each mask.

    There is an array for each dimension of a mask. None if the runtime has no arrays of open size.
    """
    entries: list[Entry] = []
    new_operands: list[Term] = []
    remaining_operands = iter(operands)
    for entry in spec:
        own_operands = [next(remaining_operands) for _ in range(entry.operand_count)]
        if isinstance(entry, Mask):
            true_positions = writer.true_positions(own_operands[0])
            if true_positions is None:
                return None
            own_operands = [
                drop_axes(writer, writer.static_slice(true_positions, 1, axis, axis + 1), [1])
                for axis in range(own_operands[0].rank)
            ]
        entries += [Gather()] * len(own_operands) if isinstance(entry, Mask) else [entry]
        new_operands += own_operands
    return tuple(entries), new_operands


@lowers("where_indices")
def where_indices(writer: Rules, node: Node, condition: Term) -> Term | None:
    """Return the coordinates of the elements that are true, or not 0."""
    return writer.true_positions(condition if condition.dtype.is_bool else condition.differs(0))


def check_positions(writer: Rules, x: Term, spec: Spec, operands: Sequence[Term]) -> None:
    """Set the error word if a single position is out of range, or a step is 0."""
    sizes = writer.sizes(x)
    for entry, indices, axis, _ in align(spec, x.rank, operands, lambda operand: operand.rank):
        if isinstance(entry, At):
            check_index(writer, indices[0] if indices else writer.constant(entry.index, int64), sizes[axis], wrap=True)
        elif isinstance(entry, Slice):
            _, _, step = entry.with_operands(indices)
            if isinstance(step, Term):
                writer.fail_if(step.same(0))


def _gather_at(writer: Rules, x: Term, positions_by_axis: Sequence[Any]) -> Term:
    """Take elements by arrays of positions along some dimensions (None: all positions of a dimension).

    As in NumPy, the dimensions of the positions come first, unless the indexed dimensions are adjacent.
    """
    axes = [axis for axis, position in enumerate(positions_by_axis) if position is not None]
    sizes = writer.sizes(x)
    positions = [check_index(writer, positions_by_axis[axis], sizes[axis], wrap=True) for axis in axes]
    result = gather_elements(writer, move_axes(writer, x, axes, range(len(axes))), positions)
    positions_rank = max(position.rank for position in positions)
    if axes == list(range(axes[0], axes[0] + len(axes))) and axes[0]:
        return move_axes(writer, result, range(positions_rank), range(axes[0], axes[0] + positions_rank))
    return result


def _take_position(writer: Rules, x: Term, axis: int, position: Any) -> Term:
    """Take one position along an axis, which keeps the size 1."""
    size = x.shape[axis]
    if isinstance(position, int) and isinstance(size, int):
        position = position + size if position < 0 else position
        return writer.static_slice(x, axis, position, position + 1)
    position = position if isinstance(position, Term) else writer.constant(position, int64)
    return writer.dynamic_slice(x, axis, check_index(writer, position, writer.sizes(x)[axis], wrap=True), 1)


def _slice_axis(writer: Rules, x: Term, axis: int, entry: Slice, operands: Sequence[Term]) -> Term | None:
    """Take a slice along an axis; None if its size is open and the runtime has no arrays of open size."""
    if entry.is_whole:
        return x
    size, bounds = x.shape[axis], _slice_bounds(entry, operands)
    if isinstance(size, int) and all(bound is None or isinstance(bound, int) for bound in bounds):
        start, stop, step = slice(*bounds).indices(size)
        count = len(range(start, stop, step))
        if step > 0:
            return writer.static_slice(x, axis, start, start + (count - 1) * step + 1 if count else start, step)
        if not count:
            return writer.static_slice(x, axis, 0, 0)
        last_position = start + (count - 1) * step
        return writer.reverse(writer.static_slice(x, axis, last_position, start + 1, -step), [axis])
    start, stop, step = bounds
    if not isinstance(step, int) or step > 0:
        return writer.open_slice(x, axis, *bounds)
    if not step:
        return None
    part = writer.open_slice(x, axis, _bound_after(writer, stop), _bound_after(writer, start), step=None)
    return part if part is None else writer.open_slice(writer.reverse(part, [axis]), axis, None, None, -step)


def _bound_after(writer: Rules, bound: Any) -> Any:
    """Return `bound + 1`: a backwards slice x[start:stop:-1] has the elements of x[stop + 1:start + 1], reversed."""
    if not isinstance(bound, Term):
        return bound if bound is None else _PAST_LAST if bound == -1 else bound + 1
    return writer.select(bound.same(-1), _PAST_LAST, bound + 1)


def _slice_bounds(entry: Slice, operands: Sequence[Term]) -> tuple[Any, ...]:
    """Return start, stop and step, with numbers for terms whose values are known."""
    bounds = entry.with_operands(operands)
    return tuple(
        bound.constant_value if isinstance(bound, Term) and bound.constant_value is not None else bound
        for bound in bounds
    )


def _box_starts(spec: Spec, x: Term, operands: Sequence[Term]) -> list[Any] | None:
    """Return, along each dimension, the start of the box that single positions and slices of step 1 select.

    Return None for a subscript with other entries.
    """
    starts: list[Any] = []
    for entry, indices, axis, width in align(spec, x.rank, operands, lambda operand: operand.rank):
        match entry:
            case NewAxis():
                continue
            case Rest():
                starts += [0] * width
            case At():
                starts.append(indices[0] if indices else entry.index)
            case Slice() if entry.is_whole:
                starts.append(0)
            case Slice() if not entry.operand_count and entry.step in (None, 1) and isinstance(x.shape[axis], int):
                starts.append(slice(*entry.with_operands(())).indices(x.shape[axis])[0])
            case _:
                return None
    return starts


@lowers("set_item")
def set_item(writer: Rules, node: Node, x: Term, value: Term, *operands: Term) -> Term | None:
    """Return the array with a value written to a subscript."""
    return assign(writer, x, writer.cast(value, x.dtype), node.attributes["spec"], operands)


@lowers("add_at_item")
def add_at_item(writer: Rules, node: Node, x: Term, value: Term, *operands: Term) -> Term | None:
    """Return the array with a value added at a subscript."""
    return _scatter_at(writer, x, value, node.attributes["spec"], operands, "or" if x.dtype.is_bool else "add")


def assign(writer: Rules, x: Term, value: Term, spec: Spec, operands: Sequence[Term]) -> Term | None:
    """Return `x` with a value written to x[spec]; None if there is no form."""
    box_starts = _box_starts(spec, x, operands)
    if box_starts is None:
        result = _scatter_at(writer, x, value, spec, operands, combine=None)
        return _write_masked(writer, x, value, spec, operands) if result is None else result
    target = subscript(writer, x, spec, operands)  # checks the positions
    if target is None:
        return None
    if not x.shape:
        return _fit_to_shape(writer, value, target)
    sizes = writer.sizes(x)
    positions = [_wrap_start(writer, start, size) for start, size in zip(box_starts, sizes, strict=True)]
    box_shape, box_sizes = _box_sizes(writer, spec, x, target)
    value = _fit_to_shape(writer, value, target)
    return writer.dynamic_update(x, writer.reshape(value, box_shape, box_sizes), positions)


def _write_masked(writer: Rules, x: Term, value: Term, spec: Spec, operands: Sequence[Term]) -> Term | None:
    """Write one number to slices of any bounds: to the elements whose positions are in all slices.

    None for values of other sizes, subscripts with other entries, and slices that go backwards.
    """
    if any(size != 1 for size in value.shape):
        return None
    mask: Term | None = None
    sizes = writer.sizes(x)
    for entry, indices, axis, _ in align(spec, x.rank, operands, lambda operand: operand.rank):
        if isinstance(entry, (NewAxis, Rest)) or (isinstance(entry, Slice) and entry.is_whole):
            continue
        if not isinstance(entry, (At, Slice)):
            return None
        shape = [size if i == axis else 1 for i, size in enumerate(x.shape)]
        positions = writer.iota(shape, axis, int64, [size if i == axis else 1 for i, size in enumerate(sizes)])
        if isinstance(entry, At):
            index = indices[0] if indices else writer.constant(entry.index, int64)
            axis_mask: Term | None = positions.same(check_index(writer, index, sizes[axis], wrap=True))
        else:
            axis_mask = _is_in_slice(writer, positions, sizes[axis], _slice_bounds(entry, indices))
        if axis_mask is None:
            return None
        mask = axis_mask if mask is None else mask & axis_mask
    if mask is None:
        return None
    return writer.emit_select(*writer.broadcast(mask, writer.reshape(value, ()), x))


def _is_in_slice(writer: Rules, positions: Term, size: Any, bounds: tuple[Any, ...]) -> Term | None:
    """Return a mask of the positions in a slice; None for a slice that goes backwards.

    A step that is a value sets the error word if the slice goes backwards.
    """
    start, stop, step = (part if part is None or isinstance(part, int) else writer.cast(part, int64) for part in bounds)
    size = size if isinstance(size, int) else writer.cast(size, int64)
    if isinstance(step, int) and step <= 0:
        return None
    if isinstance(step, Term):
        writer.fail_if(step <= 0)  # slices that go backwards are left to the native backend
        step = writer.select(step <= 0, 1, step)

    def clip_bound(bound: Any, default: Any) -> Term:
        if bound is None:
            bound = default
        bound = bound if isinstance(bound, Term) else writer.constant(bound, int64)
        bound = writer.select(bound < 0, bound + size, bound)
        return writer.select(bound < 0, 0, bound)

    start_position = clip_bound(start, 0)
    result = (positions >= start_position) & (positions < clip_bound(stop, size))
    if step in (None, 1):
        return result
    return result & writer.remainder(positions - start_position, step).same(0)


def _wrap_start(writer: Rules, start: Term | int, size: Any) -> Term:
    """Return a start as int64, counted from the first element; a negative one is counted from the end."""
    start = writer.constant(start, int64) if isinstance(start, int) else writer.cast(start, int64)
    return writer.select(start < 0, start + (size if isinstance(size, int) else writer.cast(size, int64)), start)


def _box_sizes(writer: Rules, spec: Spec, x: Term, target: Term) -> tuple[list[Any], list[Any]]:
    """Return the shape of the box that a subscript selects, and its sizes; dropped dimensions have size 1."""
    shape: list[Any] = []
    sizes: list[Any] = []
    target_sizes, target_axis = writer.sizes(target), 0
    for entry, _, _, width in align(spec, x.rank):
        if isinstance(entry, At):
            shape.append(1)
            sizes.append(1)
        elif isinstance(entry, NewAxis):
            target_axis += 1
        else:
            for _ in range(width):
                shape.append(target.shape[target_axis])
                sizes.append(target_sizes[target_axis])
                target_axis += 1
    return shape, sizes


def _scatter_at(
    writer: Rules, x: Term, value: Term, spec: Spec, operands: Sequence[Term], combine: str | None
) -> Term | None:
    """Return `x` with a value written to x[spec], or combined with it by `combine`; None if there is no form."""
    if combine is None and _has_open_slice(spec):  # a number is written by a mask, without a scatter
        result = _write_masked(writer, x, value, spec, operands)
        if result is not None:
            return result
    positions = subscript(writer, positions_of(writer, x), spec, operands)
    return None if positions is None else write_at(writer, x, value, positions, combine)


def _has_open_slice(spec: Spec) -> bool:
    """Return whether a slice has bounds that are values."""
    return any(isinstance(entry, Slice) and INPUT in (entry.start, entry.stop) for entry in spec)


def positions_of(writer: Rules, x: Term) -> Term:
    """Return an array of the shape of `x` with the row-major position of each element."""
    if static_shape(x.shape) is None:
        return writer.reshape(writer.iota((None,), 0, int64, [writer.element_count(x)]), x.shape, writer.sizes(x))
    return writer.reshape(writer.iota((math.prod(x.shape),), 0, int64), x.shape)


def _fit_to_shape(writer: Rules, value: Term, target: Term) -> Term:
    """Broadcast a value to the shape of `target`, without leading dimensions of size 1, as NumPy does."""
    if value.rank > target.rank:
        value = drop_axes(writer, value, range(value.rank - target.rank))
    return writer.expand(value, target.shape, writer.sizes(target))


def write_at(writer: Rules, x: Term, value: Term, positions: Term, combine: str | None) -> Term:
    """Return `x` with a value written at row-major positions, or combined with the elements by `combine`."""
    value = _fit_to_shape(writer, value, positions)
    index = insert_axis(writer, positions, positions.rank)
    flat_result = writer.scatter_nd(writer.flatten(x), index, value, combine)
    return writer.reshape(flat_result, x.shape, writer.sizes(x))
