"""Expand composite ops into ops that have loops: a softmax becomes a maximum, an exp, a sum and a quotient.

A rule returns a value or a tuple of values, or None for a node that stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_scalar, is_static_array, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.decompose_rules import COMPOSITE_RULE_BY_OP
from autoconv.backends.llvm.legalize.shaped_builder import count_elements, dimensions, reshape
from autoconv.graph.dimensions import product
from autoconv.graph.dtypes import bool_, uint8
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone, copy_node, leads_to_recursion
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Slice

_MIN_FILLED_ELEMENTS = 1000  # a constant of at least so many equal elements becomes a `fill`
_VARIABLE_UPDATES = {"assign_add_variable": "add", "assign_sub_variable": "subtract"}
_IDENTITIES = frozenset({"identity", "stop_gradient"})  # ops that return their input
Rule = Callable[[GraphBuilder, Node, Any], Any]


def expand(graph: Graph) -> Graph:
    """Return the graph, regions included, with composite ops of known shapes expanded."""
    return clone(graph, _expand_node) if any(map(_may_expand, graph.walk())) else graph


def is_composite(node: Node) -> bool:
    """Return whether `expand` would replace the node, judging by its name and types."""
    return node.op.name in _RULES and _has_known_shapes(node)


def _may_expand(node: Node) -> bool:
    """Return whether the node may be replaced, judging by its name and constants."""
    has_rule = node.op.name in _RULES or node.op.name in _IDENTITIES or node.op.name == "custom_gradient"
    has_rule |= _is_long_filled_constant(node) or _is_array_update(node)
    return has_rule or any(map(_is_empty_list, node.inputs))


def _expand_node(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
    """Return the values that replace a node's results; None if the node stays."""
    if any(_is_empty_list(value) for value in inputs) and not leads_to_recursion(node):
        # Each use gets a separate empty list, so that each list can be a stack.
        operands = [copy_node(copy, v.node, ()).results[0] if v.node and _is_empty_list(v) else v for v in inputs]
        return copy_node(copy, node, operands, [clone(region, _expand_node) for region in node.regions]).results
    if node.op.name in _IDENTITIES and inputs[0].type == node.results[0].type:
        return inputs
    if node.op.name == "custom_gradient":  # its region is only for differentiation
        start = node.attributes["argument_count"]
        return inputs[start : start + node.attributes["result_count"]]
    if _is_long_filled_constant(node):
        return [_fill_constant(GraphBuilder(copy, node.span), node)]
    if _is_array_update(node):
        return [_update_variable(GraphBuilder(copy, node.span), node, inputs)]
    rule = _RULES.get(node.op.name)
    if rule is None or node.effects not in (Effects.PURE, Effects.RANDOM):
        return None
    if not _has_known_shapes(node):
        return None
    if not is_dense(node.inputs[0].type) and node.op.name not in _SCALAR_OPS:
        return None
    replacement = rule(GraphBuilder(copy, node.span), node, inputs)
    if replacement is None:
        return None
    results = replacement if isinstance(replacement, tuple) else (replacement,)
    assert [v.type for v in results] == [v.type for v in node.results], node
    return results


def _has_known_shapes(node: Node) -> bool:
    """Return whether all shapes are known, constant or, where the rule supports it, open."""
    is_supported = is_dense if node.op.name in _OPEN_SIZE_OPS else is_static_array
    types = [value.type for value in (*node.inputs, *node.results)]
    return all((is_supported(type_) or is_scalar(type_)) and not is_complex(type_) for type_ in types)


def _is_empty_list(value: Value) -> bool:
    """Return whether a value is a new, empty list."""
    return value.node is not None and value.node.op.name == "list_empty"


def _is_long_filled_constant(node: Node) -> bool:
    """Return whether a node is a long constant array that repeats one number in memory, by strides of 0."""
    if node.op.name != "constant" or not is_static_array(node.results[0].type):
        return False
    value = node.attributes["value"]
    return value.size >= _MIN_FILLED_ELEMENTS and not any(value.strides)


