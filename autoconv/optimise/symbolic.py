"""Shapes by symbols: what the dimensions of arguments say of all others, and of numbers that are computed of shapes.

    before   graph f(%x: float32[n,3]) {
               %part = get_item(%x, spec=(('slice', 1, None, None),)): float32[?,3]
               …
    after    %part is float32[n-1,3]

Result rules say what they can of symbols; what takes arithmetic is said in `symbolic_shapes`, and of integers that are
computed of dimensions in `symbolic_numbers`. What has to hold for it is kept as dimensions that must not be negative:
of `x[:5]`, whose length is 5, that n - 5 is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type
from autoconv.optimise.symbolic_numbers import MOST, NUMBERS, Numbers
from autoconv.optimise.symbolic_shapes import SHAPES


class Sizes:
    """`numbers` are the integers that values hold, as far as they are dimensions; `needs` what must not be negative."""

    def __init__(self) -> None:
        self.numbers: dict[Value, Numbers] = {}
        self.needs: dict[int | Symbol, None] = {}

    def types(self, node: Node, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Type] | None:
        """What the results are; None for an op of which nothing is known here."""
        rule = SHAPES.get(node.op.name)
        if rule is None or not inputs or not isinstance(inputs[0].type, (TensorType, ArrayType)):
            return None
        found = rule(self, inputs, attributes)
        before = [value.type for value in node.results]
        if found is None or not all(isinstance(type_, (TensorType, ArrayType)) for type_ in before):
            return None
        shapes = found if isinstance(found, list) else [found] * len(before)
        return [type_.with_shape(shape) for type_, shape in zip(before, shapes, strict=True)]  # type: ignore[union-attr, arg-type]

    def note(self, node: Node) -> None:
        """Keeps in mind what a node's result holds."""
        if len(node.results) != 1 or not isinstance(node.results[0].type, TensorType):
            return
        type_ = node.results[0].type
        if not type_.dtype.is_integer or type_.shape is None or len(type_.shape) > 1:
            return
        rule = NUMBERS.get(node.op.name)
        found = None if rule is None else rule(self, node)
        if found is not None and (not isinstance(found, tuple) or len(found) <= MOST):
            self.numbers[node.results[0]] = found

    def share(self, inner: Sequence[Value], outer: Sequence[Value]) -> None:
        """Says that parameters of a region are those values of the graph around it."""
        for parameter, value in zip(inner, outer, strict=True):
            if value in self.numbers:
                self.numbers[parameter] = self.numbers[value]

    def need(self, dimension: Dimension) -> None:
        """Says that it must not be negative."""
        if isinstance(dimension, Symbol):
            self.needs[dimension] = None


def has_symbols(type_: Type) -> bool:
    return isinstance(type_, (TensorType, ArrayType)) and any(isinstance(d, Symbol) for d in type_.shape or ())


def without_symbols(type_: Type) -> Type:
    """For rules that do arithmetic of their own."""
    if not isinstance(type_, (TensorType, ArrayType)) or type_.shape is None:
        return type_
    return type_.with_shape(tuple(None if isinstance(d, Symbol) else d for d in type_.shape))
