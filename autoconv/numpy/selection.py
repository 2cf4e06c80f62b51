"""Selection, sorting and search of elements."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, float32, float64
from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.operands import (
    MISSING,
    argument_or_default,
    axis_of,
    cast,
    check,
    common_dtype,
    computes,
    has_known_shape,
    holds_tensors,
    is_weak,
    numpy_dtype_of,
    positions_along,
    rank_of,
    refuse,
    refuse_options,
    require_known_shape,
    rerun_plain_unless,
    select_operands,
    size_of,
    sizes_of,
    tensor,
    tensors,
)
from autoconv.numpy.shapes import WHOLE
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.index_spec import At, Gather, Rest, Slice
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_INT64 = as_dtype(np.int64)


def take_positions(x: Tensor, axis: int, positions: Any) -> Tensor:
    """Return x[:, …, positions]; negative positions count from the end, others out of range raise IndexError."""
    if not holds_tensors(positions) and np.ndim(positions) == 0:
        return apply("get_item", x, spec=(*(WHOLE,) * axis, At(int(positions))))
    return apply("get_item", x, positions, spec=(*(WHOLE,) * axis, Gather()))


def _positions_by_mode(indices: TensorLike, size: Any, mode: str) -> Any:
    """Return the positions that indices of an axis of that size mean in NumPy's mode "raise", "wrap" or "clip"."""
    positions = tensor(indices)
    if not positions.dtype.is_integer:
        dtype_name = positions.dtype.name
        raise TypeError(
            f"Cannot cast array data from dtype('{dtype_name}') to dtype('int64') according to the rule 'safe'"
        )
    if mode == "raise":
        return positions if holds_tensors(indices) else np.asarray(indices)
    if mode == "wrap":
        return apply("modulo", cast(positions, np.int64), tensor(size, np.int64))
    return apply("minimum", apply("maximum", cast(positions, np.int64), tensor(0)), tensor(size - 1, np.int64))


_POSITION_MODES = ("raise", "wrap", "clip")


@computes("take")
def take(
    a: TensorLike, indices: TensorLike, axis: AxisLike | None = None, out: OutLike | None = None, mode: str = "raise"
) -> Any:
    """Gather the elements at `indices` along the axis; raise IndexError for indices into an axis of size 0."""
    if mode not in _POSITION_MODES:
        refuse(f"is given mode {mode!r}")
    x = tensor(a)
    if out is not None and numpy_dtype_of(out) != x.dtype.numpy:
        refuse("writes to an array of another dtype")  # which casts are allowed depends on NumPy's version
    if axis is None:
        x, axis = apply("reshape", x, shape=(-1,)), 0
    x = x if rank_of(x) else apply("reshape", x, shape=(1,))
    axis_index = axis_of(axis, rank_of(x))
    size = (x.type.shape or (None,) * (axis_index + 1))[axis_index]
    if size == 0:
        is_empty = apply("equal", tensor(size_of(tensor(indices)), np.int64), tensor(0, np.int64))
        check(is_empty, "cannot do a non-empty take from an empty axes.", IndexError)
    size_for_mode = 0 if mode == "raise" else require_known_shape(x)[axis_index]  # mode "raise" does not use the size
    positions = _positions_by_mode(indices, size_for_mode, mode)
    elements = take_positions(x, axis_index, positions)
    return elements if out is None else write_into(out, elements)


@computes("take_along_axis")
def take_along_axis(arr: TensorLike, indices: TensorLike, axis: AxisLike = -1) -> Tensor:
    """Gather the elements at `indices` along the axis, row by row."""
    if isinstance(arr, (list, tuple)) or isinstance(indices, (list, tuple)):
        refuse("is given a list")
    x, positions = tensor(arr), tensor(indices)
    if axis is None:
        x, axis = apply("reshape", x, shape=(-1,)), 0
    rank = rank_of(x)
    if rank_of(positions) != rank:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if not positions.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
    axis_index = axis_of(axis, rank)
    index = [positions if i == axis_index else positions_along(x, i) for i in range(rank)]
    return apply("get_item", x, *index, spec=(Gather(),) * rank)


