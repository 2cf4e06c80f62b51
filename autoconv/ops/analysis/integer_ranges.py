"""Ranges of the integers of a graph, by interval analysis with widening (Cousot and Cousot, 1977).

Loops are analysed to a fixed point. In an arm or a loop body, the condition narrows the ranges of the numbers that it
compares. The ranges of `integer_ranges` hold in every run, so that code may omit checks. `optimise/overflow` finds the
ints that may exceed 64 bits; it assumes that no run is long enough for a counter to exceed them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import numpy as np

from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.ops.analysis.value_range import (
    BOOL_RANGE,
    SIZE_RANGE,
    Ranges,
    cast_range,
    comparison_range,
    implied_ranges,
    intersection,
    is_within_int64,
    join_ranges,
    limits_of_dtype,
    result_range,
    union,
)

_MAX_VISITS = 12  # visits of a loop's body before state that still grows counts as unknown
_EXACT_VISITS = 2  # visits before growing bounds are widened to the next of `_BOUNDS`
_POWERS = [1 << bits for bits in (0, 1, 2, 4, 8, 16, 24, 32, 48, 62)]
_BOUNDS = sorted({sign * (power - offset) for power in _POWERS for offset in (0, 1) for sign in (1, -1)})
# No feasible run reaches these bounds by steps of at most `_SLOW_STEP` an iteration.
_SLOW_GROWTH_RANGE: Range = (-(1 << 61), 1 << 61)
_SLOW_STEP = 1 << 10
_MAX_ASSUMED_COMPARISONS = 6  # the most comparisons of a loop's test that are tried as required ones
_FALSE: Range = (0, 0)
_TRUE: Range = (1, 1)
# The result of these ops is the integer itself, or its truth.
_CASTS = frozenset({"cast", "identity", "python_bool", "python_cast"})


def integer_ranges(graph: Graph, parameter_ranges: Mapping[Value, Range] = {}) -> dict[Value, Range]:
    """Return the ranges of the integers and bools without dimensions in a graph and its regions.

    Values of regions that several nodes share, and those bounded by their dtype alone, are left out. The arguments are
    in `parameter_ranges`, or unknown.

    Example:
        >>> import autoconv
        >>> @autoconv.compile
        ... def last(n: int) -> int:
        ...     digit = 1
        ...     while n > 0:
        ...         digit, n = (digit * 7) % 10, n - 1
        ...     return digit
        >>> last(5)
        7
        >>> graph = last.get_concrete_function(5).optimised
        >>> (0, 9) in integer_ranges(graph).values()
        True
    """
    analysis = RangeAnalysis()
    analysis.run(graph, parameter_ranges)
    return analysis.ranges()


class _LoopVisit(NamedTuple):
    """The ranges of a loop's operands, and the ranges of its state that were found for them."""

    operands: Ranges
    state: Ranges