def _fill_constant(b: GraphBuilder, node: Node) -> Value:
    """Return a `fill` of the constant's number, which loops read in place of memory."""
    value, weak = node.attributes["value"], node.attributes.get("weak", False)
    filled: Value = b.fill(b.constant(value=value[(0,) * value.ndim], weak=weak), shape=value.shape)
    return filled


def _is_array_update(node: Node) -> bool:
    """Return whether a node adds to the elements of a variable, or subtracts from them."""
    if node.op.name not in _VARIABLE_UPDATES:
        return False
    type_ = node.inputs[1].type
    return is_static_array(type_) and not is_complex(type_) and type_ == node.results[0].type


def _update_variable(b: GraphBuilder, node: Node, inputs: Sequence[Value]) -> Value:
    """Compute the new value by an op that joins the loops over the operand, and assign the value."""
    variable, operand = inputs
    new_value = getattr(b, _VARIABLE_UPDATES[node.op.name])(b.read_variable(variable), operand)
    result: Value = b.assign_variable(variable, new_value)
    return result


def _softmax(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Multiply by the reciprocal of the sum: one division a row, accurate to an ulp."""
    (x,), axis = inputs, (node.attributes["axis"],)
    powers = b.exp(b.subtract(x, b.reduce_max(x, axis=axis, keepdims=True)))
    return b.multiply(powers, b.reciprocal(b.reduce_sum(powers, axis=axis, keepdims=True)))


def _log_softmax(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Subtract the logarithm of the sum of exponentials, both of the differences to the maximum."""
    (x,), axis = inputs, (node.attributes["axis"],)
    shifted_x = b.subtract(x, b.reduce_max(x, axis=axis, keepdims=True))
    return b.subtract(shifted_x, b.log(b.reduce_sum(b.exp(shifted_x), axis=axis, keepdims=True)))


def _norm(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Return the root of the sum of squares; None for numbers that are no floats."""
    if not node.inputs[0].dtype.is_floating:
        return None
    return b.sqrt(b.reduce_sum(b.square(inputs[0]), **_reduction_attributes(node)))


def _reduction_attributes(node: Node) -> dict[str, Any]:
    """Return the axes, as a tuple or None, and `keepdims` of a reduction: the attributes of the ops `reduce_…`."""
    axis = node.attributes.get("axis")
    axes = (axis,) if isinstance(axis, int) else axis
    return {"axis": axes, "keepdims": node.attributes.get("keepdims", False)}


def _reduction_rule(name: str) -> Rule:
    """Return the rule of a reduction that first converts elements to the dtype of its result."""

    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        """Find extremes of bools among bytes, whose sums would wrap; None for other bools and means of integers."""
        (x,), dtype = inputs, node.results[0].dtype
        if name == "reduce_mean" and not dtype.is_floating:
            return None
        x = x if x.dtype is dtype else b.cast(x, dtype=dtype)
        if not dtype.is_bool:
            return _reduce(b, name, x, node)
        is_extreme = name in ("reduce_max", "reduce_min")
        return b.cast(_reduce(b, name, b.cast(x, dtype=uint8), node), dtype=dtype) if is_extreme else None

    return rule


def _reduce(b: GraphBuilder, name: str, x: Value, node: Node) -> Any:
    """Reduce an array or a number. A number is its own reduction, except that the sum of -0.0 is 0.0."""
    if not is_scalar(x.type):
        return getattr(b, name)(x, **_reduction_attributes(node))
    if name not in ("reduce_sum", "reduce_mean") or not x.dtype.is_floating:  # type: ignore[union-attr]
        return x
    return b.add(x, b.constant(value=np.zeros((), x.dtype.numpy), weak=x.type.weak))  # type: ignore[union-attr]


def _number_or_array_rule(name: str) -> Rule:
    """Return the rule of a reduction: a number is reduced by `_reduce`, an array by its composite rule, if any."""

    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        if is_scalar(inputs[0].type):
            return _reduce(b, name, inputs[0], node)
        return COMPOSITE_RULE_BY_OP[name](b, node, inputs) if name in COMPOSITE_RULE_BY_OP else None

    return rule


def _with_number_as_vector(rule: Rule) -> Rule:
    """Return a rule that applies `rule` to the operand, as an array of one element if it is a number."""

    def vector_rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        return rule(b, node, [b.fill(inputs[0], shape=(1,))] if is_scalar(inputs[0].type) else inputs)

    return vector_rule


def _quantifier_rule(name: str) -> Rule:
    """Return the rule of `numpy_any` or `numpy_all`, which convert elements to bools first."""
    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        (x,) = inputs
        return _reduce(b, name, x if x.dtype is bool_ else b.cast(x, dtype=bool_), node)

    return rule


def _variance_rule(takes_root: bool) -> Rule:
    """Return the rule of the variance, or its root: the mean of squared differences from the mean, as in NumPy."""

    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        """Return the mean of squared differences from the mean, or its root; None for dtypes that are no floats."""
        (x,), dtype = inputs, node.results[0].dtype
        if not dtype.is_floating:
            return None
        if x.dtype is not dtype:
            x = b.cast(x, dtype=dtype)
        reduction_attributes = _reduction_attributes(node)
        shape = sizes(x.type)
        axes = range(len(shape)) if reduction_attributes["axis"] is None else reduction_attributes["axis"]
        mean = b.reduce_mean(x, axis=reduction_attributes["axis"], keepdims=True)
        total = b.reduce_sum(b.square(b.subtract(x, mean)), **reduction_attributes)
        ddof = node.attributes.get("ddof", 0)
        if is_known(shape):
            result = b.divide(total, float(max(math.prod(shape[a] for a in axes) - ddof, 0)))
        else:
            divisor = b.subtract(count_elements(b, x, axes, dtype), b.constant(value=np.asarray(ddof, dtype.numpy)))
            result = b.divide(total, b.maximum(divisor, b.constant(value=np.zeros((), dtype.numpy))))
        return b.sqrt(result) if takes_root else result

    return rule


def _position_rule(name: str) -> Rule:
    """Return the rule of the position of an extreme, among all elements if the node has no axis."""
    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        """Reduce to positions without `keepdims`, along one axis, and reshape the result."""
        (x,), axis = inputs, node.attributes.get("axis")
        result_type: Any = node.results[0].type
        x = b.cast(x, dtype=uint8) if x.dtype.is_bool else x
        if axis is None:
            x, axis = reshape(b, x, (product(dimensions(x)),)), 0
        positions = getattr(b, name)(x, axis=axis, dtype=result_type.dtype)
        if not node.attributes.get("keepdims"):
            return positions
        if is_scalar(positions.type):
            return b.fill(positions, shape=sizes(result_type))
        return reshape(b, positions, dimensions(node.results[0]))

    return rule


def _astype(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Convert to another dtype, which makes a new array; None for copies, which the kernel makes."""
    dtype = node.results[0].dtype
    if node.attributes["method"] != "astype" or dtype is node.inputs[0].dtype:
        return None
    return b.cast(inputs[0], dtype=dtype)


def _stack(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Concatenate the items with a new dimension of size 1."""
    rank = len(sizes(node.results[0].type))
    axis = node.attributes.get("axis", 0) % rank
    shape = sizes(node.results[0].type)
    item_shape = (*shape[:axis], 1, *shape[axis + 1 :])
    if rank == 1:
        return b.concat(*(b.fill(x, shape=item_shape) for x in inputs), axis=0)
    if not is_known(item_shape):
        return b.concat(*(b.expand_dims(x, axis=axis) for x in inputs), axis=axis)
    return b.concat(*(b.reshape(x, shape=item_shape) for x in inputs), axis=axis)


def _unstack(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Take the items one by one; None if the size is not the expected count, for which the kernel raises."""
    (x,), count = inputs, node.attributes["num"]
    axis = node.attributes.get("axis", 0) % len(sizes(x.type))
    if sizes(x.type)[axis] != count:
        return None
    leading_slices = (Slice(),) * axis
    return tuple(b.get_item(x, spec=(*leading_slices, At(i))) for i in range(count))


def _constant_rule(number: int) -> Rule:
    """Return the rule that makes a scalar constant of the result's type."""

    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        (result,) = node.results
        if not is_scalar(result.type):
            return None
        return b.constant(value=np.asarray(number, result.dtype.numpy), weak=result.weak)

    return rule


def _rank(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    return b.constant(value=np.asarray(len(dimensions(inputs[0])), node.results[0].dtype.numpy))


def _size(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    count = int(np.prod(sizes(node.inputs[0].type), dtype=np.int64))
    return b.constant(value=np.asarray(count, node.results[0].dtype.numpy))


def _fill_shape(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Fill the result's shape with a number; None for an array, and where a further operand gives the shape."""
    if is_static_array(node.inputs[0].type) or is_scalar(node.results[0].type):
        return None
    if len(inputs) > 1 and node.op.name != "broadcast_to_shape_of":
        return None
    return b.fill(inputs[0], shape=sizes(node.results[0].type))


_REDUCTIONS = tuple(f"reduce_{kind}" for kind in ("sum", "prod", "mean", "max", "min", "any", "all"))
# Ops whose rules take a scalar as the first operand; rules of other ops take arrays there.
_SCALAR_OPS = frozenset({
    *_REDUCTIONS, "reduce_euclidean_norm", "reduce_logsumexp", "numpy_var", "numpy_std", "numpy_argmax",
    "numpy_argmin",
    "ones_like", "zeros_like", "size", "broadcast_to_shape_of", "broadcast_to", "expand_dims", "reshape", "xlogy",
    "xdivy", "logaddexp", "stack", "numpy_round", "numpy_sum", "numpy_prod", "numpy_mean", "numpy_max", "numpy_min",
    "numpy_any", "numpy_all", "ungather",
})  # fmt: skip
# Ops whose rules take open dimensions; rules of other ops need constant ones.
_OPEN_SIZE_OPS = frozenset({
    "softmax", "log_softmax", "reduce_euclidean_norm", "numpy_sum", "numpy_prod", "numpy_mean", "numpy_max",
    "numpy_min", "numpy_any", "numpy_all", "numpy_copy", "numpy_clip", "xlogy", "xdivy", "logaddexp", "matmul",
    "stack", "unstack", "shift", "unpad", "split", "split_like", "sum_tiles", "reduce_logsumexp", "einsum", "tensordot",
    "numpy_var", "numpy_std", "numpy_argmax", "numpy_argmin", "reduce_mean", "random_shuffle", "stateless_shuffle",
    "rank", "numpy_round", "ungather",
})  # fmt: skip
_RULES: dict[str, Rule] = {
    **COMPOSITE_RULE_BY_OP, **{name: _number_or_array_rule(name) for name in _REDUCTIONS},
    "ones_like": _constant_rule(1), "zeros_like": _constant_rule(0), "size": _size,
    "broadcast_to_shape_of": _fill_shape,
    "broadcast_to": _fill_shape, "expand_dims": _fill_shape, "reshape": _fill_shape,
    "softmax": _softmax, "log_softmax": _log_softmax, "reduce_euclidean_norm": _with_number_as_vector(_norm),
    "reduce_logsumexp": _with_number_as_vector(COMPOSITE_RULE_BY_OP["reduce_logsumexp"]), "stack": _stack,
    "unstack": _unstack, "rank": _rank,
    "numpy_sum": _reduction_rule("reduce_sum"), "numpy_prod": _reduction_rule("reduce_prod"),
    "numpy_mean": _reduction_rule("reduce_mean"), "numpy_max": _reduction_rule("reduce_max"),
    "numpy_min": _reduction_rule("reduce_min"), "numpy_any": _quantifier_rule("reduce_any"),
    "numpy_all": _quantifier_rule("reduce_all"),
    "numpy_var": _with_number_as_vector(_variance_rule(takes_root=False)),
    "numpy_std": _with_number_as_vector(_variance_rule(takes_root=True)),
    "numpy_argmax": _with_number_as_vector(_position_rule("argmax")),
    "numpy_argmin": _with_number_as_vector(_position_rule("argmin")),
    "numpy_copy": _astype,
}  # fmt: skip
