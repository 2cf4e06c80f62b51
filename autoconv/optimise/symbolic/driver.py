"""Symbolic shapes: express dimensions, and numbers computed from shapes, by the dimensions of the arguments.

    before   graph f(%x: float32[n,3]) {
               %part = get_item(%x, spec=(Slice(1, None, None),)): float32[?,3]
               …
    after    %part is float32[n-1,3]

Type rules propagate symbols. Shapes that need arithmetic are derived in `shapes.py`, and integers computed from
dimensions in `numbers.py`. A precondition of a derivation is recorded as an expression that must not be
negative: `x[:5]` has length 5 if n - 5 is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, Symbol, TensorType, Type
from autoconv.optimise.symbolic.numbers import MAX_VECTOR_LENGTH, NUMBER_RULE_BY_OP
from autoconv.optimise.symbolic.shapes import SHAPE_RULE_BY_OP
from autoconv.optimise.symbolic.sizes import Sizes


def derive_types(sizes: Sizes, node: Node, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Type] | None:
    """Return the result types of a node, with sizes as expressions of symbols; None where no rule derives them."""
    rule = SHAPE_RULE_BY_OP.get(node.op.name)
    if rule is None or not inputs or not isinstance(inputs[0].type, (TensorType, ArrayType)):
        return None
    result = rule(sizes, inputs, attributes)
    declared_types = [value.type for value in node.results]
    if result is None or not all(isinstance(type_, (TensorType, ArrayType)) for type_ in declared_types):
        return None
    # A rule returns a list of shapes, or one shape for all results.
    shapes = result if isinstance(result, list) else [result] * len(declared_types)
    return [type_.with_shape(shape) for type_, shape in zip(declared_types, shapes, strict=True)]  # type: ignore[union-attr, arg-type]


def derive_numbers(sizes: Sizes, node: Node) -> None:
    """Add the integers that a node computes from dimensions to `sizes.numbers`, as expressions of symbols."""
    if len(node.results) != 1 or not isinstance(node.results[0].type, TensorType):
        return
    type_ = node.results[0].type
    if not type_.dtype.is_integer or type_.shape is None or len(type_.shape) > 1:
        return
    rule = NUMBER_RULE_BY_OP.get(node.op.name)
    numbers = None if rule is None else rule(sizes, node)
    if numbers is not None and (not isinstance(numbers, tuple) or len(numbers) <= MAX_VECTOR_LENGTH):
        sizes.numbers[node.results[0]] = numbers


def has_symbols(type_: Type) -> bool:
    """Return whether a size of the type is a symbol."""
    return isinstance(type_, (TensorType, ArrayType)) and any(isinstance(size, Symbol) for size in type_.shape or ())


def without_symbols(type_: Type) -> Type:
    """Return the type with unknown sizes in place of symbols, for type rules that compute with sizes."""
    if not isinstance(type_, (TensorType, ArrayType)) or type_.shape is None:
        return type_
    return type_.with_shape(tuple(None if isinstance(size, Symbol) else size for size in type_.shape))
