"""Rules of gathers and scatters: all are expressed by the writer's `gather_nd` and `scatter_nd`.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


def check_index(writer: Rules, index: Term, size: Any, wrap: bool = False) -> Term:
    """Return positions as int64, and set the error word if one is out of range; `wrap` allows negative ones.

    A position out of range becomes 0 if the runtime itself would raise for it.
    """
    index = writer.cast(index, int64)
    size = size if isinstance(size, int) else writer.cast(size, int64)
    is_outside = (index < (0 - size if wrap else 0)) | writer.compare("ge", index, size)
    writer.fail_if(is_outside)
    index = writer.select(index < 0, index + size, index) if wrap else index
    return writer.select(is_outside, 0, index) if writer.checks_positions else index


def gather_elements(writer: Rules, x: Term, positions: Sequence[Term]) -> Term:
    """Take elements by positions along the first dimensions: arrays of one shape, one for each dimension."""
    return writer.gather_nd(x, _join_positions(writer, positions))


def _join_positions(writer: Rules, positions: Sequence[Term]) -> Term:
    """Join arrays of positions, one for each dimension, to vectors of positions in a new last dimension."""
    columns = [insert_axis(writer, column, column.rank) for column in writer.broadcast(*positions)]
    return writer.concatenate(columns, columns[0].rank - 1)


def take_along(writer: Rules, x: Term, axis: int, positions: Term) -> Term:
    """Take elements by positions along an axis, all of which are in range, as `numpy.take_along_axis` does."""
    along_axes = _axis_iotas(writer, positions, positions.rank)
    along_axes[axis] = writer.cast(positions, int64)
    return gather_elements(writer, x, along_axes)


def _axis_iotas(writer: Rules, x: Term, axis_count: int) -> list[Term]:
    """Return the positions along each of the first dimensions, shaped to broadcast against one another."""
    sizes = writer.sizes(x)
    result = []
    for axis in range(axis_count):
        shape = [x.shape[axis] if i == axis else 1 for i in range(axis_count)]
        result.append(writer.iota(shape, axis, int64, [sizes[axis] if i == axis else 1 for i in range(axis_count)]))
    return result


def move_axes(writer: Rules, x: Term, source: Sequence[int], target: Sequence[int]) -> Term:
    """Move dimensions, as `numpy.moveaxis` does."""
    order = [axis for axis in range(x.rank) if axis not in source]
    for position, axis in sorted(zip(target, source, strict=True)):
        order.insert(position, axis)
    return writer.transpose(x, order)


def _batch_positions(writer: Rules, index: Term, batch_rank: int) -> list[Term]:
    """Return the positions along the batch dimensions, shaped to broadcast with the index."""
    result = []
    for axis, iota in enumerate(_axis_iotas(writer, index, batch_rank)):
        shape = [index.shape[axis] if i == axis else 1 for i in range(index.rank)]
        size = writer.sizes(index)[axis]
        result.append(writer.reshape(iota, shape, [size if i == axis else 1 for i in range(index.rank)]))
    return result


@lowers("gather")
def gather(writer: Rules, node: Node, x: Term, index: Term) -> Term:
    """Take elements or rows along an axis; positions are checked."""
    axis, batch_rank = normalise_axis(node.attributes.get("axis", 0), x.rank), node.attributes.get("batch_dims", 0)
    index = check_index(writer, index, writer.sizes(x)[axis])
    moved_x = move_axes(writer, x, [axis], [batch_rank])
    rows = gather_elements(writer, moved_x, [*_batch_positions(writer, index, batch_rank), index])
    inner_count = axis - batch_rank
    return move_axes(writer, rows, range(index.rank, index.rank + inner_count), range(batch_rank, axis))


@lowers("ungather")
def ungather(writer: Rules, node: Node, x: Term, index: Term, like: Term) -> Term:
    """Add rows at the positions from which `gather` takes them: the gradient of `gather`."""
    axis, batch_rank = normalise_axis(node.attributes.get("axis", 0), like.rank), node.attributes.get("batch_dims", 0)
    index = check_index(writer, index, writer.sizes(like)[axis])
    rows = move_axes(writer, x, range(batch_rank, axis), range(index.rank, index.rank + axis - batch_rank))
    base = move_axes(writer, writer.fill_like(like, 0, x.dtype), [axis], [batch_rank])
    total = scatter(writer, base, [*_batch_positions(writer, index, batch_rank), index], rows, "add")
    return move_axes(writer, total, [batch_rank], [axis])


def scatter(writer: Rules, base: Term, positions: Sequence[Term], updates: Term, combine: str | None) -> Term:
    """Write `updates` at the positions from which `gather_elements` would take elements."""
    return writer.scatter_nd(base, _join_positions(writer, positions), updates, combine)


def _position_vectors(writer: Rules, index: Term, like: Term, batch_rank: int = 0) -> Term:
    """Return the vectors of `index`, checked against the sizes of `like`, after the positions of the batch."""
    index = writer.cast(index, int64)
    depth = index.shape[-1]
    columns = []
    for k in range(depth):
        column = drop_axes(writer, writer.static_slice(index, index.rank - 1, k, k + 1), [index.rank - 1])
        columns.append(check_index(writer, column, writer.sizes(like)[batch_rank + k]))
    if batch_rank and columns:
        columns = [*_batch_positions(writer, columns[0], batch_rank), *columns]
    return _join_positions(writer, columns) if columns else index


@lowers("gather_nd")
def gather_nd(writer: Rules, node: Node, x: Term, index: Term) -> Term | None:
    """Take the rows at vectors of positions; vectors without positions take the whole array."""
    if not isinstance(index.shape[-1], int):
        return None
    batch_rank = node.attributes.get("batch_dims", 0)
    if index.shape[-1] == 0:
        if batch_rank:
            return None
        shape, sizes = (*index.shape[:-1], *x.shape), [*writer.sizes(index)[:-1], *writer.sizes(x)]
        return writer.expand(x, shape, sizes)
    return writer.gather_nd(x, _position_vectors(writer, index, x, batch_rank))


@lowers("ungather_nd")
def ungather_nd(writer: Rules, node: Node, x: Term, index: Term, like: Term) -> Term | None:
    """Add rows at the vectors of positions at which `gather_nd` takes them: the gradient of `gather_nd`."""
    if not index.shape[-1]:
        return None
    base = writer.fill_like(like, 0, x.dtype)
    positions = _position_vectors(writer, index, like, node.attributes.get("batch_dims", 0))
    return writer.scatter_nd(base, positions, x, "add")


@lowers("scatter_nd")
def scatter_nd(writer: Rules, node: Node, index: Term, updates: Term, dimensions: Term | None = None) -> Term | None:
    """Add the updates to zeros; bools are combined by `or`."""
    shape, sizes = writer.requested_sizes(node.attributes["shape"], dimensions)
    if not index.shape[-1]:
        return None
    base = writer.expand(writer.constant(0, updates.dtype), shape, sizes)
    combine = "or" if updates.dtype.is_bool else "add"
    return writer.scatter_nd(base, _position_vectors(writer, index, base), updates, combine)


# {last part of the op's name: the operation of an old and a new element}; `sub` adds negated numbers.
for _name, _combine in (("update", None), ("add", "add"), ("sub", "add"), ("max", "maximum"), ("min", "minimum")):

    def _tensor_scatter(
        writer: Rules, node: Node, x: Term, index: Term, updates: Term,
        *, name: str = _name, combine: str | None = _combine,
    ) -> Term | None:
        """Set rows, or combine them with the updates by the operation that the op's name states."""
        if not index.shape[-1]:
            return None
        signed_updates = -updates if name == "sub" else updates
        return writer.scatter_nd(x, _position_vectors(writer, index, x), signed_updates, combine)

    lowers(f"tensor_scatter_nd_{_name}")(_tensor_scatter)


