"""Rules of reductions, scans, softmax and norms.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axes, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules, extreme_fold
from autoconv.graph.dtypes import DType, bool_, float32, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.ops.traits import MAX, MIN

# {kind of reduction: (the operation of two elements, its initial value)}.
_FOLDS = {"sum": ("add", 0), "prod": ("multiply", 1), "any": ("or", False), "all": ("and", True)}


def fold(writer: Rules, x: Term, kind: str, axes: Sequence[int], keepdims: bool) -> Term:
    """Fold along axes by a kind of reduction, such as "sum"; `keepdims` keeps the axes with size 1."""
    result = writer.reduce(x, axes, *fold_operation(kind, x.dtype))
    return writer.keep_dimensions(result, x, axes) if keepdims else result


def fold_operation(kind: str, dtype: DType) -> tuple[str, Any]:
    """Return the operation of a reduction, and its initial value."""
    return extreme_fold(dtype, kind == "max") if kind in ("max", "min") else _FOLDS[kind]


def count_elements(writer: Rules, x: Term, axes: Sequence[int], dtype: Any) -> Any:
    """Return the number of elements along the axes."""
    total: Any = 1
    for axis in axes:
        size = x.shape[axis]
        total = total * (size if isinstance(size, int) else writer.size_term(x, axis, dtype))
    return total if isinstance(total, Term) else writer.constant(total, dtype)


def _axes_and_keepdims(node: Node, x: Term) -> tuple[tuple[int, ...], bool]:
    """Return the axes of a reduction, and whether the result keeps them with size 1."""
    return normalise_axes(node.attributes.get("axis"), x.rank), bool(node.attributes.get("keepdims", False))


def _raises_for_no_elements(node: Node) -> bool:
    """Return whether the node is an extreme of NumPy's that may have no elements.

    The node's effects assume that open sizes are not 0, as in traces: a call with a size of 0 has a trace of its own. A
    model of another runtime takes arrays of size 0 as well.
    """
    has_open_size = any(not isinstance(size, int) for size in node.inputs[0].shape or ())
    return bool(node.effects & Effects.RAISE) or (node.op.name in _EXTREMES_OF_NUMPY and has_open_size)


_EXTREMES_OF_NUMPY = frozenset({"numpy_max", "numpy_min", "numpy_argmax", "numpy_argmin"})

for _kind in ("sum", "prod", "max", "min", "any", "all"):

    def _reduce(writer: Rules, node: Node, x: Term, *further_operands: Term, kind: str = _kind) -> Term | None:
        """Reduce along axes; no elements fail where the op raises for them.

        None for masks and extremes of complex numbers.
        """
        if further_operands or (x.dtype.is_complex and kind in ("max", "min")):
            return None
        axes, keepdims = _axes_and_keepdims(node, x)
        if kind in ("any", "all"):
            x = writer.cast(x, bool_)
        else:
            x = writer.cast(x, node.results[0].dtype)
        if _raises_for_no_elements(node):
            writer.fail_if(count_elements(writer, x, axes, int64).same(0))
        return fold(writer, x, kind, axes, keepdims)

    lowers(f"reduce_{_kind}", f"numpy_{_kind}")(_reduce)


@lowers("reduce_mean", "numpy_mean")
def mean(writer: Rules, node: Node, x: Term, *further_operands: Term) -> Term | None:
    """Return the mean; of integers rounded toward zero, of 16-bit floats by float32. None for masks."""
    if further_operands:
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    dtype = node.results[0].dtype
    if dtype.is_integer:
        total = fold(writer, x, "sum", axes, keepdims)
        return writer.divide(total, count_elements(writer, x, axes, x.dtype))
    if dtype.name in ("float16", "bfloat16"):
        x = writer.cast(x, float32)
        return writer.cast(fold(writer, x, "sum", axes, keepdims) / count_elements(writer, x, axes, float32), dtype)
    x = writer.cast(x, dtype)
    return fold(writer, x, "sum", axes, keepdims) / count_elements(writer, x, axes, dtype)


@lowers("numpy_var", "numpy_std")
def variance(writer: Rules, node: Node, x: Term, *further_operands: Term) -> Term | None:
    """Return the mean of squared differences from the mean, or its root; None for masks and for other dtypes."""
    dtype = node.results[0].dtype
    if further_operands or x.dtype.is_complex or dtype not in (float32, float64):
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    x = writer.cast(x, dtype)
    centre = fold(writer, x, "sum", axes, keepdims=True) / count_elements(writer, x, axes, dtype)
    difference = x - centre
    divisor = count_elements(writer, x, axes, dtype) - float(node.attributes.get("ddof", 0))
    divisor = writer.select(divisor < 0.0, 0.0, divisor)
    result = fold(writer, difference * difference, "sum", axes, keepdims) / divisor
    return writer.intrinsic("sqrt", result) if node.op.name == "numpy_std" else result


@lowers("reduce_euclidean_norm")
def euclidean_norm(writer: Rules, node: Node, x: Term) -> Term | None:
    """Return the root of the sum of squares."""
    if not x.dtype.is_floating:
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    return writer.intrinsic("sqrt", fold(writer, x * x, "sum", axes, keepdims))


@lowers("reduce_logsumexp")
def logsumexp(writer: Rules, node: Node, x: Term) -> Term:
    """Return the logarithm of the sum of exponentials, of differences to the maximum so that nothing overflows."""
    axes, keepdims = _axes_and_keepdims(node, x)
    maximum = _finite_maximum(writer, x, axes)
    total = writer.libm("log", fold(writer, writer.libm("exp", x - maximum), "sum", axes, keepdims=True)) + maximum
    return total if keepdims else drop_axes(writer, total, axes)


def _finite_maximum(writer: Rules, x: Term, axes: Sequence[int]) -> Term:
    """Return the largest element along axes, or 0 where it is not finite, so that it can be subtracted."""
    maximum = fold(writer, x, "max", axes, keepdims=True)
    return writer.select(writer.intrinsic("fabs", maximum) < float("inf"), maximum, 0.0)


@lowers("softmax")
def softmax(writer: Rules, node: Node, x: Term) -> Term:
    """Return the exponentials, divided by their sum along an axis."""
    axes = (normalise_axis(node.attributes.get("axis", -1), x.rank),)
    exponentials = writer.libm("exp", x - fold(writer, x, "max", axes, keepdims=True))
    return exponentials / fold(writer, exponentials, "sum", axes, keepdims=True)


@lowers("log_softmax")
def log_softmax(writer: Rules, node: Node, x: Term) -> Term:
    """Return the logarithms of `softmax`."""
    axes = (normalise_axis(node.attributes.get("axis", -1), x.rank),)
    shifted_x = x - fold(writer, x, "max", axes, keepdims=True)
    return shifted_x - writer.libm("log", fold(writer, writer.libm("exp", shifted_x), "sum", axes, keepdims=True))


@lowers("sum_to_shape_of")
def sum_to_shape_of(writer: Rules, node: Node, x: Term, model: Term) -> Term | None:
    """Add over the dimensions that broadcasting from the model's shape would make."""
    leading_rank = x.rank - model.rank
    axes = list(range(leading_rank))
    for axis, size in enumerate(model.shape):
        full_size = x.shape[leading_rank + axis]
        if size == full_size:
            continue
        if size != 1:
            return None
        axes.append(leading_rank + axis)
    result = writer.reduce(x, axes, "add", 0)
    return writer.reshape(result, model.shape, writer.sizes(model))


