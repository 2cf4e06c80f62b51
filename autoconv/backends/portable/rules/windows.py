"""Slices whose bounds are values, for runtimes without arrays of open size: arrays of a known size, and a length.

`x[i:]` of n elements is a `Window`: n elements, the first n - i of them valid. Elementwise ops compute on all elements;
reductions and stores ignore those that are not valid. Where NumPy would compare two sizes, the lengths are compared,
and the error word is set if they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.reductions import fold_operation
from autoconv.backends.portable.rules.registry import normalise_axes
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node


@dataclass(frozen=True, slots=True)
class Window:
    """An array whose first `length` (int64) elements along an axis are valid."""

    term: Term
    axis: int
    length: Term

    @property
    def dtype(self) -> Any:
        return self.term.dtype

    @property
    def axis_from_end(self) -> int:
        """The axis, counted from the last one."""
        return self.axis - self.term.rank

    def take_first(self, writer: Rules, size: int) -> Term:
        """Return the first `size` elements along the axis, valid or not."""
        return writer.static_slice(self.term, self.axis, 0, min(size, self.term.shape[self.axis]))

    def valid_mask(self, writer: Rules, term: Term) -> Term:
        """Return a mask of the valid elements, with size 1 along other axes."""
        axis = term.rank + self.axis_from_end
        shape = [size if i == axis else 1 for i, size in enumerate(term.shape)]
        return writer.iota(shape, axis, int64) < self.length


def cast(writer: Rules, value: Term | Window, dtype: DType) -> Term | Window:
    """Convert a value, as NumPy does."""
    if isinstance(value, Window):
        return Window(writer.cast(value.term, dtype), value.axis, value.length)
    return writer.cast(value, dtype)


def take_window(writer: Rules, x: Term, axis: int, start: Any, stop: Any) -> Window | None:
    """Return x[start:stop] along an axis, for bounds that are numbers, terms or None; None if a size is open."""
    size = x.shape[axis]
    if static_shape(x.shape) is None:
        return None

    def clip_bound(bound: Any, default: int) -> Term:
        bound = writer.constant(default, int64) if bound is None else bound
        bound = writer.cast(bound, int64) if isinstance(bound, Term) else writer.constant(bound, int64)
        bound = writer.select(bound < 0, bound + size, bound)
        return writer.select(bound < 0, 0, writer.select(bound > size, size, bound))

    start_position = clip_bound(start, 0)
    count = clip_bound(stop, size) - start_position
    high = [size if i == axis else 0 for i in range(x.rank)]
    padded_x = writer.pad(x, writer.constant(1, x.dtype), [0] * x.rank, high)  # with a number for which no op fails
    return Window(writer.dynamic_slice(padded_x, axis, start_position, size), axis, writer.select(count < 0, 0, count))


def fit_array(writer: Rules, value: Term | Window, shape: Sequence[Any]) -> Term:
    """Return a value as an array for this shape; the length of a window has to equal the size of its axis."""
    if isinstance(value, Term):
        return value
    size = shape[value.axis_from_end] if len(shape) >= -value.axis_from_end else None
    if not isinstance(size, int) or size > value.term.shape[value.axis]:
        raise GraphUnfit("slice", "slices of different sizes")
    writer.fail(value.length.differs(size))
    return value.take_first(writer, size)


def write_window(writer: Rules, x: Term, value: Term | Window, positions: Window, combine: str | None) -> Term:
    """Return `x` with a value written at a window of row-major positions."""
    axis_from_end, size = positions.axis_from_end, positions.term.shape[positions.axis]
    if isinstance(value, Window):
        if value.axis_from_end != axis_from_end:
            raise GraphUnfit("slice", "two slices along different dimensions")
        size = min(size, value.term.shape[value.axis])
        writer.fail(value.length.differs(positions.length))
        value = value.take_first(writer, size)
    elif value.rank >= -axis_from_end and value.shape[axis_from_end] != 1:
        value_size = value.shape[axis_from_end]
        if not isinstance(value_size, int) or value_size > size:
            raise GraphUnfit("slice", "slices of different sizes")
        size = value_size
        writer.fail(positions.length.differs(size))
    target_positions = positions.take_first(writer, size)
    # A position past the end leaves an element out.
    is_valid = positions.valid_mask(writer, target_positions)
    index = writer.flatten(writer.select(is_valid, target_positions, math.prod(x.shape)))
    if value.rank > target_positions.rank:
        value = drop_axes(writer, value, range(value.rank - target_positions.rank))
    updates = writer.flatten(writer.expand(value, target_positions.shape))
    flat_result = writer.scatter_nd(writer.flatten(x), insert_axis(writer, index, 1), updates, combine)
    return writer.reshape(flat_result, x.shape)


def elementwise(
    writer: Rules, operands: Sequence[Term | Window], compute: Callable[[list[Term]], Term | None]
) -> Term | Window | None:
    """Apply an elementwise op to windows and arrays; `compute` writes it for arrays, or returns None."""
    windows = [x for x in operands if isinstance(x, Window)]
    first_window = windows[0]
    axis_from_end = first_window.axis_from_end
    if any(x.axis_from_end != axis_from_end for x in windows):
        raise GraphUnfit("slice", "two slices along different dimensions")
    size = min(x.term.shape[x.axis] for x in windows)
    array_sizes = [x.shape[axis_from_end] for x in operands if isinstance(x, Term) and x.rank >= -axis_from_end]
    array_sizes = [array_size for array_size in array_sizes if array_size != 1]
    for x in windows[1:]:
        writer.fail(x.length.differs(first_window.length))
    if array_sizes:
        if any(not isinstance(array_size, int) or array_size > size for array_size in array_sizes):
            raise GraphUnfit("slice", "slices of different sizes")
        size = array_sizes[0]
        writer.fail(first_window.length.differs(size))
    result = compute([x.take_first(writer, size) if isinstance(x, Window) else x for x in operands])
    return result if result is None or array_sizes else Window(result, result.rank + axis_from_end, first_window.length)


def reduce_window(
    writer: Rules, node: Node, x: Window, kind: str, compute: Callable[[Term], Term | None]
) -> Term | Window | None:
    """Reduce a window by a `kind` of reduction, such as "sum"; `compute` writes it for an array, or returns None."""
    axes = normalise_axes(node.attributes.get("axis"), x.term.rank)
    if x.axis not in axes:
        result = compute(x.term)
        keeps_dimensions = bool(node.attributes.get("keepdims", False))
        axis = x.axis if keeps_dimensions else x.axis - sum(axis < x.axis for axis in axes)
        return result if result is None else Window(result, axis, x.length)
    if kind in ("max", "min"):
        writer.fail(x.length.same(0))
    _, neutral_number = fold_operation(kind, x.dtype)
    return compute(writer.select(x.valid_mask(writer, x.term), x.term, neutral_number))
