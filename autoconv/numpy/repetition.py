"""Repetition and padding of arrays: tile, repeat, resize, pad, trim_zeros; the shape of arrays that are broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    axis_of,
    cast,
    check,
    computes,
    has_known_shape,
    holds_tensors,
    integer,
    rank_of,
    refuse,
    refuse_unknown,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.shapes import axis_tuple, flip
from autoconv.runtime.annotations import AxisLike, ShapeLike, TensorLike
from autoconv.runtime.arrays.array_checks import check_as_numpy, check_sizes
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensors.binary_dispatch import count_of
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


@computes("broadcast_shapes")
def broadcast_shapes(*args: ShapeLike) -> tuple[int, ...]:
    return np.broadcast_shapes(*(tuple(map(integer, x if isinstance(x, (list, tuple)) else (x,))) for x in args))


@computes("tile")
def tile(A: TensorLike, reps: ShapeLike) -> Tensor:
    x = tensor(A)
    counts = tuple(map(integer, axis_tuple(reps)))
    for _ in range(len(counts) - rank_of(x)):
        x = apply("expand_dims", x, axis=0)
    return apply("tile", x, multiples=(1,) * (rank_of(x) - len(counts)) + counts)


@computes("repeat")
def repeat(a: TensorLike, repeats: TensorLike, axis: AxisLike | None = None) -> Tensor:
    x = tensor(a)
    if axis is None:
        x, axis = apply("reshape", x, shape=(-1,)), 0
    x = x if rank_of(x) else apply("reshape", x, shape=(1,))
    axis_index = axis_of(axis, rank_of(x))
    static_repeats = static_value(repeats)
    if static_repeats is not None and np.size(static_repeats) == 1:
        check_as_numpy(lambda: np.repeat([], static_repeats))
        return apply("repeat", x, repeats=int(np.ravel(static_repeats)[0]), axis=axis_index)
    if not tensor(repeats).dtype.is_integer:
        refuse(f"is given repeats of {tensor(repeats).dtype.name}")
    return apply("repeat", x, tensor(repeats), axis=axis_index)


@computes("pad")
def pad(array: TensorLike, pad_width: ShapeLike, mode: str = "constant", **options: Any) -> Tensor:
    """Pad by ops in the modes constant, reflect, symmetric, edge and wrap; NumPy itself computes other modes."""
    x = tensor(array)
    widths = static_value(pad_width) if not isinstance(pad_width, dict) else None
    if callable(mode):
        refuse("is given a function as its mode")
    if widths is None:
        has_one_value = mode == "constant" and options.keys() <= {"constant_values"} and not any(
            rank_of(tensor(value)) for value in options.values()
        )
        pairs = _width_pairs(pad_width, x) if has_one_value or (mode in _EXTENSION_MODES and not options) else None
        if pairs is not None:
            return _pad_by_computed_widths(x, pairs, mode, **options)
        refuse_unknown("is given widths known only at run time", pad_width)
    if not rank_of(x):
        return call_numpy("pad", x, pad_width, mode, **options)
    check_as_numpy(lambda: np.pad(np.empty((0,) * rank_of(x)), np.zeros_like(widths)))
    amounts = np.broadcast_to(np.asarray(widths), (rank_of(x), 2))
    paddings = tuple((int(low), int(high)) for low, high in amounts)
    if mode == "constant" and set(options) <= {"constant_values"}:
        value = options.get("constant_values", 0)
        if not holds_tensors(value) and np.ndim(value) == 0 and value == 0:
            return apply("pad", x, paddings=paddings)
        return _pad_with_value(x, paddings, value)
    extended_x = _extend_by_elements(x, paddings, mode) if mode in _EXTENSION_MODES and not options else None
    return call_numpy("pad", x, pad_width, mode, **options) if extended_x is None else extended_x


def _width_pairs(pad_width: Any, x: Tensor) -> list[tuple[Any, Any]] | None:
    """Return the widths before and after each dimension, by NumPy's rules; None for other structures and kinds."""
    if isinstance(pad_width, dict):
        return None
    rows = pad_width if isinstance(pad_width, (list, tuple)) else (pad_width,)
    rows = rows if any(isinstance(row, (list, tuple)) for row in rows) else (rows,)
    are_pairs = all(isinstance(row, (list, tuple)) and len(row) in (1, 2) for row in rows)
    if len(rows) not in (1, rank_of(x)) or not are_pairs:
        return None
    widths = [width for row in rows for width in row]
    if any(rank_of(tensor(width)) or not tensor(width).dtype.is_integer for width in widths):
        return None
    return [(row[0], row[-1]) for row in (rows * rank_of(x) if len(rows) == 1 else rows)]


def _pad_by_computed_widths(x: Tensor, pairs: Any, mode: str, constant_values: TensorLike = 0) -> Tensor:
    """Pad by widths that are known only at run time: join the array with filled ones, or gather its elements."""
    for axis, pair in enumerate(pairs):
        if all(static_value(width) is not None and static_value(width) == 0 for width in pair):
            continue
        for width in pair:
            check(tensor(width, np.int64) >= 0, "index can't contain negative values")
        if mode == "constant":
            shapes = [(*sizes_of(x)[:axis], width, *sizes_of(x)[axis + 1 :]) for width in pair]
            low, high = (FUNCTIONS[np.full](shape, constant_values, x.dtype.numpy) for shape in shapes)
            x = apply("concat", low, x, high, axis=axis)
        else:
            x = apply("gather", x, _extension_indices(sizes_of(x)[axis], pair[0], pair[1], mode), axis=axis)
    return x


