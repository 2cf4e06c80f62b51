"""Comparison of arrays: element by element within tolerances, of whole arrays, and as sets of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.operands import (
    cast,
    common_dtype,
    computes,
    have_equal_shapes,
    is_weak,
    promotion_operand,
    refuse,
    require_known_shape,
    rerun_plain_unless,
    size_of,
    sizes_of,
    tensor,
)
from autoconv.numpy.selection import NEIGHBOURS, argsort, flatnonzero, searchsorted
from autoconv.numpy.statistics import weak_or_tensor
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import Gather, Mask
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_INT64 = as_dtype(np.int64)


@computes("isclose")
def isclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-05, atol: TensorLike = 1e-08, equal_nan: bool = False
) -> Any:
    x, y = weak_or_tensor(a), weak_or_tensor(b)
    if not is_weak(y) and not (y.dtype.is_floating or y.dtype.is_complex):
        y = cast(y, np.result_type(y.dtype.numpy, 1.0))
    elif is_weak(y) and promotion_operand(y) in (bool, int):
        y = float(y) if as_tensor(y) is None else apply("python_float", y)
    tolerance = call_ufunc(np.add, atol, call_ufunc(np.multiply, rtol, call_ufunc(np.absolute, y)))
    is_near = call_ufunc(np.less_equal, call_ufunc(np.absolute, call_ufunc(np.subtract, x, y)), tolerance)
    result = call_ufunc(np.logical_and, is_near, call_ufunc(np.isfinite, y))
    result = call_ufunc(np.logical_or, result, call_ufunc(np.equal, x, y))
    if equal_nan:
        result = call_ufunc(np.logical_or, result, _are_both_nan(x, y))
    return result


@computes("allclose")
def allclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-05, atol: TensorLike = 1e-08, equal_nan: bool = False
) -> Any:
    return _as_python_bool(apply("numpy_all", isclose(a, b, rtol, atol, equal_nan), axis=None))


@computes("array_equal")
def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Any:
    x, y = tensor(a1), tensor(a2)
    if not have_equal_shapes(x, y):
        return False
    are_equal = call_ufunc(np.equal, x, y)
    if equal_nan and x.dtype.is_differentiable and y.dtype.is_differentiable:
        are_equal = call_ufunc(np.logical_or, are_equal, _are_both_nan(x, y))
    return _as_python_bool(apply("numpy_all", are_equal, axis=None))


@computes("array_equiv")
def array_equiv(a1: TensorLike, a2: TensorLike) -> Any:
    x, y = tensor(a1), tensor(a2)
    try:
        np.broadcast_shapes(require_known_shape(x), require_known_shape(y))
    except ValueError:
        return False
    return _as_python_bool(apply("numpy_all", call_ufunc(np.equal, x, y), axis=None))


def _are_both_nan(x: TensorLike, y: TensorLike) -> Any:
    """Return a mask of the positions at which both arrays have a nan."""
    return call_ufunc(np.logical_and, call_ufunc(np.isnan, x), call_ufunc(np.isnan, y))


def _as_python_bool(x: Tensor) -> Any:
    """Convert a scalar to a Python bool, which NumPy's comparisons of whole arrays return."""
    if hasattr(x, "value_in_graph"):
        return apply("python_cast", x, dtype=as_dtype(bool), weak=True)
    return bool(x)  # type: ignore[call-overload]


# ---- sets


@computes("isin")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Tensor:
    """Compare with each test element if there are few; else look the elements up in the sorted test elements."""
    if kind not in (None, "sort", "table"):
        refuse(f"is given kind {kind!r}")
    x, candidates = tensor(element), apply("reshape", tensor(test_elements), shape=(-1,))
    count = sizes_of(candidates)[0]
    if isinstance(count, int) and count <= _MAX_TEST_ELEMENTS:
        matches = call_ufunc(np.equal, apply("expand_dims", x, axis=-1), candidates)
        result = apply("numpy_any", matches, axis=-1)
    elif _are_sortable(x, candidates):
        rerun_plain_unless(tensor(count, np.int64) > 0, "there are no test elements")
        dtype = np.result_type(x.dtype.numpy, candidates.dtype.numpy)
        values, row = cast(x, dtype), apply("sort", cast(candidates, dtype), axis=0)
        flat_values = apply("reshape", values, shape=(-1,))
        positions = apply("minimum", searchsorted(row, flat_values), tensor(count - 1, np.int64))
        matches = apply("equal", apply("gather", row, positions, axis=0), flat_values)
        result = apply("reshape_like", matches, x)
    else:
        return call_numpy("isin", x, candidates, invert=invert)
    return apply("logical_not", result) if invert else result