@computes("choose")
def choose(a: TensorLike, choices: Any, out: OutLike | None = None, mode: str = "raise") -> Any:
    if mode not in _POSITION_MODES:
        refuse(f"is given mode {mode!r}")
    if isinstance(choices, (list, tuple)) and out is None and len(choices) <= 32:
        choice_indices = tensor(a)
        if choice_indices.dtype.is_floating or choice_indices.dtype.is_complex:
            dtype = choice_indices.dtype.numpy
            raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")
        choice_indices = cast(choice_indices, np.int64)
        choice_tensors = select_operands(*choices)
        if mode == "raise":
            is_first_or_later = apply("greater_equal", choice_indices, tensor(0))
            is_inside = apply("logical_and", is_first_or_later, apply("less", choice_indices, tensor(len(choices))))
            rerun_plain_unless(apply("reduce_all", is_inside, axis=None), "a choice index is out of range")
        else:
            choice_indices = _positions_by_mode(choice_indices, len(choices), mode)
        result = choice_tensors[0]
        # A single choice is selected from itself, to be broadcast.
        for i, choice in enumerate(choice_tensors[1:] or choice_tensors, 1):
            result = apply("select", apply("equal", choice_indices, tensor(i)), choice, result)
        return result
    return call_numpy("choose", tensor(a), choices, out=out, mode=mode)


@computes("where")
def where(condition: TensorLike, *branches: Any) -> Any:
    if not branches:
        return FUNCTIONS[np.nonzero](condition)
    if len(branches) != 2:
        raise ValueError("either both or neither of x and y should be given")
    x, y = tensors(*branches) if _does_where_check_ints() else select_operands(*branches)
    return apply("select", tensor(condition, bool), x, y)


@functools.cache
def _does_where_check_ints() -> bool:
    """Return whether `numpy.where` refuses Python ints outside of the result's range; before 2.5 it casts them."""
    try:
        np.where(True, 256, np.uint8(0))
    except OverflowError:
        return True
    return False


@computes("select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    *choices, result = select_operands(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        mask = tensor(condition)
        if not mask.dtype.is_bool:
            raise TypeError(f"invalid entry in condlist: should be boolean ndarray, found {mask.dtype.name}")
        result = apply("select", mask, choice, result)
    return result


@computes("clip")
def clip(
    a: TensorLike, a_min: TensorLike = MISSING, a_max: TensorLike = MISSING, out: OutLike | None = None, *,
    min: TensorLike = MISSING, max: TensorLike = MISSING,
) -> Any:  # fmt: skip
    has_positional_bounds = [bound is not MISSING for bound in (a_min, a_max)]
    has_named_bounds = [bound is not MISSING for bound in (min, max)]
    if any(has_positional_bounds) and (any(has_named_bounds) or not all(has_positional_bounds)):
        refuse("is given both a_min/a_max and min/max, or only one of a_min and a_max")
    low, high = (argument_or_default(bound) for bound in ((a_min, a_max) if any(has_positional_bounds) else (min, max)))
    if is_weak(a):
        a = tensor(a, tensor(a).dtype.numpy)  # np.clip makes an array of a number first: its dtype is not weak
    result: Any = a
    x = tensor(a)
    if x.dtype.is_bool:
        result = call_numpy("clip", x, low, high)
        return result if out is None else write_into(out, result, broadcasts=True)
    if x.dtype.is_integer:
        low, high = (_integer_bound(bound, x.dtype, is_lower) for bound, is_lower in ((low, True), (high, False)))
    if low is not None and high is not None:
        dtype = common_dtype(a, low, high)
        x, low, high = (tensor(operand, dtype) for operand in (a, low, high))
        if dtype in (float32, float64) and x.type.shape and low.type.shape == high.type.shape == ():
            result = apply("numpy_clip", x, low, high)  # preserves the signs of zeros
        else:
            result = call_ufunc(np.minimum, call_ufunc(np.maximum, x, low), high)
    elif low is not None or high is not None:
        result = call_ufunc(np.minimum if low is None else np.maximum, x, high if low is None else low)
    else:
        result = apply("numpy_copy", x, method="copy", copy_id=0)
    return result if out is None else write_into(out, result, broadcasts=True)


def _integer_bound(bound: object, dtype: DType, is_lower: bool) -> Any:
    """Return a bound for integers; None for a Python int beyond the dtype's range, which bounds nothing."""
    if type(bound) is int:
        return None if (bound < dtype.min if is_lower else bound > dtype.max) else bound
    bound_tensor = as_tensor(bound)
    is_weak_int = bound_tensor is not None and bound_tensor.weak and bound_tensor.dtype.is_integer
    if not is_weak_int or dtype is _INT64:
        return bound
    number = tensor(bound_tensor)
    if is_lower:
        number = apply("maximum", number, tensor(max(dtype.min, -(2**63)), np.int64))
    else:
        number = apply("minimum", number, tensor(min(dtype.max, 2**63 - 1), np.int64))
    return apply("python_cast", number, dtype=dtype, weak=False)


# ---- indices


@computes("nonzero")
def nonzero(a: TensorLike) -> tuple[Tensor, ...]:
    x = tensor(a, bool)
    if rank_of(x) == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    result = apply("where_indices", x)
    return tuple(apply("get_item", result, spec=(Rest(), At(i))) for i in range(rank_of(x)))


@computes("flatnonzero")
def flatnonzero(a: TensorLike) -> Tensor:
    return nonzero(apply("reshape", tensor(a), shape=(-1,)))[0]


@computes("argwhere")
def argwhere(a: TensorLike) -> Tensor:
    x = tensor(a, bool)
    if not rank_of(x):
        refuse("is given a scalar")
    return apply("where_indices", x)


@computes("compress")
def compress(condition: TensorLike, a: TensorLike, axis: AxisLike | None = None, out: OutLike | None = None) -> Any:
    if rank_of(tensor(condition)) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, flatnonzero(condition), axis, out)