_EXTENSION_MODES = ("edge", "wrap", "reflect", "symmetric")  # modes of `pad` that gather elements of the array


def _extend_by_elements(x: Tensor, paddings: Sequence[tuple[int, int]], mode: str) -> Tensor | None:
    """Extend an array by its own elements; return None if it is too small, which is left to NumPy."""
    if not has_known_shape(x):
        for axis, (low, high) in enumerate(paddings):
            if low or high:
                x = apply("gather", x, _extension_indices(sizes_of(x)[axis], low, high, mode), axis=axis)
        return x
    shape = require_known_shape(x)
    if mode in ("reflect", "symmetric"):
        excluded_ends = 1 if mode == "reflect" else 0
        fits_at_once = all(max(padding) <= size - excluded_ends for padding, size in zip(paddings, shape, strict=True))
        return apply("pad", x, paddings=paddings, mode=mode.upper()) if fits_at_once else None
    if not all(shape):
        return None
    for axis, (low, high) in enumerate(paddings):
        if low or high:
            positions = np.arange(-low, shape[axis] + high)
            positions = np.clip(positions, 0, shape[axis] - 1) if mode == "edge" else positions % shape[axis]
            x = apply("gather", x, positions, axis=axis)
    return x


def _extension_indices(size: ShapeLike, low: Any, high: Any, mode: str) -> Tensor:
    """Return the indices that extend a dimension of unknown size at both ends."""
    count, one = tensor(size, np.int64), tensor(1, np.int64)
    rerun_plain_unless(apply("greater", count, tensor(0, np.int64)), "an empty axis cannot be extended")
    positions = apply("range", tensor(-low, np.int64), apply("add", count, tensor(high, np.int64)), one)
    last = apply("subtract", count, one)
    if mode == "edge":
        return apply("minimum", apply("maximum", positions, tensor(0, np.int64)), last)
    if mode == "wrap":
        return apply("modulo", positions, count)
    double_count = apply("multiply", count, tensor(2, np.int64))
    period = double_count if mode == "symmetric" else apply("subtract", double_count, tensor(2, np.int64))
    phase = apply("modulo", positions, apply("maximum", period, one))
    mirror_offset = tensor(1 if mode == "symmetric" else 0, np.int64)
    mirrored_phase = apply("subtract", apply("subtract", period, phase), mirror_offset)
    return apply("select", apply("greater", phase, last), mirrored_phase, phase)


def _pad_with_value(x: Tensor, paddings: Sequence[tuple[int, int]], value: Any) -> Tensor:
    """Return an array padded with one value; NumPy itself pads with different values."""
    value_rank = rank_of(tensor(value)) if holds_tensors(value) else np.ndim(value)
    if value_rank:
        return call_numpy("pad", x, paddings, "constant", constant_values=value)
    is_inside = apply("pad", apply("ones_like", x, dtype=as_dtype(bool)), paddings=tuple(paddings))
    padded_x = apply("pad", x, paddings=tuple(paddings))
    return apply("select", is_inside, padded_x, tensor(value, x.dtype.numpy))


@computes("resize")
def resize(a: TensorLike, new_shape: Any) -> Tensor:
    x = tensor(a)
    count, sizes = int(np.prod(require_known_shape(x))), tuple(map(integer, axis_tuple(new_shape)))
    check_sizes(axis_tuple(new_shape))
    if not count or any(size < 0 for size in sizes):
        refuse("repeats an array without elements, or to a size below 0")
    positions = np.arange(int(np.prod(sizes))) % count
    return apply("reshape", apply("gather", apply("reshape", x, shape=(-1,)), positions, axis=0), shape=sizes)


@computes("trim_zeros")
def trim_zeros(filt: Any, trim: str = "fb", axis: AxisLike | None = None) -> Any:
    """Slice off the zeros at the ends; the result is a view of the operand."""
    x = tensor(filt)
    if rank_of(x) != 1 or axis not in (None, 0, -1) or trim.lower() not in ("fb", "bf", "f", "b"):
        refuse("is given no vector, or a `trim` other than 'f', 'b' and both")
    is_nonzero, size = cast(tensor(x, bool), np.uint8), count_of(x)
    has_nonzero = FUNCTIONS[np.any](is_nonzero)
    first = _first_position(is_nonzero) if "f" in trim.lower() else 0
    end = size - _first_position(flip(is_nonzero)) if "b" in trim.lower() else size
    start, stop = (apply("select", has_nonzero, tensor(bound, np.int64), tensor(0)) for bound in (first, end))
    return filt[start:stop]


def _first_position(is_nonzero: Tensor) -> Any:
    """Return the position of the first one in a vector of zeros and ones, which may have no elements."""
    return FUNCTIONS[np.argmax](apply("pad", is_nonzero, paddings=((0, 1),)))