class RangeAnalysis:
    """An interval analysis that reports the nodes which a run may reach.

    `report` is called for these nodes in the order of a run: for a region that several nodes share, once for each of
    them. At these calls the ranges of the inputs, by `of`, are at their fixed point. With `assumes_slow_growth`, a
    number that grows by a small step in each iteration is assumed to stay within `_SLOW_GROWTH_RANGE`.
    """

    def __init__(self, report: Callable[[Node], None] | None = None, *, assumes_slow_growth: bool = False) -> None:
        self._report = report
        self._assumes_slow_growth = assumes_slow_growth
        self._visited_regions: set[Graph] = set()  # of ops other than cond, while and plain calls
        self._known_ranges: dict[Value, Range] = {}
        self._absent_values: set[Value] = set()  # results of the op `absent`, which nothing reads
        self._last_visits: dict[Node, _LoopVisit] = {}
        self._assumed_ranges: dict[Value, Range] = {}  # of a comparison, while it is assumed to be false
        self._required_by_loop: dict[Node, list[Value]] = {}  # see `_required_comparisons`
        self._limits = cache(_limits)
        self._owner_of_region: dict[Graph, Node] = {}
        self._shared_regions: set[Graph] = set()  # regions of several nodes
        self._operand_of: dict[Value, Value] = {}  # by parameter of an arm: the operand of `cond` that it receives

    def ranges(self) -> dict[Value, Range]:
        """Return the ranges that hold in every run, without shared regions and without mere limits of dtypes."""
        for graph in self._shared_regions:
            for value in (*graph.parameters, *(value for node in graph.walk() for value in node.results)):
                self._known_ranges.pop(value, None)
            for node in graph.walk():
                for region in node.regions:
                    for value in region.parameters:
                        self._known_ranges.pop(value, None)
        return {value: range_ for value, range_ in self._known_ranges.items() if range_ != _limits(value)}

    def of(self, value: Value) -> Range | None:
        """Return the range of a value; None for one that is no integer without dimensions."""
        known_range = self._known_ranges.get(value)
        return self._limits(value) if known_range is None else known_range

    def run(self, graph: Graph, parameter_ranges: Mapping[Value, Range] = {}) -> None:
        """Analyse a graph whose arguments are in `parameter_ranges`, or unknown."""
        self._visit(graph, [parameter_ranges.get(value) for value in graph.parameters])

    def _visit(self, graph: Graph, parameter_ranges: Sequence[Range | None], owner: Node | None = None) -> Ranges:
        """Visit the nodes of a graph, or of a region of `owner`, and return the ranges of the outputs."""
        if owner is not None and self._owner_of_region.setdefault(graph, owner) is not owner:
            self._shared_regions.add(graph)
        for value, range_ in zip(graph.parameters, parameter_ranges, strict=True):
            self._set_range(value, range_)
        for node in graph.nodes:
            self._visit_node(node)
        return [self.of(value) for value in graph.outputs]

    def _set_range(self, value: Value, range_: Range | None) -> None:
        """Record the range of a value (None: unknown), or the range assumed for it, within the limits of its dtype."""
        limits = self._limits(value)
        if limits is None:
            return
        assumed_range = self._assumed_ranges.get(value)
        if assumed_range is not None:
            range_ = assumed_range
        narrowed_range = limits if range_ is None else intersection(range_, limits)
        self._known_ranges[value] = limits if narrowed_range is None else narrowed_range

    @contextmanager
    def _suppress_reports(self) -> Iterator[None]:
        """Suspend reports: for states that are no fixed point, and for regions that are never entered."""
        report, self._report = self._report, None
        try:
            yield
        finally:
            self._report = report

    def _visit_node(self, node: Node) -> None:
        """Report a node, and find the ranges of its results and of the values in its regions."""
        name = node.op.name
        if self._report is not None:
            self._report(node)
        if name == "constant":
            array = np.asarray(node.attributes["value"])
            is_integer_scalar = array.shape == () and array.dtype.kind in "biu"
            self._set_range(node.results[0], (int(array), int(array)) if is_integer_scalar else None)
        elif name == "absent":
            self._absent_values.update(node.results)
            self._set_range(node.results[0], range_=None)
        elif name == "cond":
            self._visit_cond(node)
        elif name == "while":
            self._visit_loop(node)
        elif name == "call" and not is_recursive(node):
            output_ranges = self._visit(node.regions[0], [self.of(value) for value in node.inputs], node)
            for value, range_ in zip(node.results, output_ranges, strict=True):
                self._set_range(value, range_)
        elif node.regions:
            for region in node.regions:
                if not is_recursive(node) or region not in self._visited_regions:
                    self._visited_regions.add(region)
                    self._visit(region, [None] * len(region.parameters), node)
            for value in node.results:
                self._set_range(value, range_=None)
        else:
            for value in node.results:
                self._set_range(value, self._result_range(node, value))

    def _result_range(self, node: Node, value: Value) -> Range | None:
        """Return the range of a result of a node without regions; None if it is unknown."""
        limits = self._limits(value)
        if limits is None:
            return None
        if reads_only_shapes(node) and value.type.weak:  # type: ignore[union-attr]
            return intersection(SIZE_RANGE, limits)
        operand_ranges = [self.of(operand) for operand in node.inputs]
        if node.op.name == "select" and operand_ranges[0] is not None:
            is_true, is_false = intersection(operand_ranges[0], _TRUE), intersection(operand_ranges[0], _FALSE)
            return union([operand_ranges[1] if is_true else None, operand_ranges[2] if is_false else None])
        known_ranges = [range_ for range_ in operand_ranges if range_ is not None]
        if len(known_ranges) < len(operand_ranges):
            return None
        result = comparison_range(node.op.name, known_ranges) or result_range(node.op.name, known_ranges)
        if result is None and node.op.name in _CASTS:
            result = cast_range(known_ranges[0], limits)
        may_overflow = result is None or not is_within_int64(result) or cast_range(result, limits) is None
        return None if may_overflow else result

    def _visit_cond(self, node: Node) -> None:
        """Find the ranges of the results and of the values in each arm, in which the condition's truth is known."""
        index_range = self.of(node.inputs[0])
        is_bool = _limits(node.inputs[0]) == BOOL_RANGE
        ranges_of_arms: list[Ranges] = []
        outputs_of_arms: list[list[Value]] = []
        for position, region in enumerate(node.regions):
            self._operand_of.update(zip(region.parameters, node.inputs[1:], strict=True))
            index_value = 1 - position if is_bool else position  # the first arm is that of True
            operand_ranges = [self.of(value) for value in node.inputs[1:]]
            refined_ranges: Ranges | None = operand_ranges
            if is_bool and len(node.regions) == 2:
                may_be_taken = index_range is not None and index_range[0] <= index_value <= index_range[1]
                facts = self._implied_facts(node.inputs[0], index_value == 1)
                refined_ranges = _refine(node.inputs[1:], operand_ranges, facts) if may_be_taken else None
            if refined_ranges is None:  # the arm is never taken
                with self._suppress_reports():
                    self._visit(region, [None] * len(operand_ranges), node)
                continue
            ranges_of_arms.append(self._visit(region, refined_ranges, node))
            outputs_of_arms.append(region.outputs)
        for position, value in enumerate(node.results):
            reachable_ranges = [
                ranges_of_arm[position]
                for ranges_of_arm, outputs in zip(ranges_of_arms, outputs_of_arms, strict=True)
                if outputs[position] not in self._absent_values
            ]
            self._set_range(value, union(reachable_ranges) if None not in reachable_ranges else None)

    def _visit_loop(self, node: Node) -> None:
        """Find the ranges of the results: those of the state at the beginning of any iteration."""
        operands = [self.of(value) for value in node.inputs]
        last_visit = self._last_visits.get(node)
        if last_visit is not None and last_visit.operands == operands and not self._assumed_ranges:
            state = last_visit.state
        else:
            with self._suppress_reports():
                state = self._find_state(node, operands, last_visit)
            if not self._assumed_ranges:
                self._last_visits[node] = _LoopVisit(operands, state)
        if self._report is not None:
            self._run_iteration(node, state, operands[len(state) :])
        for value, range_ in zip(node.results, state, strict=True):
            self._set_range(value, range_)

    def _find_state(self, node: Node, operands: Ranges, last_visit: _LoopVisit | None) -> Ranges:
        """Return the ranges of a loop's state; the first guess includes those of the last visit, if there is one.

        In the first iterations, growing bounds are exact, then they are widened in steps, at last to their limits.
        """
        state_count = state_size(node)
        body = node.regions[1]
        initial_state, captures = operands[:state_count], operands[state_count:]
        state = list(initial_state) if last_visit is None else join_ranges(initial_state, last_visit.state)
        limits: Ranges = [_limits(value) for value in body.parameters[:state_count]]
        for visit_number in range(_MAX_VISITS + 2):  # bounds may be at their limits after the last visits
            state_after = self._run_iteration(node, state, captures)
            if self._assumes_slow_growth:
                state_after = list(map(_without_slow_growth, state, state_after))
            joined_state = join_ranges(state, state_after)
            if joined_state == state:  # the bounds hold; one more iteration narrows bounds that were widened too far
                state = join_ranges(initial_state, state_after)
                if state != joined_state:
                    self._run_iteration(node, state, captures)
                return state
            if visit_number < _EXACT_VISITS:
                state = joined_state
            elif visit_number < _MAX_VISITS - 1:
                state = [_widen(*pair, _BOUNDS) for pair in zip(state, joined_state, strict=True)]
            elif visit_number == _MAX_VISITS - 1 and self._assumes_slow_growth:
                state = [_widen(*pair, _SLOW_GROWTH_RANGE) for pair in zip(state, joined_state, strict=True)]
            else:
                state = [  # ranges that still grow are those of their dtypes
                    old if old == new else limit for old, new, limit in zip(state, joined_state, limits, strict=True)
                ]
        self._run_iteration(node, limits, captures)
        return limits

    def _run_iteration(self, node: Node, state: Ranges, captures: Ranges) -> Ranges:
        """Return the ranges of the state after an iteration that begins with `state`."""
        test, body = node.regions
        parameter_ranges = [*state, *captures]
        test_result = test.outputs[0]
        with self._suppress_reports():
            required_comparisons = self._required_comparisons(node)
        test_ranges = self._visit(test, parameter_ranges, node)
        if test_ranges[0] != _FALSE:
            refined_ranges: Ranges | None = parameter_ranges
            for condition in (*required_comparisons, test_result):
                refined_ranges = None if refined_ranges is None else _refine(
                    test.parameters, refined_ranges, self._implied_facts(condition, holds=True)
                )
            if refined_ranges is not None:
                return self._visit(body, refined_ranges, node)
        with self._suppress_reports():
            self._visit(body, [None] * len(body.parameters), node)  # never entered, so any ranges hold
        return list(state)

    def _required_comparisons(self, node: Node) -> list[Value]:
        """Return the comparisons that have to hold for a loop's test to hold: both in `x < y and y < z`.

        They follow from the form of the test alone, so they are found once for each loop.
        """
        if self._assumed_ranges:
            return []
        required = self._required_by_loop.get(node)
        if required is None:
            required = self._required_by_loop[node] = self._find_required_comparisons(node)
        return required

    def _find_required_comparisons(self, node: Node) -> list[Value]:
        """Return the comparisons that make the test of a loop false if they are assumed to be false."""
        test = node.regions[0]
        test_result = test.outputs[0]
        if all(inner.op.name == "constant" or test_result in inner.results for inner in test.nodes):
            return []  # the test is a single node
        unknown: Ranges = [None] * len(test.parameters)
        comparisons = [  # the results of ops for which `comparison_range` has a rule, whatever the operands are
            inner.results[0] for inner in test.walk() if comparison_range(inner.op.name, [_FALSE] * len(inner.inputs))
        ]
        required = []
        for value in comparisons[:_MAX_ASSUMED_COMPARISONS]:
            if value is not test_result:
                self._assumed_ranges = {value: _FALSE}
                if self._visit(test, unknown, node)[0] == _FALSE:
                    required.append(value)
                self._assumed_ranges = {}
        return required

    def _implied_facts(self, condition: Value, holds: bool) -> dict[Value, Range]:
        """Return the ranges that follow from the condition's truth, `holds`.

        These are the ranges of the condition, of its operands if it is a comparison, and of equal outer values.
        """
        facts: dict[Value, Range] = {condition: _TRUE if holds else _FALSE}
        node = condition.node
        operand_ranges = [] if node is None else [self.of(value) for value in node.inputs]
        if node is not None and None not in operand_ranges:
            implied = implied_ranges(
                node.op.name, [operand_range for operand_range in operand_ranges if operand_range is not None], holds
            )
            if implied is not None:
                facts.update(zip(node.inputs, implied, strict=True))
        for value, range_ in list(facts.items()):
            while value in self._operand_of:
                value = self._operand_of[value]
                facts[value] = range_
        return facts


