"""Algebraic simplification: replace a node by an equal value, or by a cheaper node.

    before   graph f(%x: float32[3]) {
               %constant = constant(value=array(float32[], 1.0)): float32[]
               %multiply = multiply(%x, %constant): float32[3]
               %negative = negative(%multiply): float32[3]
               %negative_1 = negative(%negative): float32[3]
               return %negative_1
             }
    after    graph f(%x: float32[3]) {
               %constant = constant(value=array(float32[], 1.0)): float32[]
               %negative = negative(%x): float32[3]
               return %x
             }
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.analysis.escape import escaping_arrays

Rule = Callable[[Graph, Node, Sequence[Value]], Value | None]


def simplify_nodes(graph: Graph, contract: str = "function") -> Graph:
    """Simplify nodes, in regions too. Under `compile`, arrays that leave the graph stay separate from the arguments,
    because the caller may change one of them in place.

    Each rule is exact to the bit, nan and negative zero included: integers have x + 0 = x, floats x + (-0.0) = x. The
    exceptions are powers with the exponents 2, 3 and 0.5, which become products and roots and may differ in the last
    place. Only powers of arrays become roots: for -inf and -0.0, NumPy's power of an array is the root, that of a
    number is not.
    """
    return _Simplifier(graph, contract).run()


class _Simplifier(Rewriter[str]):
    """The pass over one graph or region; `shared` is the contract."""

    def __init__(self, graph: Graph, contract: str, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, contract, copies)
        self._escaping = escaping_arrays(graph) if contract == "compile" else set()

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        rule, count_before = _RULES.get(node.op.name, _identity_of_op), len(self.copy.nodes)
        replacement = rule(self.copy, node, inputs) if len(node.results) == 1 else None
        # An array that leaves the graph is replaced by a new value only, not by one that the caller may hold as well.
        is_new = replacement is not None and replacement.node in self.copy.nodes[count_before:]
        return None if replacement is None or not (is_new or self._escaping.isdisjoint(node.results)) else [replacement]


# ---- helpers of the rules


def _constant_number(value: Value) -> Any:
    """Return the number of a 0-d constant; None for any other value."""
    if value.node is None or value.node.op.name != "constant" or not isinstance(value.type, TensorType):
        return None
    array = np.asarray(value.node.attributes["value"])
    return array.item() if array.shape == () and array.dtype.kind in "biuf" else None


def _if_same_type(value: Value, node: Node) -> Value | None:
    """Return the value if it has the type of the node's result, with a known size of each dimension, else None."""
    type_ = value.type
    if type_ != node.results[0].type or not isinstance(type_, TensorType) or type_.shape is None:
        return None
    return None if None in type_.shape else value


def _operand_of_op(value: Value, name: str) -> Value | None:
    """Return the operand of the op `name` that defines the value; None for another definition."""
    return value.node.inputs[0] if value.node is not None and value.node.op.name == name else None


def _add_if_same_type(copy: Graph, node: Node, name: str, *inputs: Value, **attributes: Any) -> Value | None:
    """Add a replacement node if its result has exactly the same type; else return None."""
    try:
        (type_,) = OPS[name].result_types([value.type for value in inputs], attributes)
    except (TypeError, ValueError):
        return None
    if type_ != node.results[0].type:
        return None
    return copy.add_replacement(node, OPS[name], inputs, attributes).results[0]


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.dtype.is_floating


def _is_neutral(number: Any, neutral_element: Any, is_sum: bool) -> bool:
    """Return whether a number is the neutral element, which for sums of floats is -0.0: -0.0 + 0.0 is 0.0."""
    if number is None or number != neutral_element:
        return False
    return not (is_sum and isinstance(number, float)) or math.copysign(1.0, number) < 0


# ---- rules: each returns the value that replaces the node's result, or None where it does not apply


