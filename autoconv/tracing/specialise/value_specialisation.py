"""Specialisation by Python numbers that decide sizes and stay the same from call to call.

If a program creates arrays of `n` numbers, or slices the first `n`, a graph for all `n` runs some ops by kernels, as
their sizes are unknown. After a few calls with the same `n`, a second trace is made for that value, so its sizes are
known. Calls with other values use the first trace as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, has_recursion
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.recording import parameter_positions
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import Key, Literal, TensorKey, is_number
from autoconv.tracing.key.call import Call
from autoconv.tracing.specialise.trace_cache import MAX_KEYS

_MIN_EQUAL_CALLS = 6  # calls with the same numbers, before they get a trace of their own
_SLICING_OPS = frozenset({"get_item", "array_view"})  # ops whose first input is sliced, by the bounds in the others
_OPS_OF_SIZES = frozenset({"range", "array_new"})  # ops whose inputs all decide sizes; of other ops the first does not


@dataclass(slots=True)
class _Observation:
    """The numbers that decide sizes in the calls of one trace."""

    positions: tuple[int, ...]  # the positions of the numbers among the leaves
    values: tuple[Any, ...] = ()  # the numbers in the latest calls, as `Literal`
    equal_calls: int = 0  # number of recorded calls, all of which had these values
    is_over: bool = False  # True if the values changed, or no leaf decides sizes
    has_failed: bool = False  # True if a trace for the values failed


class ValueSpecialisation:
    """Observations, by key of a trace, whether the Python numbers that decide its open sizes stay the same."""

    def __init__(self) -> None:
        self._observations: BoundedDict[Key, _Observation] = BoundedDict(MAX_KEYS)

    def observe_call(self, concrete: ConcreteFunction, leaves: Sequence[Any]) -> bool:
        """Record a call of a trace; return whether its numbers stayed the same, so that later calls are recorded."""
        observation = self._observations.get(concrete.key)
        if observation is None:
            positions = find_deciding_leaves(concrete) if concrete.fallback_kernel_calls else ()
            observation = self._observations[concrete.key] = _Observation(positions, is_over=not positions)
        if observation.is_over:
            return False
        values = _literals(leaves, observation.positions)
        are_numbers = all(type(literal.value) in (int, float, bool) for literal in values)
        if not are_numbers or (observation.equal_calls and values != observation.values):
            observation.is_over = True
            return False
        observation.values, observation.equal_calls = values, observation.equal_calls + 1
        return True

    def specialise_call(self, call: Call) -> None:
        """Make numbers that stayed the same for `_MIN_EQUAL_CALLS` calls part of the call's key."""
        observation = self._observations.get(call.key)
        if observation is None or observation.equal_calls < _MIN_EQUAL_CALLS or observation.has_failed:
            return
        if _literals(call.leaves, observation.positions) != observation.values:
            return
        leaf_keys = list(call.key.leaves)
        texts = []
        for position, literal in zip(observation.positions, observation.values, strict=True):
            leaf_keys[position] = literal
            texts.append(f"{call.names[position]} is {literal.value!r}")
        call.trace_reason = call.trace_reason or f"{', '.join(texts)} again, and sizes depend on it"
        call.general_key, call.key = call.key, replace(call.key, leaves=tuple(leaf_keys))

    def generalise_call(self, call: Call) -> bool:
        """Return whether the failed trace was for constant numbers; if so, give the call the key for all numbers."""
        if call.general_key is None:
            return False
        self._observations[call.general_key] = _Observation((), is_over=True, has_failed=True)
        call.key, call.general_key = call.general_key, None
        return True


def _literals(leaves: Sequence[Any], positions: Iterable[int]) -> tuple[Literal, ...]:
    """Return the leaves at these positions as literals, which compare as keys do."""
    return tuple(Literal(leaves[i]) for i in positions)


def find_deciding_leaves(concrete: ConcreteFunction) -> tuple[int, ...]:
    """Return the positions of the leaves that are Python numbers and that, alone, decide an open size of the graph."""
    key, graph = concrete.key, concrete.optimised
    leaves_by_value: _LeavesByValue = {}
    for value, position in zip(graph.parameters, parameter_positions(key), strict=False):
        leaf = key.leaves[position]
        if position < key.template_leaf_count and isinstance(leaf, TensorKey) and is_number(leaf.type):
            leaves_by_value[value] = frozenset({position})
    deciding_positions: set[int] = set()
    if leaves_by_value and not has_recursion(graph):
        _collect_deciding_leaves(graph, leaves_by_value, deciding_positions)
    return tuple(sorted(deciding_positions))


_LeavesByValue = dict[Value, frozenset[int]]


def _collect_deciding_leaves(graph: Graph, leaves_by_value: _LeavesByValue, deciding_positions: set[int]) -> None:
    """Add the positions of the leaves that decide sizes in a graph, by a forward analysis.

    `leaves_by_value` has the values that are computed only from arguments that are Python numbers. It maps each to the
    positions of these arguments.
    """
    for node in graph.nodes:
        _visit_regions(node, leaves_by_value, deciding_positions)
        sources = [leaves_by_value.get(value) for value in node.inputs]
        if reads_only_shapes(node):
            leaves_by_value.update(dict.fromkeys(node.results, frozenset()))
        elif not node.regions and not node.effects & ~Effects.RAISE and None not in sources:
            leaves_by_value.update(dict.fromkeys(node.results, frozenset().union(*filter(None, sources))))
        sizes = [leaves_by_value.get(value) for value in find_size_operands(node)]
        if None not in sizes:
            deciding_positions.update(*filter(None, sizes))


def _visit_regions(node: Node, leaves_by_value: _LeavesByValue, deciding_positions: set[int]) -> None:
    """Continue the analysis in the regions of a node, whose last parameters are its captures."""
    for region in node.regions:
        parameter_count = len(region.parameters)
        state_count, selector_count = state_size(node), int(node.op.traits.selects)
        # A region may have parameters of its own, and a node inputs that it does not pass to the region.
        capture_count = min(parameter_count - state_count, len(node.inputs) - state_count - selector_count)
        captures = node.inputs[len(node.inputs) - capture_count :]
        pairs = zip(region.parameters[parameter_count - capture_count :], captures, strict=True)
        inner_leaves = {value: leaves_by_value[outer] for value, outer in pairs if outer in leaves_by_value}
        _collect_deciding_leaves(region, inner_leaves, deciding_positions)


def find_size_operands(node: Node) -> list[Value]:
    """Return the inputs that may decide an open size of the node's results: numbers, or vectors of numbers.

    There are none where the open size may come from another input's shape.
    """
    if node.regions or node.op.traits.elementwise or not any(map(has_unknown_size, node.results)):
        return []
    if any(map(has_unknown_size, node.inputs)) and node.op.name not in _SLICING_OPS:
        return []
    return list(node.inputs) if node.op.name in _OPS_OF_SIZES else list(filter(_may_be_size, node.inputs[1:]))


def has_unknown_size(value: Value) -> bool:
    """Return whether a size of the value is unknown (None); sizes of arguments that are open are symbols instead."""
    return isinstance(value.type, (TensorType, ArrayType)) and None in (value.type.shape or ())


def _may_be_size(value: Value) -> bool:
    """Return whether the value is an integer, or a vector of integers."""
    type_ = value.type
    return isinstance(type_, TensorType) and type_.dtype.is_integer and type_.shape is not None and len(type_.shape) < 2
