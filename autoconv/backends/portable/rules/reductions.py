"""Rules of reductions, scans, softmax and norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.rules.movement import drop_axes
from autoconv.backends.portable.rules.registry import lowers, normalise_axes, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules, extreme_fold
from autoconv.graph.dtypes import DType, bool_, float32, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.ops.traits import MAX, MIN

# {kind of reduction: (the operation of two elements, its initial value)}.
_FOLDS = {"sum": ("add", 0), "prod": ("multiply", 1), "any": ("or", False), "all": ("and", True)}


def fold(w: Rules, x: Term, kind: str, axes: Sequence[int], keepdims: bool) -> Term:
    """Fold along axes by a kind of reduction, such as "sum"; `keepdims` keeps the axes with size 1."""
    result = w.reduce(x, axes, *fold_operation(kind, x.dtype))
    return w.keep_dimensions(result, x, axes) if keepdims else result


def fold_operation(kind: str, dtype: DType) -> tuple[str, Any]:
    """Return the operation of a reduction, and its initial value."""
    return extreme_fold(dtype, kind == "max") if kind in ("max", "min") else _FOLDS[kind]


def count_elements(w: Rules, x: Term, axes: Sequence[int], dtype: Any) -> Any:
    """Return the number of elements along the axes."""
    total: Any = 1
    for axis in axes:
        size = x.shape[axis]
        total = total * (size if isinstance(size, int) else w.size_term(x, axis, dtype))
    return total if isinstance(total, Term) else w.constant(total, dtype)


def _axes_and_keepdims(node: Node, x: Term) -> tuple[tuple[int, ...], bool]:
    return normalise_axes(node.attributes.get("axis"), x.rank), bool(node.attributes.get("keepdims", False))


for _kind in ("sum", "prod", "max", "min", "any", "all"):

    def _reduce(w: Rules, node: Node, x: Term, *further_operands: Term, kind: str = _kind) -> Term | None:
        if further_operands or (x.dtype.is_complex and kind in ("max", "min")):
            return None
        axes, keepdims = _axes_and_keepdims(node, x)
        if kind in ("any", "all"):
            x = w.cast(x, bool_)
        else:
            x = w.cast(x, node.results[0].dtype)
        if node.effects & Effects.RAISE:  # NumPy's extremes of no elements
            w.fail(count_elements(w, x, axes, int64).same(0))
        return fold(w, x, kind, axes, keepdims)

    lowers(f"reduce_{_kind}", f"numpy_{_kind}")(_reduce)


@lowers("reduce_mean", "numpy_mean")
def mean(w: Rules, node: Node, x: Term, *further_operands: Term) -> Term | None:
    if further_operands:
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    dtype = node.results[0].dtype
    if dtype.is_integer:
        total = fold(w, x, "sum", axes, keepdims)
        return w.divide(total, count_elements(w, x, axes, x.dtype))
    if dtype.name in ("float16", "bfloat16"):
        x = w.cast(x, float32)
        return w.cast(fold(w, x, "sum", axes, keepdims) / count_elements(w, x, axes, float32), dtype)
    x = w.cast(x, dtype)
    return fold(w, x, "sum", axes, keepdims) / count_elements(w, x, axes, dtype)


@lowers("numpy_var", "numpy_std")
def variance(w: Rules, node: Node, x: Term, *further_operands: Term) -> Term | None:
    dtype = node.results[0].dtype
    if further_operands or x.dtype.is_complex or dtype not in (float32, float64):
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    x = w.cast(x, dtype)
    centre = fold(w, x, "sum", axes, keepdims=True) / count_elements(w, x, axes, dtype)
    difference = x - centre
    divisor = count_elements(w, x, axes, dtype) - float(node.attributes.get("ddof", 0))
    divisor = w.select(divisor < 0.0, 0.0, divisor)
    result = fold(w, difference * difference, "sum", axes, keepdims) / divisor
    return w.intrinsic("sqrt", result) if node.op.name == "numpy_std" else result


@lowers("reduce_euclidean_norm")
def euclidean_norm(w: Rules, node: Node, x: Term) -> Term | None:
    if not x.dtype.is_floating:
        return None
    axes, keepdims = _axes_and_keepdims(node, x)
    return w.intrinsic("sqrt", fold(w, x * x, "sum", axes, keepdims))


@lowers("reduce_logsumexp")
def logsumexp(w: Rules, node: Node, x: Term) -> Term:
    axes, keepdims = _axes_and_keepdims(node, x)
    maximum = _finite_maximum(w, x, axes)
    total = w.libm("log", fold(w, w.libm("exp", x - maximum), "sum", axes, keepdims=True)) + maximum
    return total if keepdims else drop_axes(w, total, axes)


def _finite_maximum(w: Rules, x: Term, axes: Sequence[int]) -> Term:
    """Return the largest element along axes, or 0 where it is not finite, so that it can be subtracted."""
    maximum = fold(w, x, "max", axes, keepdims=True)
    return w.select(w.intrinsic("fabs", maximum) < float("inf"), maximum, 0.0)


@lowers("softmax")
def softmax(w: Rules, node: Node, x: Term) -> Term:
    axes = (normalise_axis(node.attributes.get("axis", -1), x.rank),)
    exponentials = w.libm("exp", x - fold(w, x, "max", axes, keepdims=True))
    return exponentials / fold(w, exponentials, "sum", axes, keepdims=True)


@lowers("log_softmax")
def log_softmax(w: Rules, node: Node, x: Term) -> Term:
    axes = (normalise_axis(node.attributes.get("axis", -1), x.rank),)
    shifted_x = x - fold(w, x, "max", axes, keepdims=True)
    return shifted_x - w.libm("log", fold(w, w.libm("exp", shifted_x), "sum", axes, keepdims=True))


@lowers("sum_to_shape_of")
def sum_to_shape_of(w: Rules, node: Node, x: Term, model: Term) -> Term | None:
    leading_rank = x.rank - model.rank
    axes = list(range(leading_rank))
    for axis, size in enumerate(model.shape):
        full_size = x.shape[leading_rank + axis]
        if size == full_size:
            continue
        if size != 1:
            return None
        axes.append(leading_rank + axis)
    result = w.reduce(x, axes, "add", 0)
    return w.reshape(result, model.shape, w.sizes(model))


@lowers("cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod")
def scan(w: Rules, node: Node, x: Term) -> Term | None:
    is_product = node.op.name.endswith("prod")
    axis: Any = node.attributes.get("axis")
    if axis is None:
        x, axis = w.flatten(x), 0
    x = w.cast(x, node.results[0].dtype)
    if x.dtype.is_bool:
        return None
    exclusive, backwards = node.attributes.get("exclusive", False), node.attributes.get("reverse", False)
    op, start = ("multiply", 1) if is_product else ("add", 0)
    return w.scan(x, normalise_axis(axis, x.rank), op, start, exclusive, backwards)


@lowers("argmax", "argmin", "numpy_argmax", "numpy_argmin")
def position_of_extreme(w: Rules, node: Node, x: Term) -> Term | None:
    axis: Any = node.attributes.get("axis")
    is_flattened = axis is None
    if x.dtype.is_complex or (is_flattened and node.attributes.get("keepdims")):
        return None
    if is_flattened:
        x, axis = w.flatten(x), 0
    axis = normalise_axis(axis, x.rank)
    if node.effects & Effects.RAISE:
        w.fail(count_elements(w, x, (axis,), int64).same(0))
    positions = w.extreme_position(x, axis, "max" in node.op.name, node.results[0].dtype)
    return w.keep_dimensions(positions, x, (axis,)) if node.attributes.get("keepdims") else positions


@lowers("cummax", "cummin")
def scan_of_extremes(w: Rules, node: Node, x: Term) -> Term:
    name, extreme = ("maximum", MAX) if node.op.name == "cummax" else ("minimum", MIN)
    axis = normalise_axis(node.attributes["axis"], x.rank)
    return w.scan(x, axis, name, extreme.neutral(x.dtype), exclusive=False, backwards=False)
