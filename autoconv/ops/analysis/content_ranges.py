"""Ranges of the integers that loops keep in arrays and states: counts, tables of dynamic programs, distances.

    counts[i] += 1
    table[i, j] = min(table[i - 1, j], table[i, j - 1]) + 1

Accumulators are the arrays of one integer dtype that a graph allocates, and the states of its loops. An update of an
accumulator is a step or a reset. A step writes a number of some accumulator plus a number in the interval `steps`. A
reset writes a number in the interval `resets`. A `StepRange` holds the two intervals, None for one that does not occur.
A run has at most as many updates as the trip counts of its loops allow, and never more than `_UPDATE_LIMIT`. Therefore
the numbers in accumulators stay in one interval, and their sums need no test for overflow.

The analysis begins with all accumulators and drops those with an update of another kind, until none is left to drop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from autoconv.graph.dtypes import DType, int32, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import flow_edges, state_size
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.analysis.alias import Overlaps
from autoconv.ops.analysis.induction import trip_count_bound
from autoconv.ops.analysis.step_range import StepRange

_UPDATE_LIMIT = 1 << 53  # so many updates take 104 days, at a thousand million a second
_DEPTH_LIMIT = 64  # nodes between an accumulator and the number that an update writes
_STEP_RANGE_OF_ACCUMULATOR = StepRange(increments=(0, 0), resets=None)  # of a number that is read from an accumulator
_SIGN_OF_SUM = {"add": 1, "python_add": 1, "subtract": -1, "python_subtract": -1}
_SELECTING_OPS = frozenset({"maximum", "minimum"})
_NUMBER_KEEPING_OPS = frozenset({"broadcast_to", "cast", "identity", "python_cast", "python_int"})


def content_ranges(graph: Graph, overlaps: Overlaps, ranges: Mapping[Value, Range]) -> dict[Value, Range]:
    """Return the ranges of integers that come from accumulators; `ranges` has the known ranges of other numbers."""
    update_bound = _update_bound(graph, ranges)
    result: dict[Value, Range] = {}
    for dtype in (int32, int64):
        result |= _Accumulators(graph, overlaps, ranges, dtype, update_bound).number_ranges()
    return result


class _Accumulators:
    """The accumulators of one dtype in a graph.

    An update is a pair: the accumulators that a number may be written to, and the number, as a value of the graph, as a
    step range, or None if it is unknown.
    """

    def __init__(
        self, graph: Graph, overlaps: Overlaps, ranges: Mapping[Value, Range], dtype: DType, update_bound: int
    ) -> None:
        self._graph = graph
        self._overlaps = overlaps
        self._ranges = ranges
        self._dtype = dtype
        self._update_bound = update_bound
        # An eighth of the dtype's maximum, and at most as much for all steps together: sums of two accumulators fit.
        self._largest_reset = 1 << 8 * dtype.size - 4
        self._largest_step = self._largest_reset // update_bound - 1
        self._sources: dict[Value, list[Value | None]] = {}  # by parameter or result of a control node
        self._loop_result_of: dict[Value, Value] = {}  # by result or parameter of a loop: the result of the same state
        self._accumulators: set[Value] = set()
        self._updates: list[tuple[frozenset[Value], Value | StepRange | None]] = []
        self._step_ranges: dict[Value, StepRange | None] = {}
        for node in graph.walk():
            self._record_flow(node)
            self._record_allocation(node)
        for node in graph.walk():
            self._record_writes(node)
        self._drop_unbounded_accumulators()

    def number_ranges(self) -> dict[Value, Range]:
        """Return the ranges of the numbers of this dtype that come from accumulators."""
        updates = [update for targets, update in self._updates if targets & self._accumulators]
        step_ranges = [step_range for step_range in map(self._step_range_of_update, updates) if step_range is not None]
        joined_range = reduce(StepRange.union, step_ranges, _STEP_RANGE_OF_ACCUMULATOR)
        if joined_range.resets is None:
            return {}
        accumulator_range = joined_range.range_after(self._update_bound, joined_range.resets)
        result: dict[Value, Range] = {}
        for node in self._graph.walk():
            for value in (*node.results, *(parameter for region in node.regions for parameter in region.parameters)):
                if self._has_integers(value, scalars_only=True) and value not in self._ranges:
                    step_range = self._step_range(value)
                    if step_range is not None and step_range.increments is not None and self._is_small(step_range):
                        result[value] = step_range.range_after(1, accumulator_range)
        return result

    def _record_flow(self, node: Node) -> None:
        """Record where the values of a control node come from, and the states of a loop as accumulators."""
        for source, target in flow_edges(node):
            self._sources.setdefault(target, []).append(source)
        if not node.op.traits.repeats:
            return
        test, body = node.regions
        for position, accumulator in enumerate(node.results[: state_size(node)]):
            if not self._has_integers(accumulator):
                continue
            self._accumulators.add(accumulator)
            for value in (accumulator, test.parameters[position], body.parameters[position]):
                self._loop_result_of[value] = accumulator
            for value in (node.inputs[position], body.outputs[position]):
                self._updates.append((frozenset({accumulator}), value))

    def _record_allocation(self, node: Node) -> None:
        """Record the arrays that a node allocates as accumulators, with their initial contents as an update."""
        if not node.op.traits.allocates:
            return
        for value in node.results:
            if not isinstance(value.type, ArrayType) or value.type.dtype is not self._dtype:
                continue
            self._accumulators.add(value)
            initial_value: Value | StepRange | None = None
            if node.op.name == "array_of":
                initial_value = node.inputs[0]
            elif node.op.name == "array_new" and node.attributes["fill"] is not None:
                initial_value = _step_range_of_constant(node.attributes["fill"])
            self._updates.append((frozenset({value}), initial_value))

    def _record_writes(self, node: Node) -> None:
        """Record the updates of arrays by a node."""
        traits = node.op.traits
        arrays = [value for value in node.inputs if isinstance(value.type, ArrayType)]
        if traits.stores_into is not None:
            array, update = node.inputs[:2]
            may_be_accumulator = isinstance(array.type, ArrayType) and array.type.dtype is self._dtype
            self._updates.append((self._roots(array), update if may_be_accumulator else None))
        elif traits.allocates or traits.view or traits.control:
            return
        elif node.effects & Effects.WRITE or not all(isinstance(value.type, TensorType) for value in node.results):
            for value in arrays:
                self._updates.append((self._roots(value), None))
            if not arrays:
                self._updates.append((frozenset(self._accumulators), None))

    def _roots(self, array: Value) -> frozenset[Value]:
        """Return the base arrays of an array; all accumulators if its base arrays are unknown."""
        roots = self._overlaps.known_roots(array)
        return frozenset(self._accumulators) if roots is None else roots

    def _drop_unbounded_accumulators(self) -> None:
        """Drop accumulators with an update that is unknown or not small, until no accumulator has such an update."""
        while True:
            self._step_ranges = {}
            dropped_accumulators = set[Value]()
            for targets, update in self._updates:
                if targets & self._accumulators and not self._is_small(self._step_range_of_update(update)):
                    dropped_accumulators |= targets & self._accumulators
            if not dropped_accumulators:
                return
            self._accumulators -= dropped_accumulators

    # ---- step ranges of numbers; increments are relative to a number in any of the accumulators

    def _step_range_of_update(self, update: Value | StepRange | None) -> StepRange | None:
        """Return the step range of the number that an update writes; None if it is unknown."""
        return self._step_range(update) if isinstance(update, Value) else update

    def _step_range(self, value: Value, depth: int = 0) -> StepRange | None:
        """Return the step range of a number; None if it is unknown."""
        if value not in self._step_ranges:
            self._step_ranges[value] = None  # the answer if the value depends on itself
            self._step_ranges[value] = self._find_step_range(value, depth)
        return self._step_ranges[value]

    def _find_step_range(self, value: Value, depth: int) -> StepRange | None:
        """Return the step range of a number by its node; `depth` counts the nodes between it and the update."""
        node, type_ = value.node, value.type
        if value in self._ranges:
            return StepRange(increments=None, resets=self._ranges[value])
        if not isinstance(type_, TensorType) or depth > _DEPTH_LIMIT:
            return None
        if type_.dtype is not self._dtype:
            return self._step_range_of_other_dtype(type_.dtype)
        if value in self._loop_result_of:
            return _STEP_RANGE_OF_ACCUMULATOR if self._loop_result_of[value] in self._accumulators else None
        if value in self._sources:
            return self._step_range_of_any(self._sources[value], depth)
        if node is None:
            return None
        name, inputs = node.op.name, node.inputs
        if name == "constant":
            return _step_range_of_constant(node.attributes["value"])
        if name == "array_load":
            roots = self._overlaps.known_roots(inputs[0])
            return _STEP_RANGE_OF_ACCUMULATOR if roots is not None and roots <= self._accumulators else None
        if name in _SIGN_OF_SUM:
            first, second = (self._step_range(operand, depth + 1) for operand in inputs)
            return _sum(first, second, _SIGN_OF_SUM[name])
        # The items of a range lie between its start and its stop.
        if name in _SELECTING_OPS or (name == "range" and all(value in self._ranges for value in inputs)):
            return self._step_range_of_any(inputs, depth)
        if name == "select":
            return self._step_range_of_any(inputs[1:], depth)
        if name in _NUMBER_KEEPING_OPS or node.op.traits.view:
            return self._step_range(inputs[0], depth + 1)
        return None

    def _step_range_of_any(self, values: Sequence[Value | None], depth: int) -> StepRange | None:
        """Return the union of the step ranges of the values; None if one is unknown."""
        step_ranges = [
            None if value is None else self._step_range(value, depth + 1) for value in values if not _is_absent(value)
        ]
        known_ranges = [step_range for step_range in step_ranges if step_range is not None]
        return reduce(StepRange.union, known_ranges) if known_ranges and len(known_ranges) == len(step_ranges) else None

    def _step_range_of_other_dtype(self, dtype: DType) -> StepRange | None:
        """Return the step range of a bool or a narrower integer: resets in its dtype's range; None for others."""
        if dtype.is_bool:
            return StepRange(increments=None, resets=(0, 1))
        is_narrow = dtype.is_integer and dtype.size < self._dtype.size
        return StepRange(increments=None, resets=(int(dtype.min), int(dtype.max))) if is_narrow else None

    def _has_integers(self, value: Value, scalars_only: bool = False) -> bool:
        """Return whether the value is a tensor of the accumulators' dtype, and without dimensions if `scalars_only`."""
        type_ = value.type
        return isinstance(type_, TensorType) and type_.dtype is self._dtype and not (scalars_only and type_.shape != ())

    def _is_small(self, step_range: StepRange | None) -> bool:
        """Return whether increments and resets are so small that numbers stay within the dtype; False for None."""
        if step_range is None:
            return False
        increments, resets = step_range.increments or (0, 0), step_range.resets or (0, 0)
        return max(map(abs, increments)) <= self._largest_step and max(map(abs, resets)) <= self._largest_reset


