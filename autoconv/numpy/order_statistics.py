"""Order statistics: medians, percentiles and quantiles, by elements of sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, float64
from autoconv.numpy.kernels import whole_call
from autoconv.numpy.operands import (
    axes_of,
    cast,
    computes,
    known_shape,
    rank_of,
    refuse,
    require,
    size_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.runtime.annotations import OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

_QUANTILE_LIMIT = 3  # quantiles that are computed together


@computes("median")
def _median(
    a: TensorLike, axis: Any = None, out: OutLike | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    if static_value(overwrite_input) is None or static_value(overwrite_input):
        refuse("may sort its argument")
    x = tensor(a)
    line, at, axes = _rows_to_sort(x, axis)
    count = size_of(line, (at,))
    if x.dtype.numpy.kind not in "biufc" or (isinstance(count, int) and not count):
        return whole_call("median", False, x, axis=axis, keepdims=bool(keepdims))
    if not isinstance(count, int):
        require(count > 0, "the median of no elements")
    line = cast(line, np.uint8) if x.dtype.is_bool else line
    low, high, last = sorted_elements(line, [(count - 1) // 2, count // 2, count - 1], at)
    both = apply("stack", low, high, axis=0)
    mean = apply("numpy_mean", both, axis=0)
    is_odd = count % 2 == 1  # the sum of an element and itself may overflow
    median = low if is_odd is True else mean if is_odd is False else apply("select", is_odd, low, mean)
    median = cast(median, mean.dtype)
    if x.dtype.is_floating or x.dtype.is_complex:  # nans are sorted to the end
        median = apply("select", apply("is_nan", last), last, median)
    if bool(keepdims):
        median = apply("reshape", median, shape=tuple(1 if i in axes else d for i, d in enumerate(known_shape(x))))
    return median if out is None else write_into(out, median)


def sorted_elements(line: Tensor, places: Sequence[Any], axis: int) -> list[Tensor]:
    """Return the elements at these positions of the sorted rows; nans come last."""
    static_places = [static_value(place) for place in places]
    if any(place is None for place in static_places):
        at = apply("stack", *(cast(tensor(place), np.int64) for place in places), axis=0)
    else:
        at = np.array(static_places, np.int64)
    result = apply("gather", apply("sort", line, axis=axis), at, axis=axis)
    return [apply("gather", result, np.array(i), axis=axis) for i in range(len(places))]


def _rows_to_sort(x: Tensor, axis: Any) -> tuple[Tensor, int, tuple[int, ...]]:
    """Return the rows to sort, the axis to sort along, and the axes of `x` that the rows cover."""
    axes = tuple(axes_of(axis, rank_of(x)))
    if len(axes) == rank_of(x) and rank_of(x) != 1:
        return apply("reshape", x, shape=(-1,)), 0, axes
    if len(axes) != 1:
        refuse("is given several axes")
    return x, axes[0], axes


@computes("percentile")
def _percentile(a: TensorLike, q: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    quantiles = None if args else _quantiles(a, q, 100, axis, **kwargs)
    return whole_call("percentile", False, a, q, axis, *args, **kwargs) if quantiles is None else quantiles


@computes("quantile")
def _quantile(a: TensorLike, q: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    quantiles = None if args else _quantiles(a, q, 1, axis, **kwargs)
    return whole_call("quantile", False, a, q, axis, *args, **kwargs) if quantiles is None else quantiles


def _quantiles(a: TensorLike, q: Any, whole: int, axis: Any, **options: Any) -> Tensor | None:
    """Interpolate between two elements of the sorted rows; None where NumPy's own function has to run.

    The order of operations is NumPy's, so that results agree to the last bit.
    """
    wanted = q if isinstance(q, (list, tuple)) else [q]
    weak = wanted is not q and (type(q) in (int, float) or (isinstance(q, Tensor) and q.type.weak and not q.type.shape))
    x = tensor(a)
    if options or not _are_supported(wanted, whole, weak) or not _is_interpolated(x.dtype, weak):
        return None
    line, at, _ = _rows_to_sort(x, axis)
    count = size_of(line, (at,))
    if isinstance(count, int) and not count:
        return None
    if not isinstance(count, int):
        require(count > 0, "the quantile of no elements")
    quantiles = [_Quantile(line.dtype, count, one, whole, weak) for one in wanted]
    places = [place for share in quantiles for place in (share.low, share.high)]
    *elements, end = sorted_elements(line, [*places, count - 1], at)
    results = [share.interpolate(*elements[2 * i : 2 * i + 2]) for i, share in enumerate(quantiles)]
    if line.dtype.is_floating:  # nans are sorted to the end
        results = [apply("select", apply("is_nan", end), end, one) for one in results]
    return results[0] if wanted is not q else apply("stack", *results, axis=0)


def _are_supported(quantiles: Sequence[Any], whole: int, weak: bool) -> bool:
    """Return whether these are a few known quantiles in range, or one number of the program."""
    static_quantiles = [static_value(one) for one in quantiles]
    if not 0 < len(quantiles) <= _QUANTILE_LIMIT or not (
        weak or all(type(one) in (int, float) for one in static_quantiles)
    ):
        return False
    if whole == 1 and any(type(one) is int for one in static_quantiles):
        return False  # an index, without interpolation
    return all(one is None or 0 <= one / whole <= 1 for one in static_quantiles)


def _is_interpolated(dtype: DType, weak: bool) -> bool:
    """Return whether results have the dtype of the elements, or float64."""
    return dtype.numpy.kind in "iuf" and dtype.size >= 4 and (dtype is float64 or dtype.is_integer or weak)


class _Quantile:
    """Two neighbours in a sorted row of `count` elements, and the weight of the second one."""

    def __init__(self, dtype: DType, count: Any, q: Any, whole: int, weak: bool) -> None:
        self._kind = np.dtype(dtype.numpy if weak and dtype.is_floating else np.float64)
        static = static_value(q)
        share = static / whole if static is not None else q / whole if whole > 1 else q
        if static is None:
            require((share >= 0) & (share <= 1), "a quantile out of range")
        place, last = (count - 1) * share, count - 1
        if isinstance(place, (int, float)):
            is_above = place >= last
            self.low: Any = last if is_above else int(np.floor(place))
            self.high: Any = last if is_above else self.low + 1
            self._part: Any = place - (-1 if is_above else self.low)
            return
        place, last = cast(tensor(place), np.float64), tensor(last, np.int64)
        is_above = apply("greater_equal", place, cast(last, np.float64))
        floor = apply("floor", place)
        self.low = apply("select", is_above, last, cast(floor, np.int64))
        self.high = apply("select", is_above, last, apply("add", self.low, tensor(1, np.int64)))
        self._part = apply("subtract", place, apply("select", is_above, tensor(-1.0, np.float64), floor))

    def interpolate(self, low: Tensor, high: Tensor) -> Tensor:
        """Interpolate from the nearer neighbour, as NumPy does."""
        difference = call_ufunc(np.subtract, high, low)
        if isinstance(self._part, float):
            near = self._part >= 0.5
            step = call_ufunc(np.multiply, difference, tensor(1 - self._part if near else self._part, self._kind))
            return call_ufunc(np.subtract, high, step) if near else call_ufunc(np.add, low, step)
        rest = apply("subtract", tensor(1.0, np.float64), self._part)
        up = call_ufunc(np.add, low, call_ufunc(np.multiply, difference, cast(self._part, self._kind)))
        down = call_ufunc(np.subtract, high, call_ufunc(np.multiply, difference, cast(rest, self._kind)))
        return apply("select", apply("greater_equal", self._part, tensor(0.5, np.float64)), down, up)
