"""Find the integer arguments that alone decide a value, or the open sizes of one, while a trace is recorded.

This is a backward slice over pure nodes. It is conservative: results of regions and elements of arrays count as decided
by more than arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.runtime.recording.regions import Region
from autoconv.tracing.specialise.value_specialisation import find_size_operands, has_unknown_size

_MAX_NODES = 200  # nodes of a slice


class DecidingArguments:
    """The leaves that decide values of the regions of one trace; `positions` maps parameters to leaves."""

    def __init__(self, positions: Mapping[Value, int], regions: Iterable[Region]) -> None:
        self._positions = positions
        self._outer_by_inner = {inner: outer for region in regions for outer, inner in region.captures.items()}

    def find_deciding_leaves(self, value: Value) -> frozenset[int]:
        """Return the leaves that decide the value, or its open sizes if it has some; none if anything else does."""
        seen_values: set[Value] = set()
        is_open = has_unknown_size(value)
        leaves = self._leaves_of_sizes(value, seen_values) if is_open else self._leaves_of_value(value, seen_values)
        return leaves or frozenset()

    def _leaves_of_value(self, value: Value, seen_values: set[Value]) -> frozenset[int] | None:
        value = self._to_outermost(value)
        if value in self._positions:
            return frozenset({self._positions[value]}) if _is_integer(value) else None
        node = value.node
        if node is None or node.regions or node.effects & ~Effects.RAISE or len(seen_values) > _MAX_NODES:
            return None
        seen_values.add(value)
        if reads_only_shapes(node):
            return self._union(self._leaves_of_sizes(x, seen_values) for x in node.inputs if has_unknown_size(x))
        unseen_operands = (operand for operand in node.inputs if operand not in seen_values)
        return self._union(self._leaves_of_value(operand, seen_values) for operand in unseen_operands)

    def _leaves_of_sizes(self, value: Value, seen_values: set[Value]) -> frozenset[int] | None:
        value = self._to_outermost(value)
        node = value.node
        if node is None or node.regions or len(seen_values) > _MAX_NODES:
            return None
        seen_values.add(value)
        sizes = find_size_operands(node)
        open_operands = [operand for operand in node.inputs if has_unknown_size(operand) and operand not in seen_values]
        if not sizes and not open_operands:
            return None
        leaves_of_operands = [self._leaves_of_value(operand, seen_values) for operand in sizes]
        leaves_of_sizes = [self._leaves_of_sizes(operand, seen_values) for operand in open_operands]
        return self._union([*leaves_of_operands, *leaves_of_sizes])

    def _to_outermost(self, value: Value) -> Value:
        while value in self._outer_by_inner:
            value = self._outer_by_inner[value]
        return value

    def _union(self, parts: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
        result: frozenset[int] = frozenset()
        for part in parts:
            if part is None:
                return None
            result |= part
        return result


def _is_integer(value: Value) -> bool:
    type_ = value.type
    return isinstance(type_, TensorType) and (type_.dtype.is_integer or type_.dtype.is_bool)


__all__ = ["DecidingArguments"]
