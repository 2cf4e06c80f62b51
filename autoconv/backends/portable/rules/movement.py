"""Rules of ops that move elements: shapes, order, joining, padding, and selections of parts.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.portable.rules.registry import lowers, normalise_axes, normalise_axis
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node


@lowers("reshape")
def reshape(writer: Rules, node: Node, x: Term, dimensions: Term | None = None) -> Term | None:
    """Reshape; a negative size among those that the graph computes is inferred from the number of elements."""
    shape = node.results[0].shape
    if shape is None:
        return None
    if all(isinstance(size, int) for size in shape):
        return writer.reshape(x, shape)
    sizes_of_x = static_shape(x.shape)
    limit = None if sizes_of_x is None else math.prod(sizes_of_x)
    _, requested = writer.requested_sizes(node.attributes["shape"], dimensions, limit)
    numbers = [
        writer.constant(size, int64) if isinstance(size, int) else writer.cast(size, int64) for size in requested
    ]
    total = known_product = writer.constant(1, int64)
    for axis in range(x.rank):
        total = total * writer.size_term(x, axis, int64)
    for number in numbers:
        known_product = known_product * writer.select(number < 0, 1, number)
    inferred_size = writer.divide(total, writer.binary("maximum", known_product, 1))
    if node.attributes.get("infers_without_zeros"):
        old_product = new_product = writer.constant(1, int64)
        for axis in range(x.rank):
            old_product = old_product * writer.binary("maximum", writer.size_term(x, axis, int64), 1)
        for number in numbers:
            new_product = new_product * writer.binary("maximum", number, 1)
        inferred_size = writer.select(known_product < 1, writer.divide(old_product, new_product), inferred_size)
    sizes = [writer.select(number < 0, inferred_size, number) for number in numbers]
    sizes = [size if limit is None else writer.limit_size(size, limit) for size in sizes]
    if writer.is_in_try:  # a wrong number of elements must not stop the runtime: the last element fills the rest
        count = writer.constant(1, int64)
        for size in sizes:
            count = count * size
        writer.fail_if(count.differs(total))
        positions = writer.iota((None,), 0, int64, [writer.as_size(count)])
        last_position = writer.binary("maximum", total - 1, 0)
        x = writer.take_at(writer.flatten(x), 0, writer.binary("minimum", positions, last_position))
    return writer.reshape(x, shape, [writer.as_size(size) for size in sizes])


@lowers("reshape_like")
def reshape_like(writer: Rules, node: Node, x: Term, model: Term) -> Term:
    return writer.reshape(x, model.shape, writer.sizes(model))


@lowers("expand_dims")
def expand_dims(writer: Rules, node: Node, x: Term) -> Term:
    """Insert a dimension of size 1."""
    return insert_axis(writer, x, normalise_axis(node.attributes["axis"], x.rank + 1))


def insert_axis(writer: Rules, x: Term, axis: int) -> Term:
    """Insert a dimension of size 1."""
    sizes = writer.sizes(x)
    return writer.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]), [*sizes[:axis], 1, *sizes[axis:]])


def drop_axes(writer: Rules, x: Term, axes: Sequence[int]) -> Term:
    """Drop dimensions of size 1."""
    kept_axes = [axis for axis in range(x.rank) if axis not in axes]
    sizes = writer.sizes(x)
    return writer.reshape(x, tuple(x.shape[axis] for axis in kept_axes), [sizes[axis] for axis in kept_axes])


@lowers("squeeze")
def squeeze(writer: Rules, node: Node, x: Term) -> Term | None:
    """Drop the given axes, or all axes of size 1; None if an open size does not show whether it is 1."""
    axes = node.attributes["axis"]
    if axes in (None, ()):
        if not all(isinstance(size, int) for size in x.shape):
            return None
        return drop_axes(writer, x, [axis for axis, size in enumerate(x.shape) if size == 1])
    return drop_axes(writer, x, normalise_axes(axes, x.rank))


@lowers("transpose", "array_transpose")
def transpose(writer: Rules, node: Node, x: Term) -> Term:
    """Permute dimensions, by default in reverse order."""
    order = node.attributes.get("perm")
    return writer.transpose(x, list(range(x.rank))[::-1] if order is None else [axis % x.rank for axis in order])


@lowers("matrix_transpose")
def matrix_transpose(writer: Rules, node: Node, x: Term) -> Term:
    """Transpose the matrices of the last two dimensions."""
    return writer.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


@lowers("broadcast_to", "fill")
def broadcast_to(writer: Rules, node: Node, x: Term, dimensions: Term | None = None) -> Term:
    """Broadcast to a shape; `dimensions` has the sizes that the graph computes."""
    shape, sizes = writer.requested_sizes(node.attributes["shape"], writer.check_sizes(node, dimensions))
    return writer.expand(x, shape, sizes)


@lowers("broadcast_to_shape_of")
def broadcast_to_shape_of(writer: Rules, node: Node, x: Term, model: Term) -> Term:
    return writer.expand(x, model.shape, writer.sizes(model))


@lowers("concat")
def concat(writer: Rules, node: Node, *arrays: Term) -> Term:
    """Join along an axis."""
    return writer.concatenate(arrays, normalise_axis(node.attributes["axis"], arrays[0].rank))


@lowers("stack")
def stack(writer: Rules, node: Node, *arrays: Term) -> Term:
    """Join along a new axis."""
    axis = normalise_axis(node.attributes["axis"], arrays[0].rank + 1)
    return writer.concatenate([insert_axis(writer, array, axis) for array in arrays], axis)


@lowers("split")
def split(writer: Rules, node: Node, x: Term, computed_sizes: Term | None = None) -> list[Term] | None:
    """Split along an axis by the sizes of the results, or by computed sizes."""
    axis = normalise_axis(node.attributes["axis"], x.rank)
    parts, start = [], 0
    for result in node.results:
        size = None if result.shape is None else result.shape[axis]
        if not isinstance(size, int):
            return None if computed_sizes is None else _open_split(writer, node, x, axis, computed_sizes)
        parts.append(writer.static_slice(x, axis, start, start + size))
        start += size
    return parts


def _open_split(writer: Rules, node: Node, x: Term, axis: int, sizes: Term) -> list[Term] | None:
    """Split into parts whose sizes are values; a size of -1 stands for the elements that the other parts leave."""
    vector = writer.cast(sizes, int64)
    numbers = [writer.reshape(writer.static_slice(vector, 0, i, i + 1), ()) for i in range(len(node.results))]
    total = inferred_size = writer.size_term(x, axis, int64)
    for number in numbers:
        inferred_size = inferred_size - writer.select(number.same(-1), 0, number)
    parts: list[Term] = []
    start = writer.constant(0, int64)
    for number in numbers:
        count = writer.select(number.same(-1), inferred_size, number)
        writer.fail_if(count < 0)
        stop = start + count
        part = writer.open_slice(x, axis, start, stop, step=None)
        if part is None:
            return None
        parts.append(part)
        start = stop
    writer.fail_if(start.differs(total))
    return parts


@lowers("split_like")
def split_like(writer: Rules, node: Node, x: Term, *models: Term) -> list[Term] | None:
    """Split along an axis into arrays of the models' sizes; None if one of the sizes is open."""
    axis = normalise_axis(node.attributes["axis"], x.rank)
    result, start = [], 0
    for model in models:
        size = model.shape[axis]
        if not isinstance(size, int):
            return None
        result.append(writer.static_slice(x, axis, start, start + size))
        start += size
    return result


