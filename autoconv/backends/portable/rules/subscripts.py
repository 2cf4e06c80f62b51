"""Rules of subscripts: slices of known bounds, slices of known size, gathers, scatters, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.gathers import check_index, gathered, move_axes
from autoconv.backends.portable.rules.movement import drop_axes, expand_at
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.rules.windows import Window, cast, plain, window_of, write_window
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.ops.index_spec import At, Gather, Mask, NewAxis, Rest, Slice, Spec, align

_WHOLE = Slice(None, None, None)


@lowers("get_item", "array_view")
def get_item(w: Rules, node: Node, x: Term, *operands: Term) -> Term | Window | None:
    return subscript(w, x, node.attributes["spec"], operands)


def subscript(w: Rules, x: Term, spec: Spec, operands: Sequence[Term]) -> Term | Window | None:
    """Return x[spec]; None for slices of open size, except for a single one of step 1, and for most masks.

    A mask has a form as the first entry before slices, where the runtime has arrays of open size.
    """
    if spec and isinstance(spec[0], Mask):
        places = w.true_positions(operands[0]) if all(isinstance(one, (Rest, Slice)) for one in spec[1:]) else None
        found = None if places is None else w.gather_nd(x, places)
        return None if found is None else subscript(w, found, (_WHOLE, *spec[1:]), operands[1:])
    entries = align(spec, x.rank, operands, lambda operand: operand.rank)
    if any(isinstance(entry.entry, Mask) for entry in entries):
        return None
    advanced = any(isinstance(entry.entry, Gather) for entry in entries)
    positions: list[Any] = []  # for each dimension of the result so far: None, or the positions along it
    axis, dropped_axes = 0, []
    open_slice: tuple[int, tuple[Any, ...]] | None = None  # a slice whose size is open
    for entry, entry_operands, _, width in entries:
        match entry:
            case NewAxis():
                x = expand_at(w, x, axis)
                positions.append(None)
                axis += 1
            case Rest():
                positions += [None] * width
                axis += width
            case Slice():
                cut = _slice_axis(w, x, axis, entry, entry_operands)
                if cut is None:
                    if open_slice is not None or advanced or w.has_open_sizes:
                        return None
                    open_slice, cut = (axis, _slice_parts(entry, entry_operands)), x
                x = cut
                positions.append(None)
                axis += 1
            case _:
                at: Any = entry_operands[0] if entry_operands else entry.index  # type: ignore[attr-defined]
                if advanced:
                    positions.append(at if isinstance(at, Term) else w.constant(at, int64))
                else:
                    x = _single(w, x, axis, at)
                    dropped_axes.append(axis)
                    positions.append(None)
                axis += 1
    if open_slice is not None:
        return _window(w, x, *open_slice, dropped_axes)
    if not advanced:
        return drop_axes(w, x, dropped_axes) if dropped_axes else x
    return _gather_at(w, x, positions)


@lowers("where_indices")
def where_indices(w: Rules, node: Node, condition: Term) -> Term | None:
    return w.true_positions(condition if condition.dtype.is_bool else condition.differs(0))


def check_positions(w: Rules, x: Term, spec: Spec, operands: Sequence[Term]) -> None:
    """Set the error word where a single position is out of range, or a step is 0."""
    sizes = w.sizes(x)
    for entry, own, axis, _ in align(spec, x.rank, operands, lambda operand: operand.rank):
        if isinstance(entry, At):
            check_index(w, own[0] if own else w.constant(entry.index, int64), sizes[axis], wrap=True)
        elif isinstance(entry, Slice):
            step = entry.filled(own)[2]
            if isinstance(step, Term):
                w.fail(step.same(0))


def _gather_at(w: Rules, x: Term, positions_by_axis: Sequence[Any]) -> Term:
    """Take elements by arrays of positions along some dimensions; new dimensions stand where NumPy puts them."""
    axes = [axis for axis, at in enumerate(positions_by_axis) if at is not None]
    sizes = w.sizes(x)
    positions = [check_index(w, positions_by_axis[axis], sizes[axis], wrap=True) for axis in axes]
    result = gathered(w, move_axes(w, x, axes, range(len(axes))), positions)
    width = max(position.rank for position in positions)
    if axes == list(range(axes[0], axes[0] + len(axes))) and axes[0]:
        return move_axes(w, result, range(width), range(axes[0], axes[0] + width))
    return result


def _single(w: Rules, x: Term, axis: int, at: Any) -> Term:
    size = x.shape[axis]
    if isinstance(at, int) and isinstance(size, int):
        at = at + size if at < 0 else at
        return w.part(x, axis, at, at + 1)
    at = at if isinstance(at, Term) else w.constant(at, int64)
    return w.dynamic_part(x, axis, check_index(w, at, w.sizes(x)[axis], wrap=True), 1)


def _slice_axis(w: Rules, x: Term, axis: int, entry: Slice, operands: Sequence[Term]) -> Term | None:
    if entry.is_whole:
        return x
    size, parts = x.shape[axis], _slice_parts(entry, operands)
    if isinstance(size, int) and all(part is None or isinstance(part, int) for part in parts):
        start, stop, step = slice(*parts).indices(size)
        count = len(range(start, stop, step))
        if step > 0:
            return w.part(x, axis, start, start + (count - 1) * step + 1 if count else start, step)
        if not count:
            return w.part(x, axis, 0, 0)
        low = start + (count - 1) * step
        return w.reverse(w.part(x, axis, low, start + 1, -step), [axis])
    return w.open_slice(x, axis, *parts)


def _window(w: Rules, x: Term, axis: int, bounds: tuple[Any, ...], dropped_axes: Sequence[int]) -> Window | None:
    """Return a slice of step 1 whose size is open, without the dimensions that are gone."""
    start, stop, step = bounds
    result = window_of(w, x, axis, start, stop) if step in (None, 1) else None
    if result is None or not dropped_axes:
        return result
    return Window(
        drop_axes(w, result.term, dropped_axes), axis - sum(one < axis for one in dropped_axes), result.length
    )


def _slice_parts(entry: Slice, operands: Sequence[Term]) -> tuple[Any, ...]:
    """Return start, stop and step; a term whose value is known as a number."""
    return tuple(
        part.known if isinstance(part, Term) and part.known is not None else part for part in entry.filled(operands)
    )


def _box_starts(spec: Spec, x: Term, operands: Sequence[Term]) -> list[Any] | None:
    """Return the start along each dimension of a subscript of single positions and slices of step 1, else None."""
    starts: list[Any] = []
    for entry, own, axis, width in align(spec, x.rank, operands, lambda operand: operand.rank):
        match entry:
            case NewAxis():
                continue
            case Rest():
                starts += [0] * width
            case At():
                starts.append(own[0] if own else entry.index)
            case Slice() if entry.is_whole:
                starts.append(0)
            case Slice() if not entry.takes and entry.step in (None, 1) and isinstance(x.shape[axis], int):
                starts.append(slice(*entry.filled(())).indices(x.shape[axis])[0])
            case _:
                return None
    return starts


@lowers("set_item")
def set_item(w: Rules, node: Node, x: Term, value: Term, *operands: Term) -> Term | None:
    return assign(w, x, cast(w, value, x.dtype), node.attributes["spec"], operands)


@lowers("add_at_item")
def add_at_item(w: Rules, node: Node, x: Term, value: Term, *operands: Term) -> Term | None:
    return _scatter_at(w, x, value, node.attributes["spec"], operands, "or" if x.dtype.is_bool else "add")


def assign(w: Rules, x: Term, value: Term | Window, spec: Spec, operands: Sequence[Term]) -> Term | None:
    """Return `x` with x[spec] replaced."""
    starts = _box_starts(spec, x, operands)
    if starts is None:
        updated = _scatter_at(w, x, value, spec, operands, None)
        return _write_masked(w, x, value, spec, operands) if updated is None and isinstance(value, Term) else updated
    place = subscript(w, x, spec, operands)  # checks the positions
    if not isinstance(place, Term):
        return None
    value = plain(w, value, place.shape)
    if not x.shape:
        return _fit_to_place(w, value, place)
    sizes = w.sizes(x)
    positions = [
        w.constant(start if start >= 0 or not isinstance(x.shape[a], int) else start + x.shape[a], int64)
        if isinstance(start, int) else _wrap(w, start, sizes[a])
        for a, start in enumerate(starts)
    ]  # fmt: skip
    box, box_sizes = _box_of(spec, x, place, w)
    value = _fit_to_place(w, value, place)
    return w.dynamic_update(x, w.reshape(value, box, box_sizes), positions)


def _write_masked(w: Rules, x: Term, value: Term, spec: Spec, operands: Sequence[Term]) -> Term | None:
    """Write one number to slices of any bounds: where positions are in all of them."""
    if any(size != 1 for size in value.shape):
        return None
    inside: Term | None = None
    sizes = w.sizes(x)
    for entry, own, axis, _ in align(spec, x.rank, operands, lambda operand: operand.rank):
        if isinstance(entry, (NewAxis, Rest)) or (isinstance(entry, Slice) and entry.is_whole):
            continue
        if not isinstance(entry, (At, Slice)):
            return None
        shape = [size if a == axis else 1 for a, size in enumerate(x.shape)]
        place = w.iota(shape, axis, int64, [size if a == axis else 1 for a, size in enumerate(sizes)])
        if isinstance(entry, At):
            at = own[0] if own else w.constant(entry.index, int64)
            here: Term | None = place.same(check_index(w, at, sizes[axis], wrap=True))
        else:
            here = _in_slice(w, place, sizes[axis], _slice_parts(entry, own))
        if here is None:
            return None
        inside = here if inside is None else inside & here
    if inside is None:
        return None
    return w.chosen(*w.broadcast(inside, w.reshape(value, ()), x))


def _in_slice(w: Rules, place: Term, size: Any, bounds: tuple[Any, ...]) -> Term | None:
    """Return which positions a slice takes; None for one that may go backwards."""
    start, stop, step = (part if part is None or isinstance(part, int) else w.cast(part, int64) for part in bounds)
    size = size if isinstance(size, int) else w.cast(size, int64)
    if isinstance(step, int) and step <= 0:
        return None
    if isinstance(step, Term):
        w.fail(step <= 0)  # slices that go backwards are left to the native backend
        step = w.select(step <= 0, 1, step)

    def clipped(bound: Any, default: Any) -> Term:
        if bound is None:
            bound = default
        bound = bound if isinstance(bound, Term) else w.constant(bound, int64)
        bound = w.select(bound < 0, bound + size, bound)
        return w.select(bound < 0, 0, bound)

    first = clipped(start, 0)
    result = (place >= first) & (place < clipped(stop, size))
    if step in (None, 1):
        return result
    return result & w.remainder(place - first, step).same(0)


def _wrap(w: Rules, start: Term, size: Any) -> Term:
    start = w.cast(start, int64)
    return w.select(start < 0, start + (size if isinstance(size, int) else w.cast(size, int64)), start)


def _box_of(spec: Spec, x: Term, place: Term, w: Rules) -> tuple[list[Any], list[Any]]:
    """Return the sizes of the box that a subscript takes, dropped dimensions with size 1."""
    shape: list[Any] = []
    sizes: list[Any] = []
    own, at = w.sizes(place), 0
    for entry, _, _, width in align(spec, x.rank):
        if isinstance(entry, At):
            shape.append(1)
            sizes.append(1)
        elif isinstance(entry, NewAxis):
            at += 1
        else:
            for _ in range(width):
                shape.append(place.shape[at])
                sizes.append(own[at])
                at += 1
    return shape, sizes


def _scatter_at(
    w: Rules, x: Term, value: Term | Window, spec: Spec, operands: Sequence[Term], combine: str | None
) -> Term | None:
    """Write to the positions that the subscript selects."""
    places = subscript(w, positions_of(w, x), spec, operands)
    if isinstance(places, Window) and isinstance(value, Term) and combine is None:
        result = _write_masked(w, x, value, spec, operands)
        if result is not None:
            return result
    return None if places is None else write_at(w, x, value, places, combine)


def positions_of(w: Rules, x: Term) -> Term:
    """Return the position of each element in order, with the array's shape."""
    total = 1
    for size in x.shape:
        if not isinstance(size, int):
            return w.reshape(w.iota((None,), 0, int64, [w.count(x)]), x.shape, w.sizes(x))
        total *= size
    return w.reshape(w.iota((total,), 0, int64), x.shape)


def _fit_to_place(w: Rules, value: Term, place: Term) -> Term:
    """Broadcast a value to a place; NumPy drops its leading dimensions of size 1."""
    if value.rank > place.rank:
        value = drop_axes(w, value, range(value.rank - place.rank))
    return w.expanded(value, place.shape, w.sizes(place))


def write_at(w: Rules, x: Term, value: Term | Window, places: Term | Window, combine: str | None) -> Term:
    """Return `x` with a value at places, the positions of elements in order."""
    if isinstance(places, Window):
        return write_window(w, x, value, places, combine)
    value = plain(w, value, places.shape)
    value = _fit_to_place(w, value, places)
    index = w.flat(places)
    flat_result = w.scatter_nd(w.flat(x), expand_at(w, index, 1), w.flat(value), combine)
    return w.reshape(flat_result, x.shape, w.sizes(x))
