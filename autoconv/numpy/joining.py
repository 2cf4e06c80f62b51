"""Joining and splitting of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import are_shapes_compatible
from autoconv.numpy.creation import count_up
from autoconv.numpy.operands import (
    as_new_array,
    axis_of,
    cast,
    computes,
    integer,
    numpy_dtype,
    rank_of,
    refuse_deprecated,
    refuse_unknown,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.shapes import WHOLE, atleast_1d, atleast_2d, atleast_3d, shape_argument
from autoconv.numpy.writes import write_into
from autoconv.ops.index_spec import At, Slice
from autoconv.runtime.annotations import AxisLike, DTypeLike, OutLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.splits import split_ends
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def common_arrays(arrays: Any, dtype: DTypeLike | None = None, casting: str = "same_kind") -> list[Tensor]:
    """Return the arrays of a sequence (or the rows of one array), all of one dtype."""
    if as_tensor(arrays) is not None:
        rows = tensor(arrays)
        row_count = require_known_shape(rows)[0]
        arrays = apply("unstack", rows, num=row_count, axis=0) if row_count else ()
        arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    array_tensors = [tensor(x) for x in arrays]
    if not array_tensors:
        raise ValueError("need at least one array to concatenate")
    promoted_dtype = np.result_type(*(x.dtype.numpy for x in array_tensors))
    result_dtype = promoted_dtype if dtype is None else numpy_dtype(dtype)
    if not np.can_cast(promoted_dtype, result_dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from dtype('{promoted_dtype}') to dtype('{result_dtype}') according to '{casting}'"
        )
    return [cast(x, result_dtype) for x in array_tensors]


@computes("concatenate", "concat")
def concatenate(
    arrays: TensorLike, /, axis: AxisLike = 0, out: OutLike | None = None, *, dtype: DTypeLike | None = None,
    casting: str = "same_kind"
) -> Any:
    operands = common_arrays(arrays, dtype, casting)
    if axis is None:
        operands, axis = [apply("reshape", x, shape=(-1,)) for x in operands], 0
    if any(rank_of(x) == 0 for x in operands):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len({rank_of(x) for x in operands}) != 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    result = apply("concat", *operands, axis=axis_of(axis, rank_of(operands[0])))
    return result if out is None else write_into(out, result, casting=casting)


@computes("stack")
def stack(
    arrays: TensorLike, axis: AxisLike = 0, out: OutLike | None = None, *, dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Any:  # fmt: skip
    operands = common_arrays(arrays, dtype, casting)
    if not all(are_shapes_compatible(x.type.shape, operands[0].type.shape) for x in operands):
        raise ValueError("all input arrays must have the same shape")
    result = apply("stack", *operands, axis=axis_of(axis, rank_of(operands[0]) + 1))
    return result if out is None else write_into(out, result, casting=casting)


def _joining_function(raise_rank: Callable[..., Any], axis: int) -> Callable[..., Any]:
    """Return a function that concatenates arrays along an axis after `raise_rank(array)`."""
    def join_arrays(tup: TensorLike, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Any:
        operands = [raise_rank(x) for x in common_arrays(tup)]
        # `hstack` joins vectors along their only axis.
        axis_index = 0 if axis == 1 and raise_rank is atleast_1d and rank_of(operands[0]) == 1 else axis
        return concatenate(operands, axis_index, dtype=dtype, casting=casting)

    return join_arrays


vstack = _joining_function(atleast_2d, 0)
hstack = _joining_function(atleast_1d, 1)
dstack = _joining_function(atleast_3d, 2)
computes("vstack")(vstack)
computes("hstack")(hstack)
computes("dstack")(dstack)


@computes("row_stack")
def row_stack(tup: TensorLike, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Any:
    refuse_deprecated("row_stack", (1.0,))
    return vstack(tup, dtype=dtype, casting=casting)


@computes("column_stack")
def column_stack(tup: TensorLike) -> Any:
    operands = [apply("expand_dims", atleast_1d(x), axis=1) if rank_of(x) < 2 else x for x in common_arrays(tup)]
    return concatenate(operands, 1)


@computes("block")
def block(arrays: TensorLike) -> Any:
    def depth(item: Any) -> int:
        return 1 + max(map(depth, item)) if isinstance(item, list) else 0

    nesting_depth = depth(arrays)

    def rank(item: Any) -> int:
        return max(map(rank, item)) if isinstance(item, list) else rank_of(tensor(item))

    result_rank = max(nesting_depth, rank(arrays))

    def join(item: Any, level: int) -> Any:
        if isinstance(item, list):  # the innermost lists are joined along the last axis
            axis = result_rank - nesting_depth + level
            return concatenate([join(inner_item, level + 1) for inner_item in item], axis)
        x = tensor(item)
        for _ in range(result_rank - rank_of(x)):
            x = apply("expand_dims", x, axis=0)
        return x

    return as_new_array(join(arrays, 0), as_tensor(arrays))


@computes("append")
def append(arr: TensorLike, values: TensorLike, axis: AxisLike | None = None) -> Any:
    if axis is None:
        operands = [apply("reshape", tensor(x), shape=(-1,)) for x in (arr, values)]
        return concatenate(operands, 0)
    return concatenate((arr, values), axis)


# ---- splitting


def _split(x: Tensor, sections: Any, axis: int, must_be_even: bool) -> list[Tensor]:
    """Split along an axis: `sections` is the number of parts, of one size if `must_be_even`, or the ends of parts."""
    ends = split_ends(sizes_of(x)[axis], sections, must_be_even)
    if ends is None:
        refuse_unknown("is given positions known only at run time", sections)
    return [x[(slice(None),) * axis + (slice(*bounds),)] for bounds in itertools.pairwise((None, *ends, None))]


@computes("split")
def split(ary: TensorLike, indices_or_sections: Any, axis: AxisLike = 0) -> list[Tensor]:
    x = tensor(ary)
    return _split(x, indices_or_sections, axis_of(axis, rank_of(x)), must_be_even=True)


@computes("array_split")
def array_split(ary: TensorLike, indices_or_sections: Any, axis: AxisLike = 0) -> list[Tensor]:
    x = tensor(ary)
    return _split(x, indices_or_sections, axis_of(axis, rank_of(x)), must_be_even=False)


def _split_function(axis: int, min_rank: int, name: str) -> Callable[..., Any]:
    """Return NumPy's `hsplit`, `vsplit` or `dsplit`, by its name."""
    def split_array(ary: TensorLike, indices_or_sections: Any) -> list[Tensor]:
        x = tensor(ary)
        if rank_of(x) < min_rank:
            raise ValueError(f"{name} only works on arrays of {min_rank} or more dimensions")
        return _split(x, indices_or_sections, 0 if rank_of(x) == 1 else axis, must_be_even=True)

    return split_array


