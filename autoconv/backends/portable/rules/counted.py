"""Rules of ops with counts: repetitions, largest elements, distinct elements, and histograms of integers.

If a count is computed, so is the size of the result: only runtimes with arrays of open size can represent it.
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
def repeat(w: Rules, node: Node, x: Term, *counts: Term) -> Term | None:
    axis = normalise_axis(node.attributes["axis"], x.rank)
    if counts:
        return _repeat_by_counts(w, x, counts[0], axis) if w.can_be_sizes(*counts) else None
    count = node.attributes["repeats"]
    sizes, shape = w.sizes(x), list(x.shape)
    copies = w.expand(
        insert_axis(w, x, axis + 1), (*shape[: axis + 1], count, *shape[axis + 1 :]),
        [*sizes[: axis + 1], count, *sizes[axis + 1 :]],
    )  # fmt: skip
    sizes[axis] = sizes[axis] * count
    shape[axis] = sizes[axis] if isinstance(sizes[axis], int) else None
    return w.reshape(copies, shape, sizes)


def _repeat_by_counts(w: Rules, x: Term, counts: Term, axis: int) -> Term | None:
    """Repeat each element by its own count: gather by the rows of the true entries of a mask.

    The mask has a row for each element, with as many true entries as its count.
    """
    counts = w.cast(w.flatten(counts), int64)
    w.fail(counts < 0)
    counts_along_axis = w.expand(counts, (x.shape[axis],), [w.sizes(x)[axis]])
    largest_count = w.reduce(w.concatenate([counts_along_axis, w.array(np.array([0]), int64)], 0), (0,), "maximum", 0)
    copy_numbers = insert_axis(w, w.iota((None,), 0, int64, [w.as_size(largest_count)]), 0)
    positions = w.true_positions(w.compare("lt", copy_numbers, insert_axis(w, counts_along_axis, 1)))
    if positions is None:
        return None
    return move_axes(w, w.gather_nd(move_axes(w, x, [axis], [0]), w.static_slice(positions, 1, 0, 1)), [0], [axis])


@lowers("tile")
def tile(w: Rules, node: Node, x: Term, *multiples: Term) -> Term | None:
    if multiples:
        return _tile_by_terms(w, node, x, multiples[0]) if w.can_be_sizes(*multiples) else None
    for axis, count in enumerate(node.attributes["multiples"]):
        if count == 0:
            x = w.static_slice(x, axis, 0, 0)
        elif count > 1:
            x = w.concatenate([x] * count, axis)
    return x


def _tile_by_terms(w: Rules, node: Node, x: Term, multiples: Term) -> Term:
    """Tile by counts that are values of the graph."""
    multiples = w.cast(multiples, int64)
    static_counts, counts = w.requested_sizes(node.attributes["multiples"] or (None,) * x.rank, multiples)
    w.fail(multiples < 0)
    expanded_shape, expanded_sizes, shape, sizes = [], [], [], []
    for static_count, count, static_size, size in zip(static_counts, counts, x.shape, w.sizes(x), strict=True):
        expanded_shape += [static_count, static_size]
        expanded_sizes += [count, size]
        shape.append(static_count * static_size if None not in (static_count, static_size) else None)
        sizes.append(count * size)
    for axis in range(x.rank):
        x = insert_axis(w, x, 2 * axis)
    return w.reshape(w.expand(x, expanded_shape, expanded_sizes), shape, sizes)


@lowers("one_hot")
def one_hot(w: Rules, node: Node, indices: Term, on: Term, off: Term, *depth: Term) -> Term | None:
    static_size: Any = node.attributes["depth"]
    depth_size = static_size
    if depth:
        if not w.can_be_sizes(*depth):
            return None
        w.fail(depth[0] < 0)
        static_size, depth_size = None, w.as_size(depth[0])
    axis = normalise_axis(node.attributes.get("axis", -1), indices.rank + 1)
    shape, sizes = ([count if a == axis else 1 for a in range(indices.rank + 1)] for count in (static_size, depth_size))
    positions = w.reshape(w.iota((static_size,), 0, indices.dtype, [depth_size]), shape, sizes)
    broadcast_indices, broadcast_positions = w.broadcast(insert_axis(w, indices, axis), positions)
    is_hot, dtype = w.compare("eq", broadcast_indices, broadcast_positions), node.results[0].dtype
    return w.emit_select(*w.broadcast(is_hot, w.cast(on, dtype), w.cast(off, dtype)))


@lowers("top_k")
def top_k(w: Rules, node: Node, x: Term, *open_k: Term) -> list[Term] | None:
    k: Any = node.attributes.get("k")
    axis = x.rank - 1
    if open_k and not w.can_be_sizes(*open_k):
        return None
    values, positions = w.sort(x, axis, descending=True)
    positions = w.cast(positions, int32)
    if not open_k:
        return [w.static_slice(values, axis, 0, k), w.static_slice(positions, axis, 0, k)]
    size = w.sizes(x)[axis]
    k_term = w.cast(open_k[0], int64)
    w.fail((k_term < 0) | (k_term > (size if isinstance(size, int) else w.cast(size, int64))))
    slices = [w.open_slice(array, axis, 0, k_term, None) for array in (values, positions)]
    return [slice_ for slice_ in slices if slice_ is not None] if None not in slices else None


@lowers("unique")
def unique(w: Rules, node: Node, x: Term) -> list[Term] | None:
    results = w.find_distinct(x)
    if results is None:
        return None
    values, *index_arrays = results
    pairs = zip(index_arrays, node.results[1:], strict=True)
    return [values, *(w.cast(array, result.dtype) for array, result in pairs)]


@lowers("numpy_bincount")
def bincount(w: Rules, node: Node, x: Term, min_length: Term, *weights: Term) -> Term | None:
    if not w.can_be_sizes(x):
        return None
    x, min_length = w.cast(x, int64), w.cast(min_length, int64)
    w.fail(min_length < 0)
    needed_length = w.reduce(w.concatenate([x, w.array(np.array([-1]), int64)], 0), (0,), "maximum", -1) + 1
    size = w.as_size(w.select(needed_length < min_length, min_length, needed_length))
    dtype = float64 if weights else int64
    increments = w.cast(weights[0], dtype) if weights else w.fill_like(x, 1, dtype)
    return scatter(w, w.expand(w.constant(0, dtype), (None,), [size]), [check_index(w, x, size)], increments, "add")
