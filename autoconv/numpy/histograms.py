"""Histograms: ops count elements in bins of equal width; NumPy itself counts in other bins.

As in NumPy, the position of an element is computed, and then corrected by the edges of its bin, which are rounded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.numpy.creation import linspace
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import assume, cast, computes, holds_tensors, integer, rank_of, refuse, sizes_of, tensor
from autoconv.ops.index_spec import Slice
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
    may_count = not has_edges and weights is None and _may_have_float_bins(x)
    if may_count and count_or_edges > 0 and _are_valid_bounds(range):
        return _count_in_equal_bins(apply("reshape", x, shape=(-1,)), count_or_edges, range, bool(density))
    options: dict[str, Any] = {} if density is None else {"density": bool(density)}
    if weights is not None:
        options["weights"] = tensor(weights)
    counts, edges = call_numpy("histogram", x, count_or_edges, range, **options)
    has_edge_array = isinstance(bins, np.ndarray) or (as_tensor(bins) is not None and rank_of(tensor(bins)) == 1)
    return counts, bins if has_edge_array else edges  # an array of edges is returned unchanged


def _may_have_float_bins(x: Tensor) -> bool:
    """Return whether edges of bins that NumPy derives from the elements are float64, and there may be elements."""
    dtype = x.dtype.numpy
    return (dtype == np.float64 or dtype.kind in "iu") and dtype != np.uint64 and 0 not in (x.type.shape or (0,))


def _are_valid_bounds(bounds: Any) -> bool:
    if bounds is None:
        return True
    if not all(type(bound) in (int, float, np.float64) for bound in bounds) or len(bounds) != 2:
        return False
    return all(map(math.isfinite, bounds)) and bounds[0] <= bounds[1] and bounds[1] - bounds[0] < math.inf


def _count_in_equal_bins(x: Tensor, bin_count: int, bounds: Any, density: bool) -> tuple[Any, Any]:
    """Return the counts of elements, or their density, and the edges of the bins."""
    if bounds is None:
        assume(tensor(sizes_of(x)[0], np.int64) > 0, "an array without elements has no least one")
    values = cast(x, np.float64)
    first, last = _outer_edges(x, values) if bounds is None else (tensor(float(b), np.float64) for b in bounds)
    is_single_point = apply("equal", first, last)
    margin = apply("select", is_single_point, tensor(0.5, np.float64), tensor(0.0, np.float64))
    first, last = apply("subtract", first, margin), apply("add", last, margin)
    step = apply("divide", apply("subtract", last, first), tensor(float(bin_count), np.float64))
    assume(apply("greater", step, tensor(0.0, np.float64)), "a histogram has bins that have a width")
    fraction = apply("divide", apply("subtract", values, first), apply("subtract", last, first))
    float_positions = apply("multiply", fraction, tensor(float(bin_count), np.float64))
    if bounds is not None:
        is_inside = apply("logical_and", apply("greater_equal", values, first), apply("less_equal", values, last))
        float_positions = apply("select", is_inside, float_positions, tensor(0.0, np.float64))
    bin_positions = cast(float_positions, np.int64)
    bin_positions = _decrease_where(bin_positions, apply("equal", bin_positions, tensor(bin_count, np.int64)))
    bin_positions = _decrease_where(bin_positions, apply("less", values, _lower_edge(bin_positions, first, step)))
    next_edge = _lower_edge(apply("add", bin_positions, tensor(1, np.int64)), first, step)
    is_beyond = apply("greater_equal", values, next_edge)
    is_beyond = apply("logical_and", is_beyond, apply("not_equal", bin_positions, tensor(bin_count - 1, np.int64)))
    bin_positions = apply("add", bin_positions, cast(is_beyond, np.int64))
    if bounds is not None:
        bin_positions = apply("select", is_inside, bin_positions, tensor(bin_count, np.int64))
    ones = apply("ones_like", bin_positions)
    counts = apply("segment_sum", ones, bin_positions, num_segments=bin_count + 1)
    counts = apply("get_item", counts, spec=(Slice(None, bin_count, None),))
    edges = linspace(first, last, bin_count + 1)
    if density:
        ends, starts = (apply("get_item", edges, spec=(part,)) for part in (_WITHOUT_FIRST, _WITHOUT_LAST))
        widths = apply("subtract", ends, starts)
        total = apply("reduce_sum", counts, axis=(0,), keepdims=False)
        counts = apply("divide", apply("divide", cast(counts, np.float64), widths), cast(total, np.float64))
    return counts, edges


_WITHOUT_FIRST, _WITHOUT_LAST = Slice(1, None, None), Slice(None, -1, None)


def _outer_edges(x: Tensor, values: Tensor) -> tuple[Any, Any]:
    """Return the least and the greatest element; the call runs plain if they are not finite and exact."""
    first, last = (apply(op, values, axis=(0,), keepdims=False) for op in ("reduce_min", "reduce_max"))
    limit = tensor(math.inf if x.dtype.is_floating else _MAX_EXACT_INT, np.float64)
    bounds = apply("less", apply("negative", limit), first), apply("less", last, limit)
    width = apply("subtract", last, first)
    is_finite = apply("logical_and", apply("logical_and", *bounds), apply("is_finite", width))
    assume(is_finite, "a histogram has bins between finite numbers")
    return first, last


def _lower_edge(bin_position: Tensor, first: Tensor, step: Tensor) -> Any:
    """Return the lower edge of a bin, rounded as by `linspace`; computing it is faster than loading it."""
    return apply("add", apply("multiply", cast(bin_position, np.float64), step), first)


def _decrease_where(position: Tensor, condition: Tensor) -> Any:
    """Return the positions, decreased by 1 where the condition is true."""
    return apply("subtract", position, cast(condition, np.int64))
