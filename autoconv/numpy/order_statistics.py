"""Order statistics: medians, percentiles and quantiles, by elements of sorted rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, float64
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    axes_of,
    cast,
    computes,
    has_known_shape,
    rank_of,
    refuse,
    require_known_shape,
    rerun_plain_unless,
    rerun_with_warning_unless,
    size_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.runtime.annotations import OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

_MAX_QUANTILES = 3  # largest number of quantiles that ops compute in one call; NumPy itself computes more


@computes("median")
def _median(
    a: TensorLike, axis: Any = None, out: OutLike | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    _refuse_to_sort_argument(overwrite_input)
    x = tensor(a)
    rows, row_axis, axes = _rows_to_sort(x, axis)
    count = size_of(rows, (row_axis,))
    if x.dtype.numpy.kind not in "biufc" or (isinstance(count, int) and not count):
        return call_numpy("median", x, axis=axis, keepdims=bool(keepdims))
    if not isinstance(count, int):
        rerun_plain_unless(count > 0, "the median of no elements")
    rows = cast(rows, np.uint8) if x.dtype.is_bool else rows
    low, high, last_element = sorted_elements(rows, [(count - 1) // 2, count // 2, count - 1], row_axis)
    middle_elements = apply("stack", low, high, axis=0)
    mean = apply("numpy_mean", middle_elements, axis=0)
    is_odd = count % 2 == 1  # then the middle element itself is taken: its sum with itself may overflow
    if isinstance(is_odd, bool):
        median = low if is_odd else mean
    else:
        median = apply("select", is_odd, low, mean)
    median = cast(median, mean.dtype)
    if x.dtype.is_floating or x.dtype.is_complex:  # nans are sorted to the end
        median = apply("select", apply("is_nan", last_element), last_element, median)
    if bool(keepdims):
        kept_shape = tuple(1 if i in axes else size for i, size in enumerate(require_known_shape(x)))
        median = apply("reshape", median, shape=kept_shape)
    return median if out is None else write_into(out, median)


def _refuse_to_sort_argument(overwrite_input: Any) -> None:
    """Refuse the argument `overwrite_input` unless it is known to be false."""
    if static_value(overwrite_input) is None or static_value(overwrite_input):
        refuse("may sort its argument")


def sorted_elements(rows: Tensor, positions: Sequence[Any], axis: int) -> list[Tensor]:
    """Return the elements at these positions of the sorted rows; nans come last."""
    static_positions = [static_value(position) for position in positions]
    if any(position is None for position in static_positions):
        position_vector = apply("stack", *(cast(tensor(position), np.int64) for position in positions), axis=0)
    else:
        position_vector = np.array(static_positions, np.int64)
    result = apply("gather", apply("sort", rows, axis=axis), position_vector, axis=axis)
    return [apply("gather", result, np.array(i), axis=axis) for i in range(len(positions))]


def _rows_to_sort(x: Tensor, axis: Any) -> tuple[Tensor, int, tuple[int, ...]]:
    """Return the rows to sort, the axis to sort along, and the axes of `x` that the rows cover."""
    axes = tuple(axes_of(axis, rank_of(x)))
    if len(axes) == rank_of(x) and rank_of(x) != 1:
        return apply("reshape", x, shape=(-1,)), 0, axes
    if len(axes) != 1:
        refuse("is given several axes")
    return x, axes[0], axes


def _quantile_function(name: str, scale: int) -> Callable[..., Any]:
    """Return the implementation of a function of quantiles from 0 to `scale`, by its name."""

    def compute(a: TensorLike, q: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        _refuse_to_sort_argument(kwargs.get("overwrite_input", args[1] if len(args) > 1 else False))
        may_have_nans = name.startswith("nan") and not tensor(a).dtype.is_integer
        find_quantiles = _quantiles_without_nans if may_have_nans else _quantiles
        quantiles = None if args else find_quantiles(a, q, scale, axis, **kwargs)
        return call_numpy(name, a, q, axis, *args, **kwargs) if quantiles is None else quantiles

    return compute


for _name, _scale in (("percentile", 100), ("quantile", 1), ("nanpercentile", 100), ("nanquantile", 1)):
    computes(_name)(_quantile_function(_name, _scale))


def _quantiles_without_nans(a: TensorLike, q: Any, scale: int, axis: Any, **options: Any) -> Tensor | None:
    """Interpolate in the elements of each sorted row before its nans; return None where NumPy's function has to run."""
    quantile_list = q if isinstance(q, (list, tuple)) else [q]
    is_weak = quantile_list is not q and type(q) in (int, float)
    x = tensor(a)
    is_supported = _can_interpolate(quantile_list, scale, is_weak) and _has_supported_dtype(x.dtype, is_weak)
    if options or not is_supported or not has_known_shape(x):
        return None
    rows, row_axis, _ = _rows_to_sort(x, axis)
    if 0 in require_known_shape(rows):
        return None
    is_number = apply("logical_not", apply("is_nan", rows))
    count = apply("numpy_sum", cast(is_number, np.int64), axis=row_axis, keepdims=True)
    has_numbers = apply("greater", count, tensor(0, np.int64))
    rerun_with_warning_unless(apply("numpy_all", has_numbers), "a row has no numbers")
    sorted_rows = apply("sort", rows, axis=row_axis)
    results = []
    for quantile in quantile_list:
        position = _QuantilePosition(rows.dtype, count, quantile, scale, is_weak)
        neighbours = (apply("maximum", index, tensor(0, np.int64)) for index in (position.low, position.high))
        elements = (apply("take_along_axis", sorted_rows, index, axis=row_axis) for index in neighbours)
        results.append(apply("squeeze", position.interpolate(*elements), axis=(row_axis,)))
    return results[0] if quantile_list is not q else apply("stack", *results, axis=0)


