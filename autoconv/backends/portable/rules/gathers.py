"""Rules of gathers and scatters: all are expressed by the writer's `gather_nd` and `scatter_nd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


def check_index(w: Rules, index: Term, size: Any, wrap: bool = False) -> Term:
    """Return positions as int64, and set the error word if one is out of range; `wrap` allows negative ones.

    A position out of range becomes 0 if the runtime itself would raise for it.
    """
    index = w.cast(index, int64)
    size = size if isinstance(size, int) else w.cast(size, int64)
    is_outside = (index < (0 - size if wrap else 0)) | w.compare("ge", index, size)
    w.fail(is_outside)
    index = w.select(index < 0, index + size, index) if wrap else index
    return w.select(is_outside, 0, index) if w.checks_positions else index


def gather_elements(w: Rules, x: Term, positions: Sequence[Term]) -> Term:
    """Take elements by positions along the first dimensions: arrays of one shape, one for each dimension."""
    return w.gather_nd(x, _join_positions(w, positions))


def _join_positions(w: Rules, positions: Sequence[Term]) -> Term:
    """Join arrays of positions, one for each dimension, to vectors of positions in a new last dimension."""
    columns = [insert_axis(w, column, column.rank) for column in w.broadcast(*positions)]
    return w.concatenate(columns, columns[0].rank - 1)


def take_along(w: Rules, x: Term, axis: int, positions: Term) -> Term:
    """Take elements by positions along an axis, all of which are in range, as `numpy.take_along_axis` does."""
    along_axes = _axis_iotas(w, positions, positions.rank)
    along_axes[axis] = w.cast(positions, int64)
    return gather_elements(w, x, along_axes)


def _axis_iotas(w: Rules, x: Term, axis_count: int) -> list[Term]:
    """Return the positions along each of the first dimensions, shaped to broadcast against one another."""
    sizes = w.sizes(x)
    result = []
    for axis in range(axis_count):
        shape = [x.shape[axis] if a == axis else 1 for a in range(axis_count)]
        result.append(w.iota(shape, axis, int64, [sizes[axis] if a == axis else 1 for a in range(axis_count)]))
    return result


def move_axes(w: Rules, x: Term, source: Sequence[int], target: Sequence[int]) -> Term:
    """Move dimensions, as `numpy.moveaxis` does."""
    order = [axis for axis in range(x.rank) if axis not in source]
    for position, axis in sorted(zip(target, source, strict=True)):
        order.insert(position, axis)
    return w.transpose(x, order)


def _batch_positions(w: Rules, index: Term, batch_rank: int) -> list[Term]:
    """Return the positions along the batch dimensions, shaped to broadcast with the index."""
    result = []
    for axis, iota in enumerate(_axis_iotas(w, index, batch_rank)):
        shape = [index.shape[axis] if a == axis else 1 for a in range(index.rank)]
        size = w.sizes(index)[axis]
        result.append(w.reshape(iota, shape, [size if a == axis else 1 for a in range(index.rank)]))
    return result


@lowers("gather")
def gather(w: Rules, node: Node, x: Term, index: Term) -> Term:
    axis, batch_rank = normalise_axis(node.attributes.get("axis", 0), x.rank), node.attributes.get("batch_dims", 0)
    index = check_index(w, index, w.sizes(x)[axis])
    moved_x = move_axes(w, x, [axis], [batch_rank])
    rows = gather_elements(w, moved_x, [*_batch_positions(w, index, batch_rank), index])
    inner_count = axis - batch_rank
    return move_axes(w, rows, range(index.rank, index.rank + inner_count), range(batch_rank, axis))


@lowers("ungather")
def ungather(w: Rules, node: Node, x: Term, index: Term, like: Term) -> Term:
    """Add rows to the positions from which `gather` takes them: its gradient."""
    axis, batch_rank = normalise_axis(node.attributes.get("axis", 0), like.rank), node.attributes.get("batch_dims", 0)
    index = check_index(w, index, w.sizes(like)[axis])
    rows = move_axes(w, x, range(batch_rank, axis), range(index.rank, index.rank + axis - batch_rank))
    base = move_axes(w, w.fill_like(like, 0, x.dtype), [axis], [batch_rank])
    total = scatter(w, base, [*_batch_positions(w, index, batch_rank), index], rows, "add")
    return move_axes(w, total, [batch_rank], [axis])


def scatter(w: Rules, base: Term, positions: Sequence[Term], updates: Term, combine: str | None) -> Term:
    """Write `updates` at the positions from which `gather_elements` would take elements."""
    return w.scatter_nd(base, _join_positions(w, positions), updates, combine)


def _position_vectors(w: Rules, index: Term, like: Term, batch_rank: int = 0) -> Term:
    """Return the vectors of `index`, checked against the sizes of `like`, behind the positions of the batch."""
    index = w.cast(index, int64)
    depth = index.shape[-1]
    columns = []
    for k in range(depth):
        column = drop_axes(w, w.static_slice(index, index.rank - 1, k, k + 1), [index.rank - 1])
        columns.append(check_index(w, column, w.sizes(like)[batch_rank + k]))
    if batch_rank and columns:
        columns = [*_batch_positions(w, columns[0], batch_rank), *columns]
    return _join_positions(w, columns) if columns else index


@lowers("gather_nd")
def gather_nd(w: Rules, node: Node, x: Term, index: Term) -> Term | None:
    if not isinstance(index.shape[-1], int):
        return None
    batch_rank = node.attributes.get("batch_dims", 0)
    if index.shape[-1] == 0:
        if batch_rank:
            return None
        shape, sizes = (*index.shape[:-1], *x.shape), [*w.sizes(index)[:-1], *w.sizes(x)]
        return w.expand(x, shape, sizes)
    return w.gather_nd(x, _position_vectors(w, index, x, batch_rank))


@lowers("ungather_nd")
def ungather_nd(w: Rules, node: Node, x: Term, index: Term, like: Term) -> Term | None:
    if not index.shape[-1]:
        return None
    base = w.fill_like(like, 0, x.dtype)
    return w.scatter_nd(base, _position_vectors(w, index, like, node.attributes.get("batch_dims", 0)), x, "add")


@lowers("scatter_nd")
def scatter_nd(w: Rules, node: Node, index: Term, updates: Term, dimensions: Term | None = None) -> Term | None:
    shape, sizes = w.requested_sizes(node.attributes["shape"], dimensions)
    if not index.shape[-1]:
        return None
    base = w.expand(w.constant(0, updates.dtype), shape, sizes)
    return w.scatter_nd(base, _position_vectors(w, index, base), updates, "or" if updates.dtype.is_bool else "add")


# {last part of the op's name: the operation of an old and a new element}; `sub` adds negated numbers.
for _name, _combine in (("update", None), ("add", "add"), ("sub", "add"), ("max", "maximum"), ("min", "minimum")):

    def _tensor_scatter(
        w: Rules, node: Node, x: Term, index: Term, updates: Term, *, name: str = _name, combine: str | None = _combine
    ) -> Term | None:
        if not index.shape[-1]:
            return None
        return w.scatter_nd(x, _position_vectors(w, index, x), -updates if name == "sub" else updates, combine)

    lowers(f"tensor_scatter_nd_{_name}")(_tensor_scatter)


@lowers("segment_sum")
def segment_sum(w: Rules, node: Node, x: Term, segments: Term, *count: Term) -> Term | None:
    segment_count: Any = node.attributes.get("num_segments")
    if not isinstance(segment_count, int):
        number = count[0] if count else _largest_position(w, segments) + 1
        if not w.can_be_sizes(number):
            return None
        segment_count = w.as_size(number)
    segments = check_index(w, segments, segment_count)
    sizes = [segment_count, *w.sizes(x)[segments.rank :]]
    shape = (segment_count if isinstance(segment_count, int) else None, *x.shape[segments.rank :])
    return scatter(w, w.expand(w.constant(0, x.dtype), shape, sizes), [segments], x, "add")


def _largest_position(w: Rules, positions: Term) -> Term:
    """Return the largest position, or -1 if there is none."""
    as_int64 = w.cast(positions, int64)
    maximum = w.reduce(as_int64, range(as_int64.rank), "maximum", int64.min)
    return w.select(maximum < -1, -1, maximum)


def _positions_along_axis(w: Rules, index: Term, axis: int, size: Any) -> list[Term]:
    """Return positions along all dimensions: the checked index along `axis`, and the element's own along others."""
    index = check_index(w, index, size, wrap=True)
    result = _axis_iotas(w, index, index.rank)
    result[axis] = index
    return result


@lowers("take_along_axis")
def take_along_axis(w: Rules, node: Node, x: Term, index: Term) -> Term | None:
    axis = normalise_axis(node.attributes["axis"], x.rank)
    if any(a != b for i, (a, b) in enumerate(zip(x.shape, index.shape, strict=True)) if i != axis):
        return None
    return gather_elements(w, x, _positions_along_axis(w, index, axis, w.sizes(x)[axis]))


@lowers("add_along_axis")
def add_along_axis(w: Rules, node: Node, x: Term, index: Term, like: Term) -> Term | None:
    axis = normalise_axis(node.attributes["axis"], like.rank)
    if any(a != b for i, (a, b) in enumerate(zip(like.shape, index.shape, strict=True)) if i != axis):
        return None
    base = w.fill_like(like, 0, x.dtype)
    return scatter(w, base, _positions_along_axis(w, index, axis, w.sizes(like)[axis]), x, "add")