@computes("extract")
def extract(condition: TensorLike, arr: TensorLike) -> Any:
    return take(arr, flatnonzero(condition))


# ---- order


def _operand_of_sort(
    a: TensorLike, axis: AxisLike, kind: Any, order: str | None, stable: Any
) -> tuple[Tensor, AxisLike]:
    """Check the options of a sort; return the operand and its axis."""
    refuse_options(order=order)
    if kind is not None:
        np.sort(np.zeros(0), kind=kind)  # NumPy raises for a wrong name; every algorithm gives the stable sort's result
    if kind is not None and stable is not None:
        refuse("is given a kind and stable")
    x = tensor(a)
    return (apply("reshape", x, shape=(-1,)), -1) if axis is None else (x, axis)


@computes("sort")
def sort(
    a: TensorLike, axis: AxisLike = -1, kind: object = None, order: str | None = None, *, stable: Any = None
) -> Tensor:
    x, axis = _operand_of_sort(a, axis, kind, order, stable)
    axis_index = axis_of(axis, rank_of(x))
    if x.dtype.is_bool and not has_known_shape(x):
        return cast(apply("sort", cast(x, np.uint8), axis=axis_index), bool)
    return apply("sort", x, axis=axis_index)


@computes("argsort")
def argsort(
    a: TensorLike, axis: AxisLike = -1, kind: object = None, order: str | None = None, *, stable: Any = None
) -> Tensor:
    """Sort stably if requested; otherwise the order of equal elements is that of NumPy's routine on this processor."""
    x, axis = _operand_of_sort(a, axis, kind, order, stable)
    if not rank_of(x):
        return call_numpy("argsort", x, axis)
    if not stable and str(kind)[:1].lower() not in ("s", "m"):
        return call_numpy("argsort", x, axis_of(axis, rank_of(x)), kind)
    axis_index = axis_of(axis, rank_of(x))
    result = apply("argsort", cast(x, np.uint8) if x.dtype.is_bool else x, axis=axis_index)
    return cast(result, np.int64)


