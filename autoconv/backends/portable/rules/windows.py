"""Slices whose bounds are values, for runtimes without arrays of open size: arrays of a known size, and lengths.

`x[i:]` of n elements is a `Window`: n elements, the first n - i of them valid. Each axis may have such a length.
Elementwise ops compute on all elements; reductions and stores ignore those that are not valid. Where NumPy would
compare two sizes, the lengths are compared, and the error word is set if they differ.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.reductions import fold_operation
from autoconv.backends.portable.rules.registry import normalise_axes
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node


@dataclass(frozen=True, slots=True)
class Window:
    """An array with a length along some axes: the elements before it are valid, the others are not.

    lengths  {axis, counted from the end: the number of valid elements, an int64}
    """

    term: Term
    lengths: Mapping[int, Term]

    @property
    def dtype(self) -> Any:
        return self.term.dtype

    def valid_mask(self, writer: Rules, term: Term) -> Term:
        """Return a mask of the valid elements of `term`, with size 1 along axes where all are valid."""
        masks = []
        for axis, length in self.lengths.items():
            shape = [size if i == term.rank + axis else 1 for i, size in enumerate(term.shape)]
            masks.append(writer.iota(shape, term.rank + axis, int64) < length)
        return functools.reduce(lambda x, y: x & y, masks)


def cast(writer: Rules, value: Term | Window, dtype: DType) -> Term | Window:
    """Convert a value, as NumPy does."""
    if isinstance(value, Window):
        return Window(writer.cast(value.term, dtype), value.lengths)
    return writer.cast(value, dtype)


def take_window(
    writer: Rules, x: Term, bounds_by_axis: Mapping[int, tuple[Any, Any]], dropped_axes: Sequence[int] = ()
) -> Window | None:
    """Return the slices of an array from start to stop along some axes, without the dropped axes of size 1.

    The bounds are numbers, terms or None. The result is None if a size of the array is open.
    """
    if static_shape(x.shape) is None:
        return None

    def clip_bound(bound: Any, default: int, size: int) -> Term:
        bound = writer.constant(default, int64) if bound is None else bound
        bound = writer.cast(bound, int64) if isinstance(bound, Term) else writer.constant(bound, int64)
        bound = writer.select(bound < 0, bound + size, bound)
        return writer.select(bound < 0, 0, writer.select(bound > size, size, bound))

    high = [size if axis in bounds_by_axis else 0 for axis, size in enumerate(x.shape)]
    term = writer.pad(x, writer.constant(1, x.dtype), [0] * x.rank, high)  # with a number for which no op fails
    lengths = {}
    for axis, (start, stop) in bounds_by_axis.items():
        size = x.shape[axis]
        start_position = clip_bound(start, 0, size)
        count = clip_bound(stop, size, size) - start_position
        term = writer.dynamic_slice(term, axis, start_position, size)
        axes_after = x.rank - axis - sum(dropped > axis for dropped in dropped_axes)
        lengths[-axes_after] = writer.select(count < 0, 0, count)
    return Window(drop_axes(writer, term, dropped_axes) if dropped_axes else term, lengths)


def _fit_sizes(
    writer: Rules, operands: Sequence[Term | Window], target_shape: Sequence[Any] | None = None
) -> tuple[list[Term], dict[int, Term]]:
    """Cut windows to the sizes that operands have in common; return arrays, and the lengths of their broadcast result.

    A length has to equal the size of an array, or the length of another window, along the same axis from the end. The
    axes of `target_shape` are not broadcast: a length has to equal 1 as well.
    """
    arrays = [x.term if isinstance(x, Window) else x for x in operands]
    all_lengths = [x.lengths if isinstance(x, Window) else {} for x in operands]
    lengths: dict[int, Term] = {}
    for axis in sorted({axis for x in all_lengths for axis in x}):
        axis_lengths = [x[axis] for x in all_lengths if axis in x]
        size = min(x.shape[axis] for x, array_lengths in zip(arrays, all_lengths, strict=True) if axis in array_lengths)
        array_sizes = [x.shape[axis] for x, array_lengths in zip(arrays, all_lengths, strict=True)
                       if axis not in array_lengths and x.rank >= -axis and x.shape[axis] != 1]
        if target_shape is not None:
            array_sizes.append(target_shape[axis] if len(target_shape) >= -axis else None)
        for length in axis_lengths[1:]:
            writer.fail_if(length.differs(axis_lengths[0]))
        if array_sizes:
            if any(not isinstance(array_size, int) or array_size > size for array_size in array_sizes):
                raise GraphUnfit("slice", "slices of different sizes")
            size = array_sizes[0]
            writer.fail_if(axis_lengths[0].differs(size))
        else:
            lengths[axis] = axis_lengths[0]
        arrays = [
            writer.static_slice(x, x.rank + axis, 0, size) if axis in array_lengths and x.shape[axis] != size else x
            for x, array_lengths in zip(arrays, all_lengths, strict=True)
        ]
    return arrays, lengths


def fit_array(writer: Rules, value: Term | Window, shape: Sequence[Any]) -> Term:
    """Return a value as an array for this shape; the lengths of a window have to equal the sizes of its axes."""
    (array,), _ = _fit_sizes(writer, [value], shape)
    return array


def write_window(writer: Rules, x: Term, value: Term | Window, positions: Window, combine: str | None) -> Term:
    """Return `x` with a value written at a window of row-major positions."""
    if isinstance(value, Window):  # the axes along which all positions are valid have a known size
        fixed_lengths = {axis: length for axis, length in value.lengths.items() if axis not in positions.lengths}
        other_lengths = {axis: length for axis, length in value.lengths.items() if axis in positions.lengths}
        value = Window(fit_array(writer, Window(value.term, fixed_lengths), positions.term.shape), other_lengths)
    (target_positions, value), _ = _fit_sizes(writer, [positions, value])
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
    arrays, lengths = _fit_sizes(writer, operands)
    result = compute(arrays)
    return Window(result, lengths) if result is not None and lengths else result


def reduce_window(
    writer: Rules, node: Node, x: Window, kind: str, compute: Callable[[Term], Term | None]
) -> Term | Window | None:
    """Reduce a window by a `kind` of reduction, such as "sum"; `compute` writes it for an array, or returns None."""
    rank = x.term.rank
    axes = [axis - rank for axis in normalise_axes(node.attributes.get("axis"), rank)]
    kept_lengths, reduced_lengths = (
        {axis: length for axis, length in x.lengths.items() if (axis in axes) is is_reduced}
        for is_reduced in (False, True)
    )
    term = x.term
    if reduced_lengths:
        if node.effects & Effects.RAISE:  # NumPy's extremes of no elements
            for length in reduced_lengths.values():
                writer.fail_if(length.same(0))
        _, neutral_number = fold_operation(kind, x.dtype)
        term = writer.select(Window(term, reduced_lengths).valid_mask(writer, term), term, neutral_number)
    result = compute(term)
    if result is None or not kept_lengths:
        return result
    if not node.attributes.get("keepdims", False):
        kept_lengths = {axis + sum(reduced > axis for reduced in axes): y for axis, y in kept_lengths.items()}
    return Window(result, kept_lengths)