computes("hsplit")(_split_function(1, 1, "hsplit"))
computes("vsplit")(_split_function(0, 2, "vsplit"))
computes("dsplit")(_split_function(2, 3, "dsplit"))


@computes("unstack")
def unstack(x: TensorLike, /, *, axis: AxisLike = 0) -> tuple[Tensor, ...]:
    rows = tensor(x)
    axis_index = axis_of(axis, rank_of(rows))
    leading_entries = (WHOLE,) * axis_index
    row_count = require_known_shape(rows)[axis_index]
    return tuple(apply("get_item", rows, spec=(*leading_entries, At(i))) for i in range(row_count))


@computes("delete")
def delete(arr: TensorLike, obj: object, axis: AxisLike | None = None) -> Tensor:
    x = tensor(arr)
    if axis is None:
        x, axis = apply("reshape", x, shape=(-1,)), 0
    axis_index = axis_of(axis, rank_of(x))
    positions = obj if isinstance(obj, slice) else static_value(obj)
    if positions is None:
        refuse_unknown("is given positions known only at run time", obj)
    count = sizes_of(x)[axis_index]
    if not isinstance(count, int) and isinstance(positions, slice):
        return _without_slice(x, positions, axis_index)
    if isinstance(count, int) or not _are_integers(positions):
        known_count = count if isinstance(count, int) else require_known_shape(x)[axis_index]
        remaining_positions: Any = np.delete(np.arange(known_count), positions)
    else:
        places = _places_among(np.unique(np.asarray(positions)), 0, count)
        kept = remaining_positions = count_up(count - len(places))
        for i, (place, _) in enumerate(places):
            remaining_positions = apply("add", remaining_positions, cast(kept >= place - i, np.int64))
    return apply("gather", x, remaining_positions, axis=axis_index)