@lowers("segment_sum")
def segment_sum(writer: Rules, node: Node, x: Term, segments: Term, count: Term | None = None) -> Term | None:
    """Add the rows of each segment; without `num_segments`, the largest id and one is their number."""
    segment_count: Any = node.attributes.get("num_segments")
    if not isinstance(segment_count, int):
        number = _largest_position(writer, segments) + 1 if count is None else count
        if not writer.can_be_sizes(number):
            return None
        segment_count = writer.as_size(number)
    segments = check_index(writer, segments, segment_count)
    sizes = [segment_count, *writer.sizes(x)[segments.rank :]]
    shape = (segment_count if isinstance(segment_count, int) else None, *x.shape[segments.rank :])
    return scatter(writer, writer.expand(writer.constant(0, x.dtype), shape, sizes), [segments], x, "add")


def _largest_position(writer: Rules, positions: Term) -> Term:
    """Return the largest position, or -1 if there is none."""
    vector = writer.flatten(writer.cast(positions, int64))
    return writer.reduce(writer.pad(vector, writer.constant(-1, int64), [0], [1]), [0], "maximum", int64.min)


def _positions_along_axis(writer: Rules, index: Term, axis: int, size: Any) -> list[Term]:
    """Return positions along all dimensions: the checked index along `axis`, and the element's own along others."""
    index = check_index(writer, index, size, wrap=True)
    result = _axis_iotas(writer, index, index.rank)
    result[axis] = index
    return result


def _have_same_other_sizes(x: Term, y: Term, axis: int) -> bool:
    """Return whether two arrays of one rank have the same sizes, but for those of an axis."""
    return (*x.shape[:axis], *x.shape[axis + 1 :]) == (*y.shape[:axis], *y.shape[axis + 1 :])


@lowers("take_along_axis")
def take_along_axis(writer: Rules, node: Node, x: Term, index: Term) -> Term | None:
    """Take elements by positions along an axis, which are checked; other sizes do not broadcast."""
    axis = normalise_axis(node.attributes["axis"], x.rank)
    if not _have_same_other_sizes(x, index, axis):
        return None
    return gather_elements(writer, x, _positions_along_axis(writer, index, axis, writer.sizes(x)[axis]))


@lowers("add_along_axis")
def add_along_axis(writer: Rules, node: Node, x: Term, index: Term, like: Term) -> Term | None:
    """Add elements at the positions from which `take_along_axis` takes them: its gradient."""
    axis = normalise_axis(node.attributes["axis"], like.rank)
    if not _have_same_other_sizes(like, index, axis):
        return None
    base = writer.fill_like(like, 0, x.dtype)
    return scatter(writer, base, _positions_along_axis(writer, index, axis, writer.sizes(like)[axis]), x, "add")
