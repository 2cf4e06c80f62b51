"""Histograms: ops count elements in bins of equal width; NumPy itself counts in other bins.

As in NumPy, the position of an element is computed, and then corrected by the edges of its bin, which are rounded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.graph.dtypes import float64
from autoconv.numpy.creation import linspace
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    cast,
    computes,
    has_known_shape,
    have_equal_shapes,
    holds_tensors,
    integer,
    rank_of,
    refuse,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.selection import NEIGHBOURS, searchsorted
from autoconv.ops.index_spec import At, Slice
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MAX_EXACT_INT = 2.0**53  # each int up to this one has an exact float64


@computes("histogram")
def histogram(
    a: TensorLike, bins: Any = 10, range: Any = None, density: Any = None, weights: TensorLike | None = None
) -> Any:
    if range is not None and any(map(holds_tensors, range)):
        refuse("is given a range known only at run time")
    if isinstance(bins, str):
        refuse("chooses its bins from the values")
    x = tensor(a)
    has_edges = holds_tensors(bins) or np.ndim(bins) > 0
    count_or_edges = bins if has_edges else integer(bins)
    flat_x, flat_weights = apply("reshape", x, shape=(-1,)), None if weights is None else _flat_weights(weights, x)
    has_supported_weights = weights is None or flat_weights is not None
    has_equal_bins = not has_edges and count_or_edges > 0 and _are_valid_bounds(range)
    if has_supported_weights and has_equal_bins and _bin_dtype(x, range) is not None:
        return _count_in_equal_bins(flat_x, count_or_edges, range, bool(density), flat_weights)
    edges = _edges_from_argument(bins, x) if has_edges and range is None else None
    if has_supported_weights and edges is not None:
        return _count_between_edges(flat_x, edges, bool(density), flat_weights), _edges_of_result(bins, tensor(bins))
    options: dict[str, Any] = {} if density is None else {"density": bool(density)}
    if weights is not None:
        options["weights"] = tensor(weights)
    counts, edges = call_numpy("histogram", x, count_or_edges, range, **options)
    return counts, _edges_of_result(bins, edges)


def _edges_of_result(bins: Any, edges: Tensor) -> Any:
    """Return the argument `bins` if it is an array of edges, as NumPy does, else the computed `edges`."""
    is_array = isinstance(bins, np.ndarray) or (as_tensor(bins) is not None and rank_of(tensor(bins)) == 1)
    return bins if is_array else edges


def _flat_weights(weights: TensorLike, x: Tensor) -> Tensor | None:
    """Return weights of float64, one for each element, as a vector; None for others."""
    values = tensor(weights)
    if values.dtype.numpy != np.float64 or not have_equal_shapes(values, x):
        return None
    return apply("reshape", values, shape=(-1,))


def _edges_from_argument(bins: Any, x: Tensor) -> Tensor | None:
    """Return the argument `bins` as edges, which the graph assumes to increase; None for edges that NumPy compares."""
    if as_tensor(bins) is None and holds_tensors(bins):
        return None
    edges = tensor(bins)
    is_vector = has_known_shape(edges) and rank_of(edges) == 1 and require_known_shape(edges)[0] > 1
    kinds = {x.dtype.numpy.kind, edges.dtype.numpy.kind}
    if not is_vector or not kinds <= {"i", "f"} or 0 in (x.type.shape or (0,)):
        return None
    edges = cast(edges, np.result_type(x.dtype.numpy, edges.dtype.numpy))
    upper_edges, lower_edges = _edges_by_bin(edges)
    is_sorted = apply("reduce_all", apply("less_equal", lower_edges, upper_edges), axis=None)
    rerun_plain_unless(is_sorted, "the edges of bins do not increase")
    return edges


def _edges_by_bin(edges: Tensor) -> tuple[Any, Any]:
    """Return the upper edge of each bin, and the lower one."""
    return tuple(apply("get_item", edges, spec=(entry,)) for entry in NEIGHBOURS)  # type: ignore[return-value]


def _positions_between(edges: Tensor, values: Tensor) -> Tensor:
    """Return 1 for the first bin, 0 before it, and one more than the number of bins after the last one."""
    last_edge = apply("get_item", edges, spec=(At(-1),))
    count = tensor(require_known_shape(edges)[0] - 1, np.int64)
    positions = searchsorted(edges, values, "right")
    return apply("select", apply("equal", values, last_edge), count, positions)


def _count_between_edges(x: Tensor, edges: Tensor, density: bool, weights: Tensor | None) -> Any:
    """Return for each bin the number of elements, or the sum of their weights, or the density."""
    count = require_known_shape(edges)[0] - 1
    positions = _positions_between(edges, cast(x, edges.dtype.numpy))
    amounts = apply("ones_like", positions) if weights is None else weights
    totals = apply("segment_sum", amounts, positions, num_segments=count + 2)
    totals = apply("get_item", totals, spec=(Slice(1, -1, None),))
    return _density(totals, edges) if density else totals


def _density(counts: Tensor, edges: Tensor) -> Any:
    """Return the counts divided by their total, and by the widths of the bins."""
    widths = cast(apply("subtract", *_edges_by_bin(edges)), np.float64)
    total = apply("reduce_sum", counts, axis=(0,), keepdims=False)
    return apply("divide", apply("divide", cast(counts, np.float64), widths), cast(total, np.float64))


@computes("histogram2d")
def histogram2d(
    x: TensorLike, y: TensorLike, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Count the elements in the cells of a grid, or add their weights; the counts are floats."""
    samples = tensor(x), tensor(y)
    choices, bounds = _bins_by_axis(bins), (None, None) if range is None else range
    flat_weights = None if weights is None else _flat_weights(weights, samples[0])
    is_supported = choices is not None and (weights is None or flat_weights is not None) and _are_pairs(bounds)
    is_supported = is_supported and all(map(_is_sample, samples)) and have_equal_shapes(*samples)
    axes = zip(samples, choices or (), bounds, strict=True) if is_supported else ()
    edges = [_edges_of_axis(*axis) for axis in axes]
    if not is_supported or any(axis_edges is None for axis_edges in edges):
        options = {key: value for key, value in (("density", density), ("weights", weights)) if value is not None}
        return call_numpy("histogram2d", *samples, bins, range, **options)
    cell_positions: Any = None
    sizes = [require_known_shape(axis_edges)[0] + 1 for axis_edges in edges]
    for sample, axis_edges, size in zip(samples, edges, sizes, strict=True):
        positions = _positions_between(axis_edges, cast(sample, np.float64))
        row_start = None if cell_positions is None else apply("multiply", cell_positions, tensor(size, np.int64))
        cell_positions = positions if row_start is None else apply("add", row_start, positions)
    amounts = apply("ones_like", samples[0], dtype=float64) if flat_weights is None else flat_weights
    totals = apply("segment_sum", amounts, cell_positions, num_segments=sizes[0] * sizes[1])
    inner_bins = Slice(1, -1, None)
    counts = apply("get_item", apply("reshape", totals, shape=tuple(sizes)), spec=(inner_bins, inner_bins))
    if density:
        total = apply("reduce_sum", counts, axis=None)
        for axis, axis_edges in enumerate(edges):
            widths = apply("expand_dims", apply("subtract", *_edges_by_bin(axis_edges)), axis=1 - axis)
            counts = apply("divide", counts, widths)
        counts = apply("divide", counts, total)
    return counts, edges[0], edges[1]


