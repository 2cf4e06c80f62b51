"""Variances, extremes, sorts and norms of complex numbers by their parts: rules of the pass in `split.py`.

NumPy's order is lexicographic: real parts first, then imaginary parts. A number with a nan part comes last in sorted
rows, and is the extreme of a row that contains it. A rule takes complex operands as pairs of parts. It returns
None where the node is kept, with whole complex numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_complex, is_sorted_whole, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.complex.parts import Parts, Rule
from autoconv.graph.dtypes import int32, uint8
from autoconv.graph.graph import Node
from autoconv.ops.builder import GraphBuilder


def _variance_rule(takes_root: bool) -> Rule:
    """Return the rule of the variance, which is the sum of the parts' variances; with `takes_root`, of its root."""

    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        total = b.add(*(b.numpy_var(part, **node.attributes) for part in operands[0]))
        return b.sqrt(total) if takes_root else total

    return rule


def _norm(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Return the root of the sum of squared magnitudes, with the imaginary part 0."""
    (xr, xi), options = operands[0], {name: node.attributes.get(name) for name in ("axis", "keepdims")}
    squares = b.multiply_add(xr, xr, b.multiply(xi, xi))
    norm = b.sqrt(b.reduce_sum(squares, axis=options["axis"], keepdims=bool(options["keepdims"])))
    return norm, b.zeros_like(norm)


def _quantifier_rule(name: str) -> Rule:
    """Return the rule of `numpy_any` or `numpy_all`, which test whether numbers are not 0."""
    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        is_nonzero = b.logical_or(*(b.not_equal(part, 0.0) for part in operands[0]))
        return getattr(b, name)(is_nonzero, **node.attributes)

    return rule


def _round(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Round each part."""
    return tuple(b.numpy_round(part, **node.attributes) for part in operands[0])


# ---- extremes


def _has_nan(b: GraphBuilder, x: Parts) -> Any:
    """Return whether a part is nan."""
    return b.logical_or(*(b.is_nan(part) for part in x))


def _extreme_indicators(b: GraphBuilder, x: Parts, is_max: bool, axis: Any) -> Any:
    """Return ones at the extremes along the axis, or at the nans if there are any; zeros elsewhere."""
    reduce_extreme, neutral = (b.reduce_max, -math.inf) if is_max else (b.reduce_min, math.inf)
    axes = None if axis is None else (axis,)
    is_candidate = b.equal(x[0], reduce_extreme(x[0], axis=axes, keepdims=True))
    imag = b.select(is_candidate, x[1], b.multiply(b.ones_like(x[1]), neutral))
    is_extreme = b.logical_and(is_candidate, b.equal(imag, reduce_extreme(imag, axis=axes, keepdims=True)))
    has_nan = _has_nan(b, x)
    return b.cast(b.select(b.reduce_any(has_nan, axis=axes, keepdims=True), has_nan, is_extreme), dtype=uint8)


def _position_rule(is_max: bool) -> Rule:
    """Return the rule of the position of the first extreme."""
    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        if 0 in sizes(operands[0][0].type):
            return None
        indicators = _extreme_indicators(b, operands[0], is_max, node.attributes.get("axis"))
        return b.numpy_argmax(indicators, **node.attributes)

    return rule


def _extreme_rule(is_max: bool) -> Rule:
    """Return the rule that takes the first extreme, along the reduced axes joined to one."""

    def rule(b: GraphBuilder, node: Node, operands: Any) -> Any:
        """Pick the extreme element of each line by its position.

        Real parts are compared first, then imaginary parts.
        """
        shape, axis_attribute = sizes(operands[0][0].type), node.attributes.get("axis")
        if not is_known(shape) or 0 in shape or not shape:
            return None
        axes = (axis_attribute,) if isinstance(axis_attribute, int) else axis_attribute
        axes = range(len(shape)) if axes is None else axes
        reduced_axes = sorted({axis % len(shape) for axis in axes})
        if not reduced_axes:
            return None
        kept_axes = [axis for axis in range(len(shape)) if axis not in reduced_axes]
        line_shape = (*(shape[axis] for axis in kept_axes), math.prod(shape[axis] for axis in reduced_axes))
        perm = (*kept_axes, *reduced_axes)
        lines = tuple(b.reshape(b.transpose(part, perm=perm), shape=line_shape) for part in operands[0])
        joined_axis = len(kept_axes)
        positions = b.numpy_argmax(_extreme_indicators(b, lines, is_max, joined_axis), axis=joined_axis, keepdims=True)
        parts = (b.take_along_axis(line, positions, axis=joined_axis) for line in lines)
        return tuple(b.reshape(part, shape=sizes(node.results[0].type)) for part in parts)

    return rule


def _clip(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Take the maximum of the number and the lower bound, then the minimum of that and the upper bound."""
    if not all(isinstance(operand, tuple) for operand in operands):
        return None
    number, low, high = operands
    return _first_in_order(b, _first_in_order(b, number, low, "greater"), high, "less")


def _first_in_order(b: GraphBuilder, x: Any, y: Any, order: str) -> Any:
    """Return x if it is `order` (greater or less) than y, equal to y, or has a nan part; else y."""
    imag_parts_not_nan = b.logical_not(b.logical_or(b.is_nan(x[1]), b.is_nan(y[1])))
    is_ordered = b.logical_and(getattr(b, order)(x[0], y[0]), imag_parts_not_nan)
    is_tied = b.logical_and(b.equal(x[0], y[0]), getattr(b, f"{order}_equal")(x[1], y[1]))
    selects_x = b.logical_or(b.logical_or(is_ordered, is_tied), _has_nan(b, x))
    return tuple(b.select(selects_x, *pair) for pair in zip(x, y, strict=True))


# ---- sorting


def _sort_order(b: GraphBuilder, node: Node, x: Parts) -> Any:
    """Return the order by nans, real and imaginary parts: stable sorts by the least of these keys first."""
    axis, descending = node.attributes.get("axis", -1), node.attributes.get("descending", False)
    nans = [b.cast(b.is_nan(part), dtype=uint8) for part in x]
    nan_rank = b.add(b.multiply(nans[0], b.constant(value=np.uint8(2))), nans[1])
    order = b.argsort(x[1], axis=axis, descending=descending)
    for key in (x[0], nan_rank):
        permutation = b.argsort(b.take_along_axis(key, order, axis=axis), axis=axis, descending=descending)
        order = b.take_along_axis(order, permutation, axis=axis)
    return order


def _has_native_sort(x: Parts) -> bool:
    """Return whether all sizes are constants; the kernel sorts arrays of open sizes."""
    shape = sizes(x[0].type)
    return is_known(shape) and bool(shape)


def _sort(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Take the numbers in their order; None for short rows, which NumPy sorts whole, and for open sizes."""
    if not _has_native_sort(operands[0]) or is_sorted_whole(node):
        return None
    order, axis = _sort_order(b, node, operands[0]), node.attributes.get("axis", -1)
    return tuple(b.take_along_axis(part, order, axis=axis) for part in operands[0])


def _argsort(b: GraphBuilder, node: Node, operands: Any) -> Any:
    """Return the order of the numbers; None if a size is open."""
    return b.cast(_sort_order(b, node, operands[0]), dtype=int32) if _has_native_sort(operands[0]) else None


def _restrict_to_complex(rule: Rule) -> Rule:
    """Restrict a rule to nodes whose first operand is complex."""
    return lambda b, node, operands: rule(b, node, operands) if is_complex(node.inputs[0].type) else None


REDUCTION_RULE_BY_OP: dict[str, Rule] = {
    name: _restrict_to_complex(rule)
    for name, rule in {
        "numpy_var": _variance_rule(takes_root=False), "numpy_std": _variance_rule(takes_root=True),
        "reduce_euclidean_norm": _norm,
        "numpy_any": _quantifier_rule("numpy_any"), "numpy_all": _quantifier_rule("numpy_all"), "numpy_round": _round,
        "numpy_argmax": _position_rule(is_max=True), "numpy_argmin": _position_rule(is_max=False),
        "numpy_max": _extreme_rule(is_max=True), "numpy_min": _extreme_rule(is_max=False), "numpy_clip": _clip,
        "sort": _sort, "argsort": _argsort,
    }.items()
}  # fmt: skip