def _quantiles(a: TensorLike, q: Any, scale: int, axis: Any, **options: Any) -> Tensor | None:
    """Interpolate between two elements of the sorted rows; return None where NumPy's own function has to run.

    The order of operations is NumPy's, so that results agree to the last bit.
    """
    quantile_list = q if isinstance(q, (list, tuple)) else [q]
    is_weak_scalar = isinstance(q, Tensor) and q.type.weak and not q.type.shape
    is_weak = quantile_list is not q and (type(q) in (int, float) or is_weak_scalar)
    x = tensor(a)
    if options or not _can_interpolate(quantile_list, scale, is_weak) or not _has_supported_dtype(x.dtype, is_weak):
        return None
    rows, row_axis, _ = _rows_to_sort(x, axis)
    count = size_of(rows, (row_axis,))
    if isinstance(count, int) and not count:
        return None
    if not isinstance(count, int):
        rerun_plain_unless(count > 0, "the quantile of no elements")
    quantile_positions = [_QuantilePosition(rows.dtype, count, quantile, scale, is_weak) for quantile in quantile_list]
    positions = [position for quantile in quantile_positions for position in (quantile.low, quantile.high)]
    *elements, last_element = sorted_elements(rows, [*positions, count - 1], row_axis)
    results = [quantile.interpolate(*elements[2 * i : 2 * i + 2]) for i, quantile in enumerate(quantile_positions)]
    if rows.dtype.is_floating:  # nans are sorted to the end
        results = [apply("select", apply("is_nan", last_element), last_element, result) for result in results]
    return results[0] if quantile_list is not q else apply("stack", *results, axis=0)


def _can_interpolate(quantiles: Sequence[Any], scale: int, is_weak: bool) -> bool:
    """Return whether ops compute the quantiles: a few that are known and in range, or (`is_weak`) one Python number."""
    static_quantiles = [static_value(quantile) for quantile in quantiles]
    if not 0 < len(quantiles) <= _MAX_QUANTILES or not (
        is_weak or all(type(quantile) in (int, float) for quantile in static_quantiles)
    ):
        return False
    if scale == 1 and any(type(quantile) is int for quantile in static_quantiles):
        return False  # an index, without interpolation
    return all(quantile is None or 0 <= quantile / scale <= 1 for quantile in static_quantiles)


def _has_supported_dtype(dtype: DType, is_weak: bool) -> bool:
    """Return whether ops compute quantiles of elements of the dtype: then results are of this dtype, or of float64."""
    return dtype.numpy.kind in "iuf" and dtype.size >= 4 and (dtype is float64 or dtype.is_integer or is_weak)


class _QuantilePosition:
    """Two neighbours in a sorted row of `count` elements, and the weight of the second one."""

    def __init__(self, dtype: DType, count: Any, q: Any, scale: int, is_weak: bool) -> None:
        self._dtype = np.dtype(dtype.numpy if is_weak and dtype.is_floating else np.float64)
        known_quantile = static_value(q)
        fraction = known_quantile / scale if known_quantile is not None else q / scale if scale > 1 else q
        if known_quantile is None:
            rerun_plain_unless((fraction >= 0) & (fraction <= 1), "a quantile out of range")
        last_position = count - 1
        is_number = isinstance(last_position, int) or last_position.type.weak
        position = (last_position if is_number else cast(last_position, np.float64)) * fraction
        if isinstance(position, (int, float)):
            is_above = position >= last_position  # NumPy then takes the last element as both, at the index -1
            self.low: Any = last_position if is_above else int(np.floor(position))
            self.high: Any = last_position if is_above else self.low + 1
            self._high_weight: Any = position - (-1 if is_above else self.low)
            return
        position, last_position = cast(tensor(position), np.float64), tensor(last_position, np.int64)
        is_above = apply("greater_equal", position, cast(last_position, np.float64))
        floor = apply("floor", position)
        self.low = apply("select", is_above, last_position, cast(floor, np.int64))
        self.high = apply("select", is_above, last_position, apply("add", self.low, tensor(1, np.int64)))
        self._high_weight = apply("subtract", position, apply("select", is_above, tensor(-1.0, np.float64), floor))

    def interpolate(self, low: Tensor, high: Tensor) -> Tensor:
        """Interpolate from the nearer neighbour, as NumPy does."""
        difference = call_ufunc(np.subtract, high, low)
        if isinstance(self._high_weight, float):
            is_nearer_high = self._high_weight >= 0.5
            weight = 1 - self._high_weight if is_nearer_high else self._high_weight
            step = call_ufunc(np.multiply, difference, tensor(weight, self._dtype))
            return call_ufunc(np.subtract, high, step) if is_nearer_high else call_ufunc(np.add, low, step)
        low_weight = apply("subtract", tensor(1.0, np.float64), self._high_weight)
        from_low = call_ufunc(np.add, low, call_ufunc(np.multiply, difference, cast(self._high_weight, self._dtype)))
        from_high = call_ufunc(np.subtract, high, call_ufunc(np.multiply, difference, cast(low_weight, self._dtype)))
        return apply("select", apply("greater_equal", self._high_weight, tensor(0.5, np.float64)), from_high, from_low)