def _without_slice(x: Tensor, removed: slice, axis: int) -> Tensor:
    """Return an array of open size without a slice along an axis."""
    start, stop = 0 if removed.start is None else removed.start, removed.stop
    if not isinstance(start, int) or not (stop is None or isinstance(stop, int)) or removed.step not in (None, 1):
        require_known_shape(x)
    if stop is not None and (start < 0) == (stop < 0):
        stop = max(start, stop)
    elif stop is not None:
        if start < 0:
            require_known_shape(x)
        rerun_plain_unless(tensor(sizes_of(x)[axis], np.int64) >= start - stop, "a position is out of range")
    bounds = [(None, start)] if stop is None else [(None, start), (stop, None)]
    return concatenate([_slice_along(x, axis, *part_bounds) for part_bounds in bounds], axis)


def _slice_along(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Return the slice of an array along an axis."""
    return apply("get_item", x, spec=(*(WHOLE,) * axis, Slice(start, stop)))


@computes("insert")
def insert(arr: TensorLike, obj: object, values: TensorLike, axis: AxisLike | None = None) -> Any:
    x = tensor(arr)
    if axis is None:
        x, axis = apply("reshape", x, shape=(-1,)), 0
    axis_index = axis_of(axis, rank_of(x))
    static_position = static_value(obj)
    if static_position is None or (np.ndim(static_position) and not _are_integers(static_position)):
        refuse_unknown("is given positions that are no integers, or known only at run time", obj)
    count = sizes_of(x)[axis_index]
    if np.size(static_position) > 1:
        return _insert_several(x, np.ravel(static_position), values, axis_index)
    position = integer(np.ravel(static_position)[0])
    if not isinstance(count, int):
        _places_among(np.array(position), 1, count)
    elif not -count <= position <= count:
        raise IndexError(f"index {position} is out of bounds for axis {axis_index} with size {count}")
    position += count if position < 0 and isinstance(count, int) else 0
    new_elements = tensor(values, x.dtype.numpy)
    shape = tuple(1 if i == axis_index else size for i, size in enumerate(sizes_of(x)))
    if rank_of(new_elements) == rank_of(x) - 1 and rank_of(new_elements):
        new_elements = apply("expand_dims", new_elements, axis=axis_index)
    elif rank_of(x) == 1 and rank_of(new_elements) == 1:
        shape = sizes_of(new_elements)
    size_operands, known_sizes = shape_argument(shape)
    new_elements = apply("broadcast_to", new_elements, *size_operands, shape=known_sizes)
    leading_part, trailing_part = (
        _slice_along(x, axis_index, *part_bounds) for part_bounds in ((None, position), (position, None))
    )
    return concatenate((leading_part, new_elements, trailing_part), axis_index)


def _insert_several(x: Tensor, positions: np.ndarray, values: TensorLike, axis: int) -> Tensor:
    """Return the array with a new element before each of the positions along an axis."""
    sizes = sizes_of(x)
    count = sizes[axis]
    if isinstance(count, int):
        sources: Any = np.insert(np.arange(count), positions, np.arange(count, count + len(positions)))
    else:
        numbers = sources = count_up(count + len(positions))
        locations = [(place + i, j) for i, (place, j) in enumerate(_places_among(positions, 1, count))]
        for location, _ in locations:
            sources = apply("subtract", sources, cast(numbers > location, np.int64))
        for location, j in locations:
            sources = apply("select", numbers == location, tensor(count + j, np.int64), sources)
    size_operands, known_sizes = shape_argument((*sizes[:axis], len(positions), *sizes[axis + 1 :]))
    new_elements = apply("broadcast_to", tensor(values, x.dtype.numpy), *size_operands, shape=known_sizes)
    return apply("gather", concatenate((x, new_elements), axis), sources, axis=axis)


def _are_integers(positions: Any) -> bool:
    """Return whether a known value is an integer, or an array of integers that has elements."""
    return np.asarray(positions).dtype.kind in "iu" and np.size(positions) > 0


def _places_among(positions: np.ndarray, excess: int, count: Any) -> list[tuple[Any, int]]:
    """Return positions counted from the front, in order, each with its index.

    A check is recorded that each is one of `count` elements, or at most `excess` behind them. It also fails where one
    that counts from the end lies before one that counts from the front.
    """
    numbers = [int(position) for position in np.ravel(positions)]
    front_count = max([number + 1 - excess for number in numbers if number >= 0], default=0)
    back_count = max([-number for number in numbers if number < 0], default=0)
    smallest_count = tensor(front_count + back_count, np.int64)
    rerun_plain_unless(tensor(count, np.int64) >= smallest_count, "a position is out of range")
    order = sorted(range(len(numbers)), key=lambda i: (numbers[i] < 0, numbers[i]))
    return [(numbers[i] if numbers[i] >= 0 else count + numbers[i], i) for i in order]