def _are_pairs(bounds: Any) -> bool:
    """Return whether `bounds` has, for each of two axes, None or two finite numbers in order."""
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 2:
        return False
    return all(pair is None or (isinstance(pair, (list, tuple)) and _are_valid_bounds(pair)) for pair in bounds)


def _is_sample(x: Tensor) -> bool:
    """Return whether `x` is a vector of float64 or int64 that may have elements."""
    return rank_of(x) == 1 and x.type.shape != (0,) and x.dtype.numpy in (np.float64, np.int64)


def _bins_by_axis(bins: Any) -> tuple[Any, Any] | None:
    """Return the number of bins, or edges of float64, of each of two axes; None for what is left to NumPy."""
    if as_tensor(bins) is None and isinstance(bins, (list, tuple)) and len(bins) == 2:
        choices = bins[0], bins[1]
    elif isinstance(bins, np.ndarray) or as_tensor(bins) is not None or isinstance(bins, (int, np.integer)):
        # An array of one or two numbers is a choice for each axis, which is left to NumPy.
        is_pair = not isinstance(bins, (int, np.integer)) and tensor(bins).type.shape in ((2,), (1,))
        choices = (None, None) if is_pair else (bins, bins)
    else:
        return None
    return choices if all(map(_are_bins, choices)) else None


def _are_bins(choice: Any) -> bool:
    """Return whether `choice` is a number of bins, or an array of float64."""
    if isinstance(choice, np.ndarray) or as_tensor(choice) is not None:
        return tensor(choice).dtype.numpy == np.float64
    return isinstance(choice, (int, np.integer))


def _edges_of_axis(x: Tensor, choice: Any, bounds: Any) -> Any:
    """Return the edges along one axis of a grid: given ones that increase, or those of bins of one width.

    Bins of one width lie between the bounds, or if these are None, between the extremes of x.
    """
    if not isinstance(choice, (int, np.integer)):
        return _edges_from_argument(choice, x)
    if choice < 1:
        return None
    if bounds is None:
        rerun_plain_unless(tensor(sizes_of(x)[0], np.int64) > 0, "there are no elements")
    outer_edges = _outer_edges(x, cast(x, np.float64)) if bounds is None else _as_edges(bounds)
    return linspace(*_with_margin(*outer_edges), int(choice) + 1)


