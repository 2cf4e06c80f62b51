"""Numbers among the arguments that decide sizes, and are the same call after call: they become part of the key.

Where a program makes arrays of `n` numbers, or looks at the first `k`, a graph for every `n` runs what follows by
kernels. After a few calls with the same `n` there is another trace for that one, whose sizes are known; calls with
others go on as they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, has_recursion
from autoconv.graph.types import ArrayType, TensorType
from autoconv.tracing.bounded import Bounded
from autoconv.tracing.concrete import ConcreteFunction, input_leaves
from autoconv.tracing.keys import Key, Literal, TensorKey, is_number
from autoconv.tracing.signature import Call
from autoconv.tracing.trace_cache import MOST_KEYS

_CALLS = 6  # with the same numbers, until there is a trace for them
_PARTS = frozenset({"get_item", "array_view"})  # whose inputs behind the first are bounds, of arrays of any size
_OF_SIZES = frozenset({"range", "array_new"})  # all of whose inputs count; of others those behind the first
_OF_SHAPES = frozenset({"shape", "dimension", "size", "numpy_shapes"})


@dataclass(slots=True)
class _Watch:
    """Of a trace: which leaves decide sizes, the values that they have had, and in how many calls."""

    leaves: tuple[int, ...]
    values: tuple[Any, ...] = ()
    count: int = 0
    over: bool = False  # others came, or there is no trace for these
    failed: bool = False


class Settling:
    def __init__(self) -> None:
        self._watched: Bounded[Key, _Watch] = Bounded(MOST_KEYS)

    def waits(self, concrete: ConcreteFunction, leaves: Sequence[Any]) -> bool:
        """After a call: whether the next one has to come by here as well, for what decides sizes may be settled."""
        watch = self._watched.get(concrete.key)
        if watch is None:
            deciding = deciding_leaves(concrete) if concrete.falls_back else ()
            watch = self._watched[concrete.key] = _Watch(deciding, over=not deciding)
        if watch.over:
            return False
        values = tuple(map(Literal, _picked(leaves, watch.leaves)))
        are_numbers = all(type(literal.value) in (int, float, bool) for literal in values)
        if not are_numbers or (watch.count and values != watch.values):
            watch.over = True
            return False
        watch.values, watch.count = values, watch.count + 1
        return True

    def narrow(self, call: Call) -> None:
        """Makes the numbers that are settled part of the call's key."""
        watch = self._watched.get(call.key)
        if watch is None or watch.count < _CALLS or watch.failed:
            return
        if tuple(map(Literal, _picked(call.leaves, watch.leaves))) != watch.values:
            return
        leaves = list(call.key.leaves)
        for position, literal in zip(watch.leaves, watch.values, strict=True):
            leaves[position] = literal
        told = [f"{call.names[i]} is {literal.value!r}" for i, literal in zip(watch.leaves, watch.values, strict=True)]
        call.why = call.why or f"{', '.join(told)} again, which decides sizes"
        call.wide, call.key = call.key, replace(call.key, leaves=tuple(leaves))

    def widen(self, call: Call) -> bool:
        """Whether a trace that failed was one for settled numbers: the call gets the one for all numbers then."""
        if call.wide is None:
            return False
        self._watched[call.wide] = _Watch((), over=True, failed=True)
        call.key, call.wide = call.wide, None
        return True


def _picked(leaves: Sequence[Any], positions: Iterable[int]) -> Iterable[Any]:
    return (leaves[i] for i in positions)


def deciding_leaves(concrete: ConcreteFunction) -> tuple[int, ...]:
    """The Python numbers among the leaves of a trace's key that alone decide some size which its graph leaves open."""
    key, graph = concrete.key, concrete.optimised
    count = sum(1 if template is None else template.leaf_count for _, template in key.templates)
    known: _Known = {}
    for value, position in zip(graph.parameters, input_leaves(key), strict=False):
        leaf = key.leaves[position]
        if position < count and isinstance(leaf, TensorKey) and is_number(leaf.type):
            known[value] = frozenset({position})
    found: set[int] = set()
    if known and not has_recursion(graph):
        _follow(graph, known, found)
    return tuple(sorted(found))


_Known = dict[Value, frozenset[int]]


def _follow(graph: Graph, known: _Known, found: set[int]) -> None:
    """Adds the leaves that decide sizes in a graph. `known` says of its values, as far as such numbers alone make them,
    which these are."""
    for node in graph.nodes:
        _follow_into(node, known, found)
        sources = [known.get(value) for value in node.inputs]
        if node.op.name in _OF_SHAPES:
            known.update(dict.fromkeys(node.results, frozenset()))
        elif not node.regions and not node.effects & ~Effects.RAISE and None not in sources:
            known.update(dict.fromkeys(node.results, frozenset().union(*filter(None, sources))))
        sizes = [known.get(value) for value in _sizes(node)]
        if None not in sizes:
            found.update(*filter(None, sizes))


def _follow_into(node: Node, known: _Known, found: set[int]) -> None:
    """The regions of a node: captures are their last parameters."""
    for region in node.regions:
        count = len(region.parameters)
        state = node.attributes.get("state", 0) if node.op.name == "while" else 0
        captured = min(count - state, len(node.inputs) - state - (node.op.name == "cond"))
        pairs = zip(region.parameters[count - captured :], node.inputs[len(node.inputs) - captured :], strict=True)
        _follow(region, {value: known[outer] for value, outer in pairs if outer in known}, found)


def _sizes(node: Node) -> list[Value]:
    """What may decide sizes that a node leaves open and has from none of its inputs: numbers, or vectors of them."""
    if node.regions or node.op.elementwise or not any(map(_is_open, node.results)):
        return []
    if any(map(_is_open, node.inputs)) and node.op.name not in _PARTS:
        return []
    return list(node.inputs) if node.op.name in _OF_SIZES else list(filter(_may_be_size, node.inputs[1:]))


def _is_open(value: Value) -> bool:
    """Whether the graph leaves some size of it open, which no argument has either."""
    return isinstance(value.type, (TensorType, ArrayType)) and None in (value.type.shape or ())


def _may_be_size(value: Value) -> bool:
    """Whether it is an integer, or a vector of integers."""
    type_ = value.type
    return isinstance(type_, TensorType) and type_.dtype.is_integer and type_.shape is not None and len(type_.shape) < 2


__all__ = ["Settling", "deciding_leaves"]
