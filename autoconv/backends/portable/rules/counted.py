"""Rules of ops with counts: repetitions, largest elements, distinct elements, and histograms of integers.

If a count is computed, the size of the result is computed too: only runtimes with arrays of open size can represent it.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.portable.rules.gathers import check_index, move_axes, scatter
from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int32, int64
from autoconv.graph.graph import Node


@lowers("repeat")
def repeat(writer: Rules, node: Node, x: Term, *counts: Term) -> Term | None:
    """Repeat the elements along an axis, one number of times or by a count for each."""
    axis = normalise_axis(node.attributes["axis"], x.rank)
    if counts:
        return _repeat_by_counts(writer, x, counts[0], axis) if writer.can_be_sizes(*counts) else None
    count = node.attributes["repeats"]
    sizes, shape = writer.sizes(x), list(x.shape)
    copies = writer.expand(
        insert_axis(writer, x, axis + 1), (*shape[: axis + 1], count, *shape[axis + 1 :]),
        [*sizes[: axis + 1], count, *sizes[axis + 1 :]],
    )  # fmt: skip
    sizes[axis] = sizes[axis] * count
    shape[axis] = sizes[axis] if isinstance(sizes[axis], int) else None
    return writer.reshape(copies, shape, sizes)


def _repeat_by_counts(writer: Rules, x: Term, counts: Term, axis: int) -> Term | None:
    """Repeat each element by its own count: gather by the rows of the true entries of a mask.

    The mask has a row for each element, with as many true entries as its count.
    """
    counts = writer.cast(writer.flatten(counts), int64)
    writer.fail_if(counts < 0)
    counts_along_axis = writer.expand(counts, (x.shape[axis],), [writer.sizes(x)[axis]])
    counts_and_zero = writer.concatenate([counts_along_axis, writer.array(np.array([0]), int64)], 0)
    largest_count = writer.reduce(counts_and_zero, (0,), "maximum", 0)
    copy_numbers = insert_axis(writer, writer.iota((None,), 0, int64, [writer.as_size(largest_count)]), 0)
    positions = writer.true_positions(writer.compare("lt", copy_numbers, insert_axis(writer, counts_along_axis, 1)))
    if positions is None:
        return None
    rows = move_axes(writer, x, [axis], [0])
    return move_axes(writer, writer.gather_nd(rows, writer.static_slice(positions, 1, 0, 1)), [0], [axis])


@lowers("tile")
def tile(writer: Rules, node: Node, x: Term, *multiples: Term) -> Term | None:
    """Repeat the whole array along each axis; a count of 0 leaves no elements."""
    if multiples:
        return _tile_by_terms(writer, node, x, multiples[0]) if writer.can_be_sizes(*multiples) else None
    for axis, count in enumerate(node.attributes["multiples"]):
        if count == 0:
            x = writer.static_slice(x, axis, 0, 0)
        elif count > 1:
            x = writer.concatenate([x] * count, axis)
    return x


def _tile_by_terms(writer: Rules, node: Node, x: Term, multiples: Term) -> Term:
    """Tile by counts that are values of the graph."""
    multiples = writer.cast(multiples, int64)
    static_counts, counts = writer.requested_sizes(node.attributes["multiples"] or (None,) * x.rank, multiples)
    writer.fail_if(multiples < 0)
    expanded_shape, expanded_sizes, shape, sizes = [], [], [], []
    for static_count, count, static_size, size in zip(static_counts, counts, x.shape, writer.sizes(x), strict=True):
        expanded_shape += [static_count, static_size]
        expanded_sizes += [count, size]
        shape.append(static_count * static_size if None not in (static_count, static_size) else None)
        sizes.append(count * size)
    for axis in range(x.rank):
        x = insert_axis(writer, x, 2 * axis)
    return writer.reshape(writer.expand(x, expanded_shape, expanded_sizes), shape, sizes)


@lowers("one_hot")
def one_hot(writer: Rules, node: Node, indices: Term, on: Term, off: Term, *depth: Term) -> Term | None:
    """Compare indices with the positions along a new axis; the depth may be a number of the graph."""
    static_size: Any = node.attributes["depth"]
    depth_size = static_size
    if depth:
        if not writer.can_be_sizes(*depth):
            return None
        writer.fail_if(depth[0] < 0)
        static_size, depth_size = None, writer.as_size(depth[0])
    axis = normalise_axis(node.attributes.get("axis", -1), indices.rank + 1)
    shape, sizes = ([count if i == axis else 1 for i in range(indices.rank + 1)] for count in (static_size, depth_size))
    positions = writer.reshape(writer.iota((static_size,), 0, indices.dtype, [depth_size]), shape, sizes)
    broadcast_indices, broadcast_positions = writer.broadcast(insert_axis(writer, indices, axis), positions)
    is_hot, dtype = writer.compare("eq", broadcast_indices, broadcast_positions), node.results[0].dtype
    return writer.emit_select(*writer.broadcast(is_hot, writer.cast(on, dtype), writer.cast(off, dtype)))


@lowers("top_k")
def top_k(writer: Rules, node: Node, x: Term, *open_k: Term) -> list[Term] | None:
    """Take the `k` first elements of the descending order along the last axis, with their positions."""
    k: Any = node.attributes.get("k")
    axis = x.rank - 1
    values, positions = writer.sort(x, axis, descending=True)
    positions = writer.cast(positions, int32)
    if not open_k:
        return [writer.static_slice(values, axis, 0, k), writer.static_slice(positions, axis, 0, k)]
    size = writer.sizes(x)[axis]
    k_term = writer.cast(open_k[0], int64)
    writer.fail_if((k_term < 0) | (k_term > (size if isinstance(size, int) else writer.cast(size, int64))))
    slices = [writer.open_slice(array, axis, 0, k_term, step=None) for array in (values, positions)]
    return [slice_ for slice_ in slices if slice_ is not None] if None not in slices else None


@lowers("unique")
def unique(writer: Rules, node: Node, x: Term) -> list[Term] | None:
    """Return the distinct elements, each element's index among them, and the counts; None if they have no form."""
    results = writer.find_distinct(x)
    if results is None:
        return None
    values, *index_arrays = results
    pairs = zip(index_arrays, node.results[1:], strict=True)
    return [values, *(writer.cast(array, result.dtype) for array, result in pairs)]


@lowers("numpy_bincount")
def bincount(writer: Rules, node: Node, x: Term, min_length: Term, *weights: Term) -> Term | None:
    """Count, or add the weights of, each integer from 0 on; at least `min_length` counts."""
    if not writer.can_be_sizes(x):
        return None
    x, min_length = writer.cast(x, int64), writer.cast(min_length, int64)
    writer.fail_if(min_length < 0)
    numbers = writer.concatenate([x, writer.array(np.array([-1]), int64)], 0)
    needed_length = writer.reduce(numbers, (0,), "maximum", -1) + 1
    size = writer.as_size(writer.select(needed_length < min_length, min_length, needed_length))
    dtype = float64 if weights else int64
    increments = writer.cast(weights[0], dtype) if weights else writer.fill_like(x, 1, dtype)
    zeros = writer.expand(writer.constant(0, dtype), (None,), [size])
    return scatter(writer, zeros, [check_index(writer, x, size)], increments, "add")
