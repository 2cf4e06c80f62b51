"""Find the integer arguments that alone decide a value, or the open sizes of an array, while a trace is recorded.

The analysis is a backward slice over pure nodes. It is conservative: for results of regions and elements of arrays, no
arguments are found.
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
    """Search, in one trace, for the leaves of its key that decide a value; leaves are given by their positions.

    `positions` maps the graph's parameters that are numbers to these positions.
    """

    def __init__(self, positions: Mapping[Value, int], regions: Iterable[Region]) -> None:
        self._positions = positions
        self._outer_by_inner = {inner: outer for region in regions for outer, inner in region.captures.items()}

    def find_deciding_leaves(self, value: Value) -> frozenset[int]:
        """Return the positions of the leaves that decide the value, or its open sizes if it has some.

        Return an empty set if anything else decides as well.
        """
        visited: set[Value] = set()
        is_open = has_unknown_size(value)
        leaves = self._leaves_of_sizes(value, visited) if is_open else self._leaves_of_value(value, visited)
        return leaves or frozenset()

    def _leaves_of_value(self, value: Value, visited: set[Value]) -> frozenset[int] | None:
        """Return the leaves that decide the value; None if they do not decide it alone."""
        value = self._to_outermost(value)
        if value in self._positions:
            return frozenset({self._positions[value]}) if _is_integer(value) else None
        node = value.node
        if node is None or node.regions or node.effects & ~Effects.RAISE or len(visited) > _MAX_NODES:
            return None
        visited.add(value)
        if reads_only_shapes(node):
            open_operands = filter(has_unknown_size, node.inputs)
            return self._union(self._leaves_of_sizes(operand, visited) for operand in open_operands)
        # If the range of a loop is known, so are its items, because the loop can be unrolled. The first input of
        # `range_item`, the number of the iteration, therefore does not count.
        operands = node.inputs[1:] if node.op.name == "range_item" else node.inputs
        new_operands = (operand for operand in operands if operand not in visited)
        return self._union(self._leaves_of_value(operand, visited) for operand in new_operands)

    def _leaves_of_sizes(self, value: Value, visited: set[Value]) -> frozenset[int] | None:
        """Return the leaves that decide the open sizes of the value; None if they do not decide them alone."""
        value = self._to_outermost(value)
        node = value.node
        if node is None or node.regions or len(visited) > _MAX_NODES:
            return None
        visited.add(value)
        sizes = find_size_operands(node)
        open_operands = [operand for operand in node.inputs if has_unknown_size(operand) and operand not in visited]
        if not sizes and not open_operands:
            return None
        leaves_of_operands = [self._leaves_of_value(operand, visited) for operand in sizes]
        leaves_of_sizes = [self._leaves_of_sizes(operand, visited) for operand in open_operands]
        return self._union([*leaves_of_operands, *leaves_of_sizes])

    def _to_outermost(self, value: Value) -> Value:
        """Return the value of the outermost region that `value` is a capture of; `value` itself if it is no capture."""
        while value in self._outer_by_inner:
            value = self._outer_by_inner[value]
        return value

    def _union(self, position_sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
        """Return the union of the sets; None if one of them is None."""
        result: frozenset[int] = frozenset()
        for part in position_sets:
            if part is None:
                return None
            result |= part
        return result


def _is_integer(value: Value) -> bool:
    """Return whether the value is an integer or bool tensor."""
    type_ = value.type
    return isinstance(type_, TensorType) and (type_.dtype.is_integer or type_.dtype.is_bool)