@lowers("unstack")
def unstack(writer: Rules, node: Node, x: Term) -> list[Term]:
    """Return the parts at each position of an axis."""
    axis = normalise_axis(node.attributes["axis"], x.rank)
    return [drop_axes(writer, writer.static_slice(x, axis, i, i + 1), [axis]) for i in range(len(node.results))]


@lowers("reverse")
def reverse(writer: Rules, node: Node, x: Term) -> Term:
    return writer.reverse(x, normalise_axes(node.attributes["axis"], x.rank))


@lowers("roll")
def roll(writer: Rules, node: Node, x: Term, computed_shifts: Term | None = None) -> Term | None:
    """Roll along axes by static or computed distances."""
    shifts, axes = node.attributes.get("shift"), node.attributes["axis"]
    if computed_shifts is not None:
        return _roll_by_terms(writer, x, computed_shifts, axes)
    if shifts is None:
        return None
    for distance, axis in zip(shifts, axes, strict=True):
        axis = normalise_axis(axis, x.rank)
        size = x.shape[axis]
        if not isinstance(size, int):
            x = _roll_axis(writer, x, writer.constant(distance, int64), axis)
            continue
        distance = distance % size if size else 0
        if distance:
            start = size - distance
            parts = [writer.static_slice(x, axis, start, size), writer.static_slice(x, axis, 0, start)]
            x = writer.concatenate(parts, axis)
    return x


def _roll_axis(writer: Rules, x: Term, distance: Term, axis: int) -> Term:
    """Roll to higher positions by a distance that is a value, or along an axis of open size."""
    size = writer.binary("maximum", writer.size_term(x, axis, int64), 1)  # a size of 0 has no remainders
    position = writer.iota((x.shape[axis],), 0, int64, [writer.size(x, axis)]) - writer.remainder(distance, size)
    return writer.take_at(x, axis, writer.remainder(position + size, size))