def _update_bound(graph: Graph, ranges: Mapping[Value, Range]) -> int:
    """Return a bound of the number of updates in a run: stores, allocations, and new states of loops."""
    count = 1
    for node in graph.nodes:
        trip_count = trip_count_bound(node, ranges) if node.op.traits.repeats else 1
        runs_unknown_regions = bool(node.regions) and (is_recursive(node) or not node.op.traits.control)
        if trip_count is None or runs_unknown_regions:
            return _UPDATE_LIMIT
        inner_count = sum(_update_bound(region, ranges) + state_size(node) for region in node.regions)
        count += 1 + trip_count * inner_count
    return min(count, _UPDATE_LIMIT)


def _is_absent(value: Value | None) -> bool:
    """Return whether the value is a result of the op `absent`, which nothing reads."""
    return value is not None and value.node is not None and value.node.op.name == "absent"


def _step_range_of_constant(number: object) -> StepRange | None:
    """Return the step range of constant integers: resets in their range; None for other numbers."""
    array = np.asarray(number)
    if array.dtype.kind not in "biu" or not array.size:
        return None
    return StepRange(increments=None, resets=(int(array.min()), int(array.max())))


def _sum(x: StepRange | None, y: StepRange | None, sign: int) -> StepRange | None:
    """Return the step range of x + sign·y; None if both operands come from accumulators, or if -y does."""
    if x is None or y is None:
        return None
    if y.increments is not None:
        if x.increments is not None or sign < 0:
            return None
        x, y = y, x
    assert y.resets is not None
    low, high = y.resets if sign > 0 else (-y.resets[1], -y.resets[0])
    return StepRange(
        None if x.increments is None else (x.increments[0] + low, x.increments[1] + high),
        None if x.resets is None else (x.resets[0] + low, x.resets[1] + high),
    )