@computes("lexsort")
def lexsort(keys: Any, axis: AxisLike = -1) -> Tensor:
    """Sort stably by each key in turn; the last one decides first."""
    if isinstance(keys, (tuple, list)):
        rows = [tensor(key) for key in keys]
    else:
        count = sizes_of(tensor(keys))[0] if rank_of(tensor(keys)) else None
        rows = [apply("get_item", tensor(keys), spec=(At(i),)) for i in range(count if isinstance(count, int) else 0)]
    shapes = {row.shape for row in rows}
    if len(shapes) != 1 or not all(map(_is_sortable_row, rows)) or axis not in (-1, 0):
        return call_numpy("lexsort", keys, axis)
    order = argsort(rows[0], kind="stable")
    for row in rows[1:]:
        positions_in_order = argsort(apply("gather", row, order, axis=0), kind="stable")
        order = apply("gather", order, positions_in_order, axis=0)
    return order


def _is_sortable_row(x: Tensor) -> bool:
    """Return whether `x` is a vector of known length, of numbers of 32 bits or more.

    Shorter integers are left to NumPy, which sorts them by radix sort, in linear time.
    """
    is_vector = x.shape is not None and len(x.shape) == 1 and None not in x.shape
    return is_vector and x.dtype.numpy.kind in "iuf" and x.dtype.size >= 4


@computes("searchsorted")
def searchsorted(a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> Tensor:
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    dtype = common_dtype(tensor(a), tensor(v))
    x, values = tensor(a, dtype), tensor(v, dtype)
    if rank_of(x) != 1:
        raise ValueError("object too deep for desired array")
    if sorter is not None:
        if sizes_of(tensor(sorter)) != sizes_of(x):
            refuse("is given a sorter of another size")
        x = take_positions(x, 0, sorter)
    if dtype.kind not in "iuf":
        return call_numpy("searchsorted", x, values, side)
    flat_values = apply("reshape", values, shape=(-1,))
    result = apply("searchsorted", x, flat_values, dtype=_INT64, side=side)
    return apply("reshape_like", result, values)


@computes("digitize")
def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Tensor:
    if tensor(x).dtype.is_complex:
        raise TypeError("x may not be complex")
    side = "left" if right else "right"
    edges = np.asarray(bins) if not holds_tensors(bins) else None
    if edges is None and rank_of(tensor(bins)) == 1 and tensor(bins).dtype.numpy.kind in "iuf":
        neighbours = [apply("get_item", tensor(bins), spec=(entry,)) for entry in NEIGHBOURS]
        is_increasing = apply("reduce_all", call_ufunc(np.greater_equal, *neighbours), axis=None)
        rerun_plain_unless(is_increasing, "bins that do not increase")
        return searchsorted(bins, x, side)
    if edges is None or edges.ndim != 1:
        return call_numpy("digitize", tensor(x), bins, right)
    steps = np.diff(edges)
    if not (np.all(steps >= 0) or np.all(steps <= 0)):
        raise ValueError("bins must be monotonically increasing or decreasing")
    if edges.size < 2 or np.all(steps >= 0):
        return searchsorted(edges, x, side)
    position = searchsorted(edges[::-1].copy(), x, "right" if right else "left")
    return apply("subtract", tensor(edges.size), position)


@computes("sort_complex")
def sort_complex(a: TensorLike) -> Tensor:
    x = tensor(a)
    if not x.dtype.is_complex:
        is_small = x.dtype.numpy.kind in "iu" and x.dtype.size < 4
        x = cast(x, np.complex64 if is_small else np.complex128)
    return sort(x)


NEIGHBOURS = (Slice(1, None, None), Slice(None, -1, None))  # the successors and the predecessors in a row


@computes("ix_")
def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Give each vector of positions a dimension of its own."""
    vectors = list(map(tensor, args))
    are_arrays = all(vector.dtype.is_integer or vector is x for vector, x in zip(vectors, args, strict=True))
    if not are_arrays or any(rank_of(vector) != 1 or vector.dtype.is_bool for vector in vectors):
        result = call_numpy("ix_", *args)
        return result if isinstance(result, tuple) else (result,)
    shapes = [tuple(-1 if axis == i else 1 for axis in range(len(vectors))) for i in range(len(vectors))]
    return tuple(apply("reshape", vector, shape=shape) for vector, shape in zip(vectors, shapes, strict=True))


register_kernels("partition", "argpartition", "ravel_multi_index", "in1d")