def _roll_by_terms(writer: Rules, x: Term, shifts: Term, axes: Sequence[int]) -> Term | None:
    """Roll by distances that are values."""
    distances = writer.cast(writer.reshape(shifts, (len(axes),)), int64)
    for i, axis in enumerate(axes):
        axis = normalise_axis(axis, x.rank)
        if x.shape[axis] != 0:
            x = _roll_axis(writer, x, writer.reshape(writer.static_slice(distances, 0, i, i + 1), ()), axis)
    return x


_MAX_WINDOW_SIZE = 64  # elements along an axis; there is a slice for each of them


@lowers("sliding_windows")
def sliding_windows(writer: Rules, node: Node, x: Term) -> Term | None:
    """Concatenate, along a new last axis, one slice for each position in a window."""
    rank = x.rank
    for axis, length in zip(node.attributes["axes"], node.attributes["lengths"], strict=True):
        axis = normalise_axis(axis, rank)
        if not 0 < length <= _MAX_WINDOW_SIZE:
            return None
        parts = [writer.slice(x, axis, i, i - length + 1 or None) for i in range(length)]  # the last one has no stop
        columns = [writer.reshape(part, [*part.shape, 1], [*writer.sizes(part), 1]) for part in parts]
        x = writer.concatenate(columns, x.rank)
    return x


@lowers("shift")
def shift(writer: Rules, node: Node, x: Term) -> Term | None:
    """Shift by one along an axis, to lower positions if the attribute `reverse` is true; the gap is filled with zeros.
    """
    axis, backwards = normalise_axis(node.attributes["axis"], x.rank), node.attributes["reverse"]
    edge, no_edge = [int(i == axis) for i in range(x.rank)], [0] * x.rank
    padded_x = writer.pad(x, writer.constant(0, x.dtype), *((no_edge, edge) if backwards else (edge, no_edge)))
    return writer.slice(padded_x, axis, 1, None) if backwards else writer.slice(padded_x, axis, 0, -1)


