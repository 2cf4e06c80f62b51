"""Rules of ops with counts: repetitions, choices of the largest, distinct elements, and counts of numbers.

Where a count is a value, the size of the result depends on it: only runtimes with arrays of open size have a form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.portable.rules.gathers import check_index, move_axes, scatter
from autoconv.backends.portable.rules.movement import expand_at
from autoconv.backends.portable.rules.registry import lowers, whole
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int32, int64
from autoconv.graph.graph import Node


@lowers("repeat")
def repeat(w: Rules, node: Node, x: Term, *counts: Term) -> Term | None:
    axis = whole(node.attributes["axis"], x.rank)
    if counts:
        return _repeat(w, x, counts[0], axis) if w.has_open_sizes else None
    count = node.attributes["repeats"]
    sizes, shape = w.sizes(x), list(x.shape)
    wide = w.expanded(
        expand_at(w, x, axis + 1), (*shape[: axis + 1], count, *shape[axis + 1 :]),
        [*sizes[: axis + 1], count, *sizes[axis + 1 :]],
    )  # fmt: skip
    sizes[axis] = sizes[axis] * count
    shape[axis] = sizes[axis] if isinstance(sizes[axis], int) else None
    return w.reshape(wide, shape, sizes)


def _repeat(w: Rules, x: Term, counts: Term, axis: int) -> Term | None:
    """Take each element as often as its count says: the true elements of a row for each are as many."""
    counts = w.cast(w.flat(counts), int64)
    w.fail(counts < 0)
    along = w.expanded(counts, (x.shape[axis],), [w.sizes(x)[axis]])
    most = w.reduce(w.concatenate([along, w.array(np.array([0]), int64)], 0), (0,), "maximum", 0)
    turns = expand_at(w, w.iota((None,), 0, int64, [w.as_size(most)]), 0)
    places = w.true_positions(w.compare("lt", turns, expand_at(w, along, 1)))
    if places is None:
        return None
    return move_axes(w, w.gather_nd(move_axes(w, x, [axis], [0]), w.part(places, 1, 0, 1)), [0], [axis])


@lowers("tile")
def tile(w: Rules, node: Node, x: Term, *multiples: Term) -> Term | None:
    if multiples:
        return _tile(w, node, x, multiples[0]) if w.has_open_sizes else None
    for axis, count in enumerate(node.attributes["multiples"]):
        if count == 0:
            x = w.part(x, axis, 0, 0)
        elif count > 1:
            x = w.concatenate([x] * count, axis)
    return x


def _tile(w: Rules, node: Node, x: Term, multiples: Term) -> Term:
    counts, terms = w.given_sizes(node.attributes["multiples"] or (None,) * x.rank, w.cast(multiples, int64))
    w.fail(w.cast(multiples, int64) < 0)
    wide: tuple[list[Any], list[Any]] = ([], [])
    shape: list[Any] = []
    sizes: list[Any] = []
    for count, term, size, own in zip(counts, terms, x.shape, w.sizes(x), strict=True):
        wide[0].extend((count, size))
        wide[1].extend((term, own))
        shape.append(count * size if isinstance(count, int) and isinstance(size, int) else None)
        sizes.append(term * own)
    for axis in range(x.rank):
        x = expand_at(w, x, 2 * axis)
    return w.reshape(w.expanded(x, *wide), shape, sizes)


@lowers("one_hot")
def one_hot(w: Rules, node: Node, indices: Term, on: Term, off: Term, *depth: Term) -> Term | None:
    count: Any = node.attributes["depth"]
    size = count
    if depth:
        if not w.has_open_sizes:
            return None
        w.fail(depth[0] < 0)
        count, size = None, w.as_size(depth[0])
    axis = whole(node.attributes.get("axis", -1), indices.rank + 1)
    shape, sizes = ([value if a == axis else 1 for a in range(indices.rank + 1)] for value in (count, size))
    positions = w.reshape(w.iota((count,), 0, indices.dtype, [size]), shape, sizes)
    wide, along = w.broadcast(expand_at(w, indices, axis), positions)
    hot, dtype = w.compare("eq", wide, along), node.results[0].dtype
    return w.chosen(*w.broadcast(hot, w.cast(on, dtype), w.cast(off, dtype)))


@lowers("top_k")
def top_k(w: Rules, node: Node, x: Term, *count: Term) -> list[Term] | None:
    k: Any = node.attributes.get("k")
    axis = x.rank - 1
    if count and not w.has_open_sizes:
        return None
    values, positions = w.sort(x, axis, True)
    positions = w.cast(positions, int32)
    if not count:
        return [w.part(values, axis, 0, k), w.part(positions, axis, 0, k)]
    size = w.sizes(x)[axis]
    stop = w.cast(count[0], int64)
    w.fail((stop < 0) | (stop > (size if isinstance(size, int) else w.cast(size, int64))))
    parts = [w.open_slice(one, axis, 0, stop, None) for one in (values, positions)]
    return [part for part in parts if part is not None] if None not in parts else None


@lowers("unique")
def unique(w: Rules, node: Node, x: Term) -> list[Term] | None:
    found = w.distinct(x)
    if found is None:
        return None
    values, *numbers = found
    return [values, *(w.cast(one, result.dtype) for one, result in zip(numbers, node.results[1:], strict=True))]


@lowers("numpy_bincount")
def bincount(w: Rules, node: Node, x: Term, least: Term, *weights: Term) -> Term | None:
    if not w.has_open_sizes:
        return None
    x, least = w.cast(x, int64), w.cast(least, int64)
    w.fail(least < 0)
    needed = w.reduce(w.concatenate([x, w.array(np.array([-1]), int64)], 0), (0,), "maximum", -1) + 1
    size = w.as_size(w.select(needed < least, least, needed))
    dtype = float64 if weights else int64
    added = w.cast(weights[0], dtype) if weights else w.filled_like(x, 1, dtype)
    return scatter(w, w.expanded(w.constant(0, dtype), (None,), [size]), [check_index(w, x, size)], added, "add")
