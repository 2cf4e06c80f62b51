"""Find the integer arguments that alone decide a value, or the open sizes of one, while a trace is recorded.

A backward slice over pure nodes. Conservative: what comes out of a region, or out of an array's elements, is decided
by more than arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.runtime.recording.regions import Region
from autoconv.tracing.specialise.value_specialisation import deciding_sizes

_MOST_NODES = 200  # nodes of a slice


class DecidingArguments:
    """The leaves that decide values of the regions of one trace; `positions` maps parameters to leaves."""

    def __init__(self, positions: Mapping[Value, int], regions: Iterable[Region]) -> None:
        self._positions = positions
        self._outer = {inner: outer for region in regions for outer, inner in region.captures.items()}

    def of(self, value: Value) -> frozenset[int]:
        """Return the leaves that decide the value, or its sizes where these are open; none if something else does."""
        seen: set[Value] = set()
        is_open = _is_open(value)
        decided = self._sizes(value, seen) if is_open else self._value(value, seen)
        return decided or frozenset()

    def _value(self, value: Value, seen: set[Value]) -> frozenset[int] | None:
        value = self._outermost(value)
        if value in self._positions:
            return frozenset({self._positions[value]}) if _is_integer(value) else None
        node = value.node
        if node is None or node.regions or node.effects & ~Effects.RAISE or len(seen) > _MOST_NODES:
            return None
        seen.add(value)
        if reads_only_shapes(node):
            return self._joined(self._sizes(each, seen) for each in node.inputs if _is_open(each))
        return self._joined(self._value(each, seen) for each in node.inputs if each not in seen)

    def _sizes(self, value: Value, seen: set[Value]) -> frozenset[int] | None:
        value = self._outermost(value)
        node = value.node
        if node is None or node.regions or len(seen) > _MOST_NODES:
            return None
        seen.add(value)
        sizes = deciding_sizes(node)
        open_ = [each for each in node.inputs if _is_open(each) and each not in seen]
        if not sizes and not open_:
            return None
        leaves_of_operands = [self._value(each, seen) for each in sizes]
        return self._joined([*leaves_of_operands, *(self._sizes(each, seen) for each in open_)])

    def _outermost(self, value: Value) -> Value:
        while value in self._outer:
            value = self._outer[value]
        return value

    def _joined(self, parts: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
        result: frozenset[int] = frozenset()
        for part in parts:
            if part is None:
                return None
            result |= part
        return result


def _is_integer(value: Value) -> bool:
    type_ = value.type
    return isinstance(type_, TensorType) and (type_.dtype.is_integer or type_.dtype.is_bool)


def _is_open(value: Value) -> bool:
    return isinstance(value.type, (TensorType, ArrayType)) and None in (value.type.shape or ())


__all__ = ["DecidingArguments"]