def _limits(value: Value) -> Range | None:
    """Return the range of the dtype of an integer without dimensions; None for other values."""
    type_ = value.type
    return limits_of_dtype(type_.dtype) if isinstance(type_, TensorType) and type_.shape == () else None


def _widen(before: Range | None, after: Range | None, bounds: Sequence[int]) -> Range | None:
    """Return the range `after`; each bound that exceeds that of `before` is moved on to the next of `bounds`."""
    if before is None or after is None:
        return None
    low, high = after
    if low < before[0]:
        position = bisect_right(bounds, low)
        low = bounds[position - 1] if position else -(1 << 63)  # the minimum of int64
    if high > before[1]:
        position = bisect_left(bounds, high)
        high = bounds[position] if position < len(bounds) else (1 << 64) - 1  # the maximum of uint64
    return low, high


def _without_slow_growth(before: Range | None, after: Range | None) -> Range | None:
    """Return the range `after` an iteration, without small growth beyond the bounds of `_SLOW_GROWTH_RANGE`."""
    if before is None or after is None:
        return after
    low, high = after
    if before[0] == _SLOW_GROWTH_RANGE[0] > low >= before[0] - _SLOW_STEP:
        low = before[0]
    if before[1] == _SLOW_GROWTH_RANGE[1] < high <= before[1] + _SLOW_STEP:
        high = before[1]
    return low, high


def _refine(values: Sequence[Value], ranges: Ranges, facts: dict[Value, Range]) -> Ranges | None:
    """Return the ranges of the values, narrowed by the facts; None if one is empty, so that no run has such values."""
    result: Ranges = []
    for value, range_ in zip(values, ranges, strict=True):
        fact = facts.get(value)
        if fact is not None and range_ is not None:
            range_ = intersection(range_, fact)
            if range_ is None:
                return None
        result.append(range_)
    return result