@lowers("cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod")
def scan(writer: Rules, node: Node, x: Term) -> Term | None:
    """Return the totals so far along an axis, or of all elements; None for bools."""
    is_product = node.op.name.endswith("prod")
    axis: Any = node.attributes.get("axis")
    if axis is None:
        x, axis = writer.flatten(x), 0
    x = writer.cast(x, node.results[0].dtype)
    if x.dtype.is_bool:
        return None
    exclusive, backwards = node.attributes.get("exclusive", False), node.attributes.get("reverse", False)
    op, start = ("multiply", 1) if is_product else ("add", 0)
    return writer.scan(x, normalise_axis(axis, x.rank), op, start, exclusive, backwards)


@lowers("argmax", "argmin", "numpy_argmax", "numpy_argmin")
def position_of_extreme(writer: Rules, node: Node, x: Term) -> Term | None:
    """Return the position of the first extreme along an axis, or in all elements; None for complex numbers."""
    axis: Any = node.attributes.get("axis")
    is_flattened = axis is None
    if x.dtype.is_complex or (is_flattened and node.attributes.get("keepdims")):
        return None
    if is_flattened:
        x, axis = writer.flatten(x), 0
    axis = normalise_axis(axis, x.rank)
    if _raises_for_no_elements(node):
        writer.fail_if(count_elements(writer, x, (axis,), int64).same(0))
    positions = writer.extreme_position(x, axis, "max" in node.op.name, node.results[0].dtype)
    return writer.keep_dimensions(positions, x, (axis,)) if node.attributes.get("keepdims") else positions


_SEGMENT_FOLDS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_or": "any", "logical_and": "all",
}  # fmt: skip


@lowers("reduceat")
def reduce_segments(writer: Rules, node: Node, x: Term, starts: Term) -> Term | None:
    """Fold all elements along the axis for each segment, with neutral elements outside of the segment.

    A segment ends before the next position; if that is not greater, the segment is a single element.
    """
    kind = _SEGMENT_FOLDS.get(node.attributes["function"])
    if kind is None or x.dtype.is_complex:
        return None
    axis, dtype = normalise_axis(node.attributes["axis"], x.rank), x.dtype
    size = writer.size_term(x, axis, int64)
    writer.fail_if((starts < 0) | (starts >= size))
    ends = writer.slice(writer.concatenate([starts, writer.reshape(size, (1,))], 0), 0, 1, None)
    ends = writer.binary("maximum", ends, starts + 1)
    last = x.rank - 1
    order = [*(i for i in range(x.rank) if i != axis), axis]
    elements = insert_axis(writer, writer.transpose(x, order), last)
    positions = writer.iota((x.shape[axis],), 0, int64, [writer.size(x, axis)])
    starts, ends = (insert_axis(writer, bounds, 1) for bounds in (starts, ends))
    masked_elements = writer.select(
        (positions >= starts) & (positions < ends), elements, fold_operation(kind, dtype)[1]
    )
    result = fold(writer, masked_elements, kind, (last + 1,), keepdims=False)
    return writer.transpose(result, [order.index(i) for i in range(x.rank)])


@lowers("cummax", "cummin")
def scan_of_extremes(writer: Rules, node: Node, x: Term) -> Term:
    """Return the largest or smallest element so far along an axis."""
    name, extreme = ("maximum", MAX) if node.op.name == "cummax" else ("minimum", MIN)
    axis = normalise_axis(node.attributes["axis"], x.rank)
    return writer.scan(x, axis, name, extreme.neutral(x.dtype), exclusive=False, backwards=False)