_MAX_TEST_ELEMENTS = 64  # largest number of test elements with which each element is compared


def _are_sortable(*operands: Tensor) -> bool:
    """Return whether native code sorts the elements, and their common dtype represents all of them."""
    kinds = {x.dtype.numpy.kind for x in operands}
    have_exact_dtype = kinds <= {"i", "f"} or kinds == {"u"}
    return have_exact_dtype and all(x.dtype.size >= 4 for x in operands)


@computes("unique")
def unique(
    ar: TensorLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: AxisLike | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Keep the elements of a sorted row that differ from the ones before them."""
    x = tensor(ar)
    requested_results = (return_index, return_inverse, return_counts)
    has_flags = not options and axis is None and all(isinstance(flag, bool) for flag in requested_results)
    count = size_of(x)
    is_short = has_flags and x.dtype.numpy.kind in "biu" and x.dtype.size <= 2
    is_long = isinstance(count, int) and count > _MAX_SORTED_SHORTS
    if is_short and not return_index and (x.dtype.size == 1 or is_long):
        return _unique_by_table(x, return_inverse, return_counts)
    if is_short and x.dtype.size == 2:
        results = unique(cast(x, np.int32), *requested_results)
        return (cast(results[0], x.dtype), *results[1:]) if any(requested_results) else cast(results, x.dtype)
    is_supported = x.dtype.numpy.kind in "iuf" and x.dtype.size >= 4 and not (isinstance(count, int) and count == 0)
    if not has_flags or not is_supported:
        return call_numpy("unique", x, *requested_results, axis, by_values=True, **options)
    if not isinstance(count, int):
        rerun_plain_unless(tensor(count, np.int64) > 0, "there are no elements")
    results = _unique_by_order(x, count, *requested_results)
    return tuple(results) if any(requested_results) else results[0]


_MAX_SORTED_SHORTS = 1 << 13  # more integers of 16 bits are entered in a table of all their values


def _unique_by_order(x: Tensor, count: Any, return_index: bool, return_inverse: bool, return_counts: bool) -> list[Any]:
    """Return the distinct elements of an array with elements, and the requested further results."""
    row, order = apply("reshape", x, shape=(-1,)), None
    if return_index or return_inverse:
        order = argsort(row, kind="stable" if return_index else None)
        sorted_row = apply("gather", row, order, axis=0)
    else:
        sorted_row = apply("sort", row, axis=0)
    is_first = _is_first_of_equals(sorted_row)
    results = [apply("get_item", sorted_row, is_first, spec=(Mask(),))]
    if return_index:
        results.append(apply("get_item", order, is_first, spec=(Mask(),)))
    if return_inverse:
        ranks = apply("subtract", apply("cumsum", cast(is_first, np.int64), axis=0), tensor(1, np.int64))
        results.append(apply("reshape_like", apply("ungather", ranks, order, order, axis=0), x))
    if return_counts:
        end = apply("reshape", tensor(count, np.int64), shape=(1,))
        starts = apply("concat", flatnonzero(is_first), end, axis=0)
        results.append(apply("subtract", *_neighbours(starts)))
    return results


def _unique_by_table(x: Tensor, return_inverse: bool, return_counts: bool) -> Any:
    """Return the distinct elements of bools or short integers, from a table of all values that they may have."""
    value_count = 2 if x.dtype.is_bool else 1 << 8 * x.dtype.size
    offset = value_count // 2 if x.dtype.numpy.kind == "i" else 0
    row = apply("reshape", x, shape=(-1,))
    positions = apply("add", cast(row, np.int64), tensor(offset))
    table = tensor(np.zeros(value_count, np.int64 if return_counts else np.bool_))
    if return_counts:
        ones = apply("ones_like", positions, dtype=_INT64)
        table = apply("tensor_scatter_nd_add", table, apply("expand_dims", positions, axis=1), ones)
    else:
        table = apply("set_item", table, tensor(np.True_), positions, spec=(Gather(),))
    is_present = apply("greater", table, tensor(0, np.int64)) if return_counts else table
    results = [cast(apply("subtract", flatnonzero(is_present), tensor(offset)), x.dtype)]
    if return_inverse:
        ranks = apply("subtract", apply("cumsum", cast(is_present, np.int64), axis=0), tensor(1, np.int64))
        results.append(apply("reshape_like", apply("gather", ranks, positions, axis=0), x))
    if return_counts:
        results.append(apply("get_item", table, is_present, spec=(Mask(),)))
    return tuple(results) if len(results) > 1 else results[0]


def _is_first_of_equals(row: Tensor, are_nans_equal: bool = True) -> Tensor:
    """Return a mask of the elements of a sorted row that differ from the ones before them."""
    if isinstance(sizes_of(row)[0], int):
        successors, predecessors = _neighbours(row)
    else:  # the mask has the row's own size, so that it fits for every number of elements
        successors, predecessors = row, apply("roll", row, shift=(1,), axis=(0,))
    result = apply("not_equal", successors, predecessors)
    if row.dtype.is_floating and are_nans_equal:  # nans are sorted to the end
        result = apply("logical_and", result, apply("logical_not", apply("is_nan", predecessors)))
    if successors is not row:
        return apply("concat", np.ones(1, bool), result, axis=0)
    # The first element differs from none before it: `roll` has compared it with the last one.
    ordinals = apply("cumsum", apply("ones_like", row, dtype=as_dtype(np.int64)), axis=0)
    return apply("logical_or", result, apply("equal", ordinals, tensor(1)))


def _neighbours(row: Tensor) -> tuple[Tensor, Tensor]:
    """Return the elements of a row without the first one, and without the last one."""
    successors, predecessors = (apply("get_item", row, spec=(entry,)) for entry in NEIGHBOURS)
    return successors, predecessors


def _distinct_rows(ar1: TensorLike, ar2: TensorLike, **options: Any) -> tuple[Tensor, Tensor] | None:
    """Return the distinct elements of both arrays, of one dtype; None where NumPy itself compares the sets."""
    operands = tensor(ar1), tensor(ar2)
    has_no_elements = any(x.type.shape is None or 0 in x.type.shape for x in operands)
    if any(options.values()) or has_no_elements or not _are_sortable(*operands):
        return None
    dtype = np.result_type(*(x.dtype.numpy for x in operands))
    first, second = (cast(unique(x), dtype) for x in operands)
    return first, second


@computes("union1d")
def union1d(ar1: TensorLike, ar2: TensorLike) -> Any:
    dtype = common_dtype(ar1, ar2)  # NumPy joins both, so a Python number takes the dtype of the array
    ar1, ar2 = cast(tensor(ar1), dtype), cast(tensor(ar2), dtype)
    rows = _distinct_rows(ar1, ar2)
    if rows is None:
        return call_numpy("union1d", ar1, ar2, by_values=True)
    return unique(apply("concat", *rows, axis=0))


@computes("intersect1d")
def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Keep the elements that occur twice in the sorted distinct elements of both."""
    rows = _distinct_rows(ar1, ar2, assume_unique=assume_unique, return_indices=return_indices)
    if rows is None:
        return call_numpy("intersect1d", tensor(ar1), tensor(ar2), assume_unique, return_indices, by_values=True)
    successors, predecessors = _neighbours(apply("sort", apply("concat", *rows, axis=0), axis=0))
    return apply("get_item", predecessors, apply("equal", successors, predecessors), spec=(Mask(),))


@computes("setdiff1d")
def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Any:
    rows = _distinct_rows(ar1, ar2, assume_unique=assume_unique)
    if rows is None:
        return call_numpy("setdiff1d", tensor(ar1), tensor(ar2), assume_unique, by_values=True)
    difference = apply("get_item", rows[0], isin(rows[0], tensor(ar2), invert=True), spec=(Mask(),))
    return cast(difference, tensor(ar1).dtype.numpy)


@computes("setxor1d")
def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Any:
    """Keep the elements that differ from both of their neighbours in the sorted distinct elements of both."""
    rows = _distinct_rows(ar1, ar2, assume_unique=assume_unique)
    if rows is None:
        return call_numpy("setxor1d", tensor(ar1), tensor(ar2), assume_unique, by_values=True)
    row = apply("sort", apply("concat", *rows, axis=0), axis=0)
    is_first = _is_first_of_equals(row, are_nans_equal=False)
    is_last = apply("roll", is_first, shift=(-1,), axis=(0,))  # where the next element differs
    return apply("get_item", row, apply("logical_and", is_first, is_last), spec=(Mask(),))


register_kernels("unique_values", "unique_counts", "unique_inverse", "unique_all", by_values=True)
