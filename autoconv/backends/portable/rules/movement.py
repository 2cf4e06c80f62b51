"""Rules of ops that move elements: shapes, order, joining, padding, and selections of parts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.portable.rules.registry import lowers, normalise_axes, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node


@lowers("reshape")
def reshape(w: Rules, node: Node, x: Term, dimensions: Term | None = None) -> Term | None:
    shape = node.results[0].shape
    if shape is None:
        return None
    if all(isinstance(size, int) for size in shape):
        return w.reshape(x, shape)
    _, requested = w.requested_sizes(node.attributes["shape"], dimensions)
    numbers = [w.constant(size, int64) if isinstance(size, int) else w.cast(size, int64) for size in requested]
    total = known_product = w.constant(1, int64)
    for axis in range(x.rank):
        total = total * w.size_term(x, axis, int64)
    for number in numbers:
        known_product = known_product * w.select(number < 0, 1, number)
    inferred_size = w.divide(total, w.binary("maximum", known_product, 1))
    sizes = [w.select(number < 0, inferred_size, number) for number in numbers]
    if w.is_in_try:  # the runtime would stop for a wrong number of elements: others are taken in their place
        count = w.constant(1, int64)
        for size in sizes:
            count = count * size
        w.fail(count.differs(total))
        positions = w.iota((None,), 0, int64, [w.as_size(count)])
        x = w.take_at(w.flatten(x), 0, w.binary("minimum", positions, w.binary("maximum", total - 1, 0)))
    return w.reshape(x, shape, [w.as_size(size) for size in sizes])


@lowers("reshape_like")
def reshape_like(w: Rules, node: Node, x: Term, model: Term) -> Term:
    return w.reshape(x, model.shape, w.sizes(model))


@lowers("expand_dims")
def expand_dims(w: Rules, node: Node, x: Term) -> Term:
    return insert_axis(w, x, normalise_axis(node.attributes["axis"], x.rank + 1))


def insert_axis(w: Rules, x: Term, axis: int) -> Term:
    """Insert a dimension of size 1."""
    sizes = w.sizes(x)
    return w.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]), [*sizes[:axis], 1, *sizes[axis:]])


def drop_axes(w: Rules, x: Term, axes: Sequence[int]) -> Term:
    """Drop dimensions of size 1."""
    kept_axes = [axis for axis in range(x.rank) if axis not in axes]
    sizes = w.sizes(x)
    return w.reshape(x, tuple(x.shape[axis] for axis in kept_axes), [sizes[axis] for axis in kept_axes])


@lowers("squeeze")
def squeeze(w: Rules, node: Node, x: Term) -> Term | None:
    axes = node.attributes["axis"]
    if axes in (None, ()):
        if not all(isinstance(size, int) for size in x.shape):
            return None
        return drop_axes(w, x, [axis for axis, size in enumerate(x.shape) if size == 1])
    return drop_axes(w, x, normalise_axes(axes, x.rank))


@lowers("transpose", "array_transpose")
def transpose(w: Rules, node: Node, x: Term) -> Term:
    order = node.attributes.get("perm")
    return w.transpose(x, list(range(x.rank))[::-1] if order is None else [axis % x.rank for axis in order])


@lowers("matrix_transpose")
def matrix_transpose(w: Rules, node: Node, x: Term) -> Term:
    return w.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


@lowers("broadcast_to", "fill")
def broadcast_to(w: Rules, node: Node, x: Term, dimensions: Term | None = None) -> Term:
    shape, sizes = w.requested_sizes(node.attributes["shape"], w.check_sizes(node, dimensions))
    return w.expand(x, shape, sizes)


@lowers("broadcast_to_shape_of")
def broadcast_to_shape_of(w: Rules, node: Node, x: Term, model: Term) -> Term:
    return w.expand(x, model.shape, w.sizes(model))


@lowers("concat")
def concat(w: Rules, node: Node, *parts: Term) -> Term:
    return w.concatenate(parts, normalise_axis(node.attributes["axis"], parts[0].rank))


@lowers("stack")
def stack(w: Rules, node: Node, *parts: Term) -> Term:
    axis = normalise_axis(node.attributes["axis"], parts[0].rank + 1)
    return w.concatenate([insert_axis(w, part, axis) for part in parts], axis)


@lowers("split")
def split(w: Rules, node: Node, x: Term, *sizes: Term) -> list[Term] | None:
    axis = normalise_axis(node.attributes["axis"], x.rank)
    parts, start = [], 0
    for result in node.results:
        size = None if result.shape is None else result.shape[axis]
        if not isinstance(size, int):
            return _open_split(w, node, x, axis, sizes[0]) if sizes and w.can_be_sizes(*sizes) else None
        parts.append(w.static_slice(x, axis, start, start + size))
        start += size
    return parts


def _open_split(w: Rules, node: Node, x: Term, axis: int, sizes: Term) -> list[Term] | None:
    """Split into parts whose sizes are values; a size of -1 stands for the elements that the other parts leave."""
    vector = w.cast(sizes, int64)
    numbers = [w.reshape(w.static_slice(vector, 0, i, i + 1), ()) for i in range(len(node.results))]
    total = inferred_size = w.size_term(x, axis, int64)
    for number in numbers:
        inferred_size = inferred_size - w.select(number.same(-1), 0, number)
    parts, start = [], w.constant(0, int64)
    for number in numbers:
        count = w.select(number.same(-1), inferred_size, number)
        w.fail(count < 0)
        stop = start + count
        parts.append(w.open_slice(x, axis, start, stop, None))
        start = stop
    w.fail(start.differs(total))
    return [part for part in parts if part is not None]


@lowers("split_like")
def split_like(w: Rules, node: Node, x: Term, *models: Term) -> list[Term] | None:
    axis = normalise_axis(node.attributes["axis"], x.rank)
    result, start = [], 0
    for model in models:
        size = model.shape[axis]
        if not isinstance(size, int):
            return None
        result.append(w.static_slice(x, axis, start, start + size))
        start += size
    return result


@lowers("unstack")
def unstack(w: Rules, node: Node, x: Term) -> list[Term]:
    axis = normalise_axis(node.attributes["axis"], x.rank)
    return [drop_axes(w, w.static_slice(x, axis, i, i + 1), [axis]) for i in range(len(node.results))]


@lowers("reverse")
def reverse(w: Rules, node: Node, x: Term) -> Term:
    return w.reverse(x, normalise_axes(node.attributes["axis"], x.rank))


@lowers("roll")
def roll(w: Rules, node: Node, x: Term, *shift: Term) -> Term | None:
    shifts, axes = node.attributes.get("shift"), node.attributes["axis"]
    if shift:
        return _roll_by_terms(w, x, shift[0], axes)
    if shifts is None:
        return None
    for distance, axis in zip(shifts, axes, strict=True):
        axis = normalise_axis(axis, x.rank)
        size = x.shape[axis]
        if not isinstance(size, int):
            x = _roll_axis(w, x, w.constant(distance, int64), axis)
            continue
        distance = distance % size if size else 0
        if distance:
            parts = [w.static_slice(x, axis, size - distance, size), w.static_slice(x, axis, 0, size - distance)]
            x = w.concatenate(parts, axis)
    return x


def _roll_axis(w: Rules, x: Term, distance: Term, axis: int) -> Term:
    """Roll by a distance that is a value, or along an axis of open size: each element comes from so many before it."""
    size = w.binary("maximum", w.size_term(x, axis, int64), 1)  # a size of 0 has no remainders
    position = w.iota((x.shape[axis],), 0, int64, [w.size(x, axis)]) - w.remainder(distance, size)
    return w.take_at(x, axis, w.remainder(position + size, size))


def _roll_by_terms(w: Rules, x: Term, shifts: Term, axes: Sequence[int]) -> Term | None:
    """Roll by distances that are values."""
    distances = w.cast(w.reshape(shifts, (len(axes),)), int64)
    for i, axis in enumerate(axes):
        axis = normalise_axis(axis, x.rank)
        if x.shape[axis] != 0:
            x = _roll_axis(w, x, w.reshape(w.static_slice(distances, 0, i, i + 1), ()), axis)
    return x


_MAX_WINDOW_SIZE = 64  # elements along an axis: each one takes a slice of its own


@lowers("sliding_windows")
def sliding_windows(w: Rules, node: Node, x: Term) -> Term | None:
    """Concatenate, along a new last axis, one slice for each position in a window."""
    rank = x.rank
    for axis, length in zip(node.attributes["axes"], node.attributes["lengths"], strict=True):
        axis = normalise_axis(axis, rank)
        if not 0 < length <= _MAX_WINDOW_SIZE:
            return None
        parts = [w.slice(x, axis, i, i - length + 1 or None) for i in range(length)]
        x = w.concatenate([w.reshape(part, [*part.shape, 1], [*w.sizes(part), 1]) for part in parts], x.rank)
    return x


@lowers("shift")
def shift(w: Rules, node: Node, x: Term) -> Term | None:
    """Shift by one along an axis, and fill the gap with zeros."""
    axis, backwards = normalise_axis(node.attributes["axis"], x.rank), node.attributes["reverse"]
    edge, no_edge = [int(a == axis) for a in range(x.rank)], [0] * x.rank
    padded_x = w.pad(x, w.constant(0, x.dtype), *((no_edge, edge) if backwards else (edge, no_edge)))
    return w.slice(padded_x, axis, 1, None) if backwards else w.slice(padded_x, axis, 0, -1)


@lowers("sum_tiles")
def sum_tiles(w: Rules, node: Node, x: Term, model: Term) -> Term | None:
    """Split an array into tiles of the shape of `model`, and add them up: the gradient of `tile`."""
    shape: list[Any] = []
    for size, tile_size in zip(x.shape, model.shape, strict=True):
        if not isinstance(size, int) or not isinstance(tile_size, int) or tile_size == 0:
            return None
        shape += [size // tile_size, tile_size]
    return w.reduce(w.reshape(x, shape), tuple(range(0, 2 * x.rank, 2)), "add", 0)


@lowers("pad")
def pad(w: Rules, node: Node, x: Term, *paddings: Term) -> Term | None:
    amounts, mode = node.attributes["paddings"], node.attributes.get("mode", "CONSTANT").upper()
    is_static = amounts is not None and all(isinstance(amount, int) for pair in amounts for amount in pair)
    if mode == "CONSTANT":
        value = w.constant(node.attributes.get("constant_values", 0), x.dtype)
        if is_static and not paddings:
            return w.pad(x, value, [before for before, _ in amounts], [after for _, after in amounts])
        vector = w.cast(paddings[0], int64) if paddings else w.dimension_vector(list(itertools.chain(*amounts)))
        return w.open_pad(x, value, w.reshape(vector, (x.rank, 2)))
    if paddings or not is_static:
        return None
    for axis, (before, after) in enumerate(amounts):
        if not (before or after):
            continue
        size = x.shape[axis]
        if isinstance(size, int):
            x = w.take(x, axis, np.pad(np.arange(size), (before, after), mode.lower()))  # type: ignore[call-overload]
        else:
            x = _mirror_edges(w, x, axis, before, after, int(mode == "REFLECT"))
    return x


def _mirror_edges(w: Rules, x: Term, axis: int, before: int, after: int, left_out: int) -> Term:
    """Pad an axis of open size with its mirrored edges, without the `left_out` elements at the border."""
    last = w.size_term(x, axis, int64) - 1
    position = w.iota((None,), 0, int64, [w.as_size(last + (before + after + 1))]) - before
    position = w.select(position < 0, left_out - 1 - position, position)
    return w.take_at(x, axis, w.select(position > last, last * 2 + (1 - left_out) - position, position))


@lowers("unpad")
def unpad(w: Rules, node: Node, x: Term) -> Term | None:
    """Add the elements of the border to those from which `pad` copied them: the gradient of `pad`."""
    amounts, mode = node.attributes["paddings"], node.attributes["mode"].upper()
    for axis, (before, after) in enumerate(amounts):
        if mode == "CONSTANT":
            x = w.slice(x, axis, before, -after or None)
            continue
        size = x.shape[axis]
        if not isinstance(size, int):
            return None
        inner_size = size - before - after
        origin = np.pad(np.arange(inner_size), (before, after), mode.lower())
        x = multiply_along_axis(w, x, axis, (origin[:, None] == np.arange(inner_size)).astype(x.dtype.numpy))
    return x


def multiply_along_axis(w: Rules, x: Term, axis: int, matrix: np.ndarray) -> Term:
    """Multiply the vectors along an axis by a constant matrix, each from the left."""
    product = w.dot(x, w.array(matrix, x.dtype), (), (), (axis,), (0,))
    order = [*range(axis), x.rank - 1, *range(axis, x.rank - 1)]
    return w.transpose(product, order)


@lowers("diag_part", "array_diagonal")
def diag_part(w: Rules, node: Node, x: Term) -> Term | None:
    offset = node.attributes.get("offset", 0)
    rows, columns = x.shape[-2:]
    down, right = max(0, -offset), max(0, offset)
    if isinstance(rows, int) and isinstance(columns, int):
        count = max(0, min(rows - down, columns - right))
        x = w.static_slice(w.static_slice(x, x.rank - 2, down, down + count), x.rank - 1, right, right + count)
    else:
        rows_left, columns_left = (
            w.size_term(x, axis, int64) - start for axis, start in ((x.rank - 2, down), (x.rank - 1, right))
        )
        count_term = w.binary("maximum", w.binary("minimum", rows_left, columns_left), 0)
        for axis, start in ((x.rank - 2, down), (x.rank - 1, right)):
            part = w.open_slice(x, axis, start, count_term + start, None)
            if part is None:
                return None
            x = part
    masked_x = w.select(w.diagonal_mask(x, x.rank - 2, x.rank - 1), x, 0)
    return w.reduce(masked_x, (x.rank - 1,), "or" if x.dtype.is_bool else "add", 0)


@lowers("diag")
def diag(w: Rules, node: Node, x: Term) -> Term | None:
    offset = node.attributes.get("offset", 0)
    x = w.pad(x, w.constant(0, x.dtype), [0] * (x.rank - 1) + [max(0, -offset)], [0] * (x.rank - 1) + [max(0, offset)])
    sizes = w.sizes(x)
    matrix = w.expand(insert_axis(w, x, x.rank), (*x.shape, x.shape[-1]), [*sizes, sizes[-1]])
    return w.select(w.diagonal_mask(matrix, x.rank - 1, x.rank, offset), matrix, 0)


@lowers("set_diag")
def set_diag(w: Rules, node: Node, x: Term, diagonal: Term) -> Term | None:
    """Select the diagonal's elements, moved to their rows, where the mask of the diagonal is true."""
    offset = node.attributes.get("offset", 0)
    rows, columns = x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int) or not isinstance(diagonal.shape[-1], int):
        return None
    down = max(0, -offset)
    low, high = [0] * diagonal.rank, [0] * diagonal.rank
    low[-1], high[-1] = down, rows - down - diagonal.shape[-1]
    diagonal_rows = insert_axis(w, w.pad(diagonal, w.constant(0, x.dtype), low, high), diagonal.rank)
    mask = w.expand(w.array(np.eye(rows, columns, k=offset, dtype=bool), bool_), x.shape, w.sizes(x))
    return w.emit_select(mask, w.expand(diagonal_rows, x.shape, w.sizes(x)), x)


@lowers("matrix_band_part")
def matrix_band_part(w: Rules, node: Node, x: Term, *bounds: Term) -> Term | None:
    limits = bounds or [node.attributes.get(name) for name in ("num_lower", "num_upper")]
    if not all(isinstance(limit, (int, Term)) for limit in limits):
        return None
    sizes = w.sizes(x)[-2:]
    shapes = (x.shape[-2], 1), (1, x.shape[-1])
    rows, columns = (
        w.iota(shape, axis, int64, [size if a == axis else 1 for a, size in enumerate(sizes)])
        for axis, shape in enumerate(shapes)
    )
    for limit, distance in zip(limits, (rows - columns, columns - rows), strict=True):
        number = w.cast(limit, int64) if isinstance(limit, Term) else w.constant(limit, int64)
        x = w.select((number < 0) | (distance <= number), x, 0)
    return x