def _bin_dtype(x: Tensor, bounds: Any) -> Any:
    """Return NumPy's dtype of the edges of bins of equal width; None for other numbers, and where no element can be."""
    dtype = x.dtype.numpy
    if dtype == np.uint64 or 0 in (x.type.shape or (0,)):
        return None
    if dtype == np.float32 and bounds is None:  # with bounds, NumPy rounds edges of float64
        return np.float32
    return np.float64 if dtype == np.float64 or dtype.kind in "iu" else None


def _are_valid_bounds(bounds: Any) -> bool:
    """Return whether the bounds are None, or two finite numbers in order."""
    if bounds is None:
        return True
    if not all(type(bound) in (int, float, np.float64) for bound in bounds) or len(bounds) != 2:
        return False
    return all(map(math.isfinite, bounds)) and bounds[0] <= bounds[1] and bounds[1] - bounds[0] < math.inf


def _count_in_equal_bins(
    x: Tensor, bin_count: int, bounds: Any, density: bool, weights: Tensor | None
) -> tuple[Any, Any]:
    """Return the counts of elements, or the sums of their weights, or the density, and the edges of the bins."""
    if bounds is None:
        rerun_plain_unless(tensor(sizes_of(x)[0], np.int64) > 0, "there are no elements")
    dtype = _bin_dtype(x, bounds)
    values = cast(x, dtype)
    first, last = _outer_edges(x, values) if bounds is None else _as_edges(bounds)
    first, last = _with_margin(first, last)
    step = apply("divide", apply("subtract", last, first), tensor(float(bin_count), dtype))
    # The edges of bins of this width differ although each product and sum rounds by half a unit in the last place.
    largest = apply("maximum", apply("abs", first), apply("abs", last))
    least_width = apply("multiply", largest, tensor(8 * np.finfo(dtype).eps, dtype))
    rerun_plain_unless(apply("greater", step, least_width), "a histogram has bins without a width")
    fraction = apply("divide", apply("subtract", values, first), apply("subtract", last, first))
    float_positions = apply("multiply", fraction, tensor(float(bin_count), dtype))
    if bounds is not None:
        is_inside = apply("logical_and", apply("greater_equal", values, first), apply("less_equal", values, last))
        float_positions = apply("select", is_inside, float_positions, tensor(0.0, dtype))
    bin_positions = cast(float_positions, np.int64)
    bin_positions = _decrease_where(bin_positions, apply("equal", bin_positions, tensor(bin_count, np.int64)))
    bin_positions = _decrease_where(bin_positions, apply("less", values, _lower_edge(bin_positions, first, step)))
    next_edge = _lower_edge(apply("add", bin_positions, tensor(1, np.int64)), first, step)
    is_beyond = apply("greater_equal", values, next_edge)
    is_beyond = apply("logical_and", is_beyond, apply("not_equal", bin_positions, tensor(bin_count - 1, np.int64)))
    bin_positions = apply("add", bin_positions, cast(is_beyond, np.int64))
    if bounds is not None:
        bin_positions = apply("select", is_inside, bin_positions, tensor(bin_count, np.int64))
    amounts = apply("ones_like", bin_positions) if weights is None else weights
    counts = apply("segment_sum", amounts, bin_positions, num_segments=bin_count + 1)
    counts = apply("get_item", counts, spec=(Slice(None, bin_count, None),))
    edges = linspace(first, last, bin_count + 1)
    return (_density(counts, edges) if density else counts), edges


def _as_edges(bounds: Any) -> tuple[Any, Any]:
    """Return two numbers as tensors."""
    return tensor(float(bounds[0]), np.float64), tensor(float(bounds[1]), np.float64)


def _with_margin(first: Tensor, last: Tensor) -> tuple[Any, Any]:
    """Return the outer edges, with a margin of a half around a single point."""
    is_single_point = apply("equal", first, last)
    margin = apply("select", is_single_point, *(tensor(number, first.dtype.numpy) for number in (0.5, 0.0)))
    return apply("subtract", first, margin), apply("add", last, margin)


def _outer_edges(x: Tensor, values: Tensor) -> tuple[Any, Any]:
    """Return the least and the greatest element; the call runs plain if they are not finite and exact."""
    first, last = (apply(op, values, axis=(0,), keepdims=False) for op in ("reduce_min", "reduce_max"))
    limit = tensor(math.inf if x.dtype.is_floating else _MAX_EXACT_INT, values.dtype.numpy)
    bounds = apply("less", apply("negative", limit), first), apply("less", last, limit)
    width = apply("subtract", last, first)
    is_finite = apply("logical_and", apply("logical_and", *bounds), apply("is_finite", width))
    rerun_plain_unless(is_finite, "the elements of a histogram are not finite, or not exact in float64")
    return first, last


def _lower_edge(bin_position: Tensor, first: Tensor, step: Tensor) -> Any:
    """Return the lower edge of a bin, rounded as by `linspace`; computing it is faster than loading it."""
    return apply("add", apply("multiply", cast(bin_position, step.dtype.numpy), step), first)


def _decrease_where(position: Tensor, condition: Tensor) -> Any:
    """Return the positions, decreased by 1 where the condition is true."""
    return apply("subtract", position, cast(condition, np.int64))