def _identity_of_op(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace f(x, e) by x, for the identity e in the op's record."""
    op = node.op
    if op.traits.identity is None or len(inputs) != 2:
        return None
    x, y = inputs
    if _is_neutral(_constant_number(y), op.traits.identity, op.name == "add"):
        return _if_same_type(x, node)
    if op.traits.commutative and _is_neutral(_constant_number(x), op.traits.identity, op.name == "add"):
        return _if_same_type(y, node)
    return None


def _remove_identity(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Remove a change of shape that keeps the shape, static or symbolic, or the real part of real numbers."""
    return _if_same_type(inputs[0], node)


def _subtract(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace x - 0 by x."""
    x, y = inputs
    number = _constant_number(y)
    if number == 0 and math.copysign(1.0, number) > 0:  # -0.0 - (-0.0) is 0.0
        return _if_same_type(x, node)
    return None


def _divide(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace a division by a power of two by a multiplication with its inverse, which is exact and rounds alike."""
    x, y = inputs
    number = _constant_number(y)
    if not isinstance(number, float) or not _is_float(x):
        return None
    if number == 1:
        return _if_same_type(x, node)
    is_power_of_two = abs(math.frexp(number)[0]) == 0.5  # false for 0, infinities and nan
    if not is_power_of_two or not 1e-30 < abs(number) < 1e30:  # the inverse has to be a normal number
        return None
    assert y.node is not None and isinstance(y.type, TensorType)
    with np.errstate(over="ignore"):
        inverse = np.asarray(1.0 / number, y.dtype.numpy)
    if inverse.item() != 1.0 / number:  # 2 ** -17 is a float16, 2 ** 17 is not
        return None
    attributes = {**y.node.attributes, "value": inverse}
    constant = copy.add(OPS["constant"], (), attributes, span=node.span).results[0]
    return _add_if_same_type(copy, node, "multiply", x, constant)


def _power(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace powers with the exponents 1, 2, 3 and 0.5 by x, products of x, and the root of x."""
    x, y = inputs
    number = _constant_number(y)
    if number == 1:
        return _if_same_type(x, node)
    is_float_array = _is_float(x) and bool(x.shape)
    if number == 0.5 and is_float_array and y.shape == ():
        return _add_if_same_type(copy, node, "sqrt", x)
    if number not in (2, 3) or isinstance(number, bool):
        return None
    square = _add_if_same_type(copy, node, "multiply", x, x)
    return square if square is None or number == 2 else _add_if_same_type(copy, node, "multiply", square, x)


def _involution_rule(name: str) -> Rule:
    """Return the rule that replaces f(f(x)) by x, for the op f of this name."""

    def rule(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
        inner = _operand_of_op(inputs[0], name)
        return None if inner is None else _if_same_type(inner, node)

    return rule


def _idempotent_rule(name: str) -> Rule:
    """Return the rule that replaces f(f(x)) by f(x), for the op f of this name."""

    def rule(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
        return None if _operand_of_op(inputs[0], name) is None else _if_same_type(inputs[0], node)

    return rule


def _equal_operands(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace f(x, x) by x, and f(x, e) by x for the identity e of the op."""
    x, y = inputs
    return _if_same_type(x, node) if x is y else _identity_of_op(copy, node, inputs)


def _select(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace a selection by the operand that is always selected."""
    condition, x, y = inputs
    number = _constant_number(condition)
    if number is None:
        return _if_same_type(x, node) if x is y and _constant_number(x) is None else None
    return _if_same_type(x if number else y, node)


def _cast(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Remove a cast to the operand's dtype, or back to the dtype before a lossless cast."""
    (x,) = inputs
    result = _if_same_type(x, node) or _cast_of_select(copy, node, inputs)
    original = _operand_of_op(x, "cast")
    if result is not None or original is None or not isinstance(original.type, TensorType):
        return result
    assert isinstance(x.type, TensorType)
    original_dtype, middle_dtype = original.dtype, x.dtype
    if original_dtype.is_string or middle_dtype.is_string or not _represents_all(middle_dtype, original_dtype):
        return None
    return _if_same_type(original, node)


def _cast_of_select(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace the cast of a select between constants by a select between cast constants, if that is exact."""
    select, type_ = inputs[0].node, node.results[0].type
    if select is None or select.op.name != "select" or not isinstance(type_, TensorType) or type_.dtype.is_string:
        return None
    constants = []
    for operand in select.inputs[1:]:
        number = _constant_number(operand)
        if number is None or operand.node is None:
            return None
        with np.errstate(all="ignore"):
            element = np.asarray(number).astype(type_.dtype.numpy)
        if element.item() != number:  # excludes nan as well, whose bits may change
            return None
        constants.append({**operand.node.attributes, "value": element, "weak": type_.weak})
    values = [copy.add(OPS["constant"], (), attributes, span=node.span).results[0] for attributes in constants]
    return _add_if_same_type(copy, node, "select", select.inputs[0], *values)


def _represents_all(wide: DType, narrow: DType) -> bool:
    """Return whether `wide` holds each number of `narrow` exactly.

    np.can_cast accepts 64-bit integers for float64, which rounds them to 53 bits.
    """
    may_round = narrow.is_integer and narrow.size == 8 and not wide.is_integer
    return not may_round and np.can_cast(narrow.numpy, wide.numpy, "safe")


def _reshape(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Remove a reshape to the operand's shape; merge two reshapes."""
    result = _if_same_type(inputs[0], node)
    original = _operand_of_op(inputs[0], node.op.name)
    if result is not None or original is None or len(inputs) != 1:
        return result
    return _if_same_type(original, node) or _add_if_same_type(copy, node, "reshape", original, **node.attributes)


def _transpose(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Remove an identity permutation; merge two transposes."""
    (x,) = inputs
    order = _permutation(node)
    if order is not None and order == tuple(range(len(order))):
        return _if_same_type(x, node)
    original = _operand_of_op(x, "transpose")
    if original is None or order is None:
        return None
    assert x.node is not None
    inner_order = _permutation(x.node)
    if inner_order is None:
        return None
    combined_order = tuple(inner_order[axis] for axis in order)
    if combined_order == tuple(range(len(combined_order))):
        return _if_same_type(original, node)
    return _add_if_same_type(copy, node, "transpose", original, perm=combined_order)


def _reduce_number(copy: Graph, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Replace the reduction of a number by the number; for a sum or mean of a float, by 0.0 plus the number.

    NumPy adds the number to 0.0, so that the sum of -0.0 is 0.0.
    """
    x = inputs[0]
    if not isinstance(x.type, TensorType) or x.type.shape != () or len(inputs) > 1 or x.dtype.is_string:
        return None
    if node.op.name not in ("reduce_sum", "reduce_mean") or not _is_float(x):
        return _if_same_type(x, node)
    zero = copy.add(OPS["constant"], (), {"value": np.zeros((), x.dtype.numpy), "weak": x.type.weak}, span=node.span)
    return _add_if_same_type(copy, node, "add", x, zero.results[0])


def _permutation(node: Node) -> tuple[int, ...] | None:
    """Return the order of axes in a transpose, without negative axes; None for an operand of unknown rank."""
    type_ = node.inputs[0].type
    if not isinstance(type_, TensorType) or type_.rank is None:
        return None
    perm = node.attributes.get("perm")
    return tuple(range(type_.rank))[::-1] if perm is None else tuple(axis % type_.rank for axis in perm)


_RULES: dict[str, Rule] = {
    "subtract": _subtract, "divide": _divide, "power": _power, "select": _select, "cast": _cast,
    "python_cast": _cast_of_select,
    "reshape": _reshape, "transpose": _transpose, "sum_to_shape_of": _remove_identity,
    "broadcast_to_shape_of": _remove_identity, "broadcast_to": _remove_identity,
    **dict.fromkeys(("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"), _reduce_number),
    "reshape_like": _remove_identity, "ensure_shape": _remove_identity, "ensure_same_shape": _remove_identity,
    "negative": _involution_rule("negative"), "logical_not": _involution_rule("logical_not"),
    "invert": _involution_rule("invert"),
    "real": _remove_identity, "conjugate": _involution_rule("conjugate"),
    "matrix_transpose": _involution_rule("matrix_transpose"),
    "abs": _idempotent_rule("abs"), "relu": _idempotent_rule("relu"), "floor": _idempotent_rule("floor"),
    "ceil": _idempotent_rule("ceil"),
    "minimum": _equal_operands, "maximum": _equal_operands, "bitwise_and": _equal_operands,
    "bitwise_or": _equal_operands,
    "logical_and": _equal_operands, "logical_or": _equal_operands,
}  # fmt: skip