@lowers("sum_tiles")
def sum_tiles(writer: Rules, node: Node, x: Term, model: Term) -> Term | None:
    """Split an array into tiles of the shape of `model`, and add them up: the gradient of `tile`."""
    shape: list[Any] = []
    for size, tile_size in zip(x.shape, model.shape, strict=True):
        if not isinstance(size, int) or not isinstance(tile_size, int) or tile_size == 0:
            return None
        shape += [size // tile_size, tile_size]
    return writer.reduce(writer.reshape(x, shape), tuple(range(0, 2 * x.rank, 2)), "add", 0)


@lowers("pad")
def pad(writer: Rules, node: Node, x: Term, computed_amounts: Term | None = None) -> Term | None:
    """Pad with a constant, by static or computed amounts, or with mirrored elements by static amounts."""
    amounts, mode = node.attributes["paddings"], node.attributes.get("mode", "CONSTANT").upper()
    is_static = amounts is not None and all(isinstance(amount, int) for pair in amounts for amount in pair)
    if mode == "CONSTANT":
        value = writer.constant(node.attributes.get("constant_values", 0), x.dtype)
        if is_static and computed_amounts is None:
            return writer.pad(x, value, [before for before, _ in amounts], [after for _, after in amounts])
        if computed_amounts is not None:
            vector = writer.cast(computed_amounts, int64)
        else:
            vector = writer.dimension_vector(list(itertools.chain(*amounts)))
        return writer.open_pad(x, value, writer.reshape(vector, (x.rank, 2)))
    if computed_amounts is not None or not is_static:
        return None
    for axis, (before, after) in enumerate(amounts):
        if not (before or after):
            continue
        size = x.shape[axis]
        if isinstance(size, int):
            x = writer.take(x, axis, np.pad(np.arange(size), (before, after), mode.lower()))  # type: ignore[call-overload]
        else:
            x = _mirror_edges(writer, x, axis, before, after, int(mode == "REFLECT"))
    return x


def _mirror_edges(writer: Rules, x: Term, axis: int, before: int, after: int, skipped_count: int) -> Term:
    """Pad an axis of open size with mirror images of its edges, without the first `skipped_count` elements."""
    last = writer.size_term(x, axis, int64) - 1
    position = writer.iota((None,), 0, int64, [writer.as_size(last + (before + after + 1))]) - before
    position = writer.select(position < 0, skipped_count - 1 - position, position)
    return writer.take_at(x, axis, writer.select(position > last, last * 2 + (1 - skipped_count) - position, position))


@lowers("unpad")
def unpad(writer: Rules, node: Node, x: Term) -> Term | None:
    """Add the elements of the border to those from which `pad` copied them: the gradient of `pad`."""
    amounts, mode = node.attributes["paddings"], node.attributes["mode"].upper()
    for axis, (before, after) in enumerate(amounts):
        if mode == "CONSTANT":
            x = writer.slice(x, axis, before, -after if after else None)
            continue
        size = x.shape[axis]
        if not isinstance(size, int):
            return None
        inner_size = size - before - after
        origin = np.pad(np.arange(inner_size), (before, after), mode.lower())
        x = multiply_along_axis(writer, x, axis, (origin[:, None] == np.arange(inner_size)).astype(x.dtype.numpy))
    return x


def multiply_along_axis(writer: Rules, x: Term, axis: int, matrix: np.ndarray) -> Term:
    """Multiply the vectors along an axis by a constant matrix, each from the left."""
    product = writer.dot(x, writer.array(matrix, x.dtype), (), (), (axis,), (0,))
    order = [*range(axis), x.rank - 1, *range(axis, x.rank - 1)]
    return writer.transpose(product, order)


@lowers("diag_part", "array_diagonal")
def diag_part(writer: Rules, node: Node, x: Term) -> Term | None:
    """Take a diagonal, whose `offset` is in columns to the right or, if negative, in rows down, as sums of masked rows.
    """
    offset = node.attributes.get("offset", 0)
    rows, columns = x.shape[-2:]
    down, right = max(0, -offset), max(0, offset)
    if isinstance(rows, int) and isinstance(columns, int):
        count = max(0, min(rows - down, columns - right))
        x = writer.static_slice(x, x.rank - 2, down, down + count)
        x = writer.static_slice(x, x.rank - 1, right, right + count)
    else:
        rows_left, columns_left = (
            writer.size_term(x, axis, int64) - start for axis, start in ((x.rank - 2, down), (x.rank - 1, right))
        )
        count_term = writer.binary("maximum", writer.binary("minimum", rows_left, columns_left), 0)
        for axis, start in ((x.rank - 2, down), (x.rank - 1, right)):
            part = writer.open_slice(x, axis, start, count_term + start, step=None)
            if part is None:
                return None
            x = part
    masked_x = writer.select(writer.diagonal_mask(x, x.rank - 2, x.rank - 1), x, 0)
    return writer.reduce(masked_x, (x.rank - 1,), "or" if x.dtype.is_bool else "add", 0)


@lowers("diag")
def diag(writer: Rules, node: Node, x: Term) -> Term | None:
    """Write a matrix with the vector on the diagonal of the offset (see `diag_part`)."""
    offset = node.attributes.get("offset", 0)
    leading_zeros = [0] * (x.rank - 1)
    zero, before, after = writer.constant(0, x.dtype), max(0, -offset), max(0, offset)
    x = writer.pad(x, zero, [*leading_zeros, before], [*leading_zeros, after])
    sizes = writer.sizes(x)
    matrix = writer.expand(insert_axis(writer, x, x.rank), (*x.shape, x.shape[-1]), [*sizes, sizes[-1]])
    return writer.select(writer.diagonal_mask(matrix, x.rank - 1, x.rank, offset), matrix, 0)


@lowers("set_diag")
def set_diag(writer: Rules, node: Node, x: Term, diagonal: Term) -> Term | None:
    """Replace a diagonal: its elements, moved to their rows, are selected where the mask of the diagonal is true."""
    offset = node.attributes.get("offset", 0)
    rows, columns = x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int) or not isinstance(diagonal.shape[-1], int):
        return None
    down = max(0, -offset)
    leading_zeros = [0] * (diagonal.rank - 1)
    low, high = [*leading_zeros, down], [*leading_zeros, rows - down - diagonal.shape[-1]]
    diagonal_rows = insert_axis(writer, writer.pad(diagonal, writer.constant(0, x.dtype), low, high), diagonal.rank)
    mask = writer.expand(writer.array(np.eye(rows, columns, k=offset, dtype=bool), bool_), x.shape, writer.sizes(x))
    return writer.emit_select(mask, writer.expand(diagonal_rows, x.shape, writer.sizes(x)), x)


@lowers("matrix_band_part")
def matrix_band_part(writer: Rules, node: Node, x: Term, *bounds: Term) -> Term | None:
    """Keep the diagonals within the limits, and set other elements to 0; a negative limit keeps all on its side."""
    limits = bounds or [node.attributes.get(name) for name in ("num_lower", "num_upper")]
    if not all(isinstance(limit, (int, Term)) for limit in limits):
        return None
    sizes = writer.sizes(x)[-2:]
    shapes = (x.shape[-2], 1), (1, x.shape[-1])
    rows, columns = (
        writer.iota(shape, axis, int64, [size if i == axis else 1 for i, size in enumerate(sizes)])
        for axis, shape in enumerate(shapes)
    )
    for limit, distance in zip(limits, (rows - columns, columns - rows), strict=True):
        number = writer.cast(limit, int64) if isinstance(limit, Term) else writer.constant(limit, int64)
        x = writer.select((number < 0) | (distance <= number), x, 0)
    return x
