"""Find out after a loop whether a running extreme has changed, in place of a tag that each iteration updates.

    best = float("inf")
    for x in xs: best = min(best, x)

The number is a Python float until an element of the array takes its place, and the loop's state has a tag that says so.
A running extreme only grows, or only falls: it has changed at all if it differs after the loop from what it was before.
In machine code, a second use of an extreme's comparison costs a cycle of each iteration.

    before   graph f(%x: float64[], %go: bool[]) {
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %start = constant(value=array(float64[], 0.0), weak=False): float64[]
               %best = while(%zero, %start, %x, %go, state=2): weak int64[], float64[] {
                 graph test(%tag: weak int64[], %number: float64[], %x: float64[], %go: bool[]) {
                   return %go
                 }
                 graph body(%tag: weak int64[], %number: float64[], %x: float64[], %go: bool[]) {
                   %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                   %is_new = greater(%x, %number): bool[]
                   %next = select(%is_new, %x, %number): float64[]
                   %next_tag = select(%is_new, %one, %tag): weak int64[]
                   return %next_tag, %next
                 }
               }
               return %best:0, %best:1
             }
    after    graph f(%x: float64[], %go: bool[]) {
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %start = constant(value=array(float64[], 0.0), weak=False): float64[]
               %best = while(%zero, %start, %x, %go, state=2): weak int64[], float64[] {
                 graph test(%tag: weak int64[], %number: float64[], %x: float64[], %go: bool[]) {
                   return %go
                 }
                 graph body(%tag: weak int64[], %number: float64[], %x: float64[], %go: bool[]) {
                   %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                   %is_new = greater(%x, %number): bool[]
                   %next = select(%is_new, %x, %number): float64[]
                   %next_tag = select(%is_new, %one, %tag): weak int64[]
                   return %tag, %next
                 }
               }
               %greater = greater(%best:1, %start): bool[]
               %constant = constant(value=array(int64[], 1), weak=True): weak int64[]
               %select = select(%greater, %constant, %best:0): weak int64[]
               return %select, %best:1
             }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands, state_size
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.builder import GraphBuilder
from autoconv.optimise.common import attributes_key_of
from autoconv.optimise.constant_paths import Paths, has_arms, int_of, is_float

_MAX_PATHS = 64  # through a body, as far as they decide about the tag and the extreme
_MAX_DEPTH = 4  # of the comparison of computed numbers
_MAY_VARY = Effects.READ | Effects.WRITE | Effects.OUTPUT | Effects.RANDOM  # effects of nodes whose results may differ


def find_changed_extremes(graph: Graph, contract: str = "function") -> Graph:
    """Remove the tags of running extremes from the iterations of all loops of the graph."""
    if not any(node.op.traits.repeats and any(_candidates(node)) for node in graph.walk()):
        return graph
    return _Rewriter(graph, {}).run()


@dataclass(frozen=True, slots=True)
class _Extreme:
    """A running extreme in a loop's state: the positions of its tag and its number, and the tag once it has changed.

    `comparison` is true of its value after the loop and that before, if it has changed.
    """

    tag: int
    number: int
    changed_tag: int
    comparison: _Comparison


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A strict comparison of a number with a running extreme: the op, and whether the number is its first operand."""

    op: str
    is_number_first: bool


class _Rewriter(Rewriter[dict[Graph, set[int]]]):
    """The pass over one graph or region. `shared` has, by body of a loop, the positions of states that now stay."""

    def rewritten_output(self, position: int, value: Value) -> Value:
        """Return the parameter of a state that stays; another output as usual."""
        if position in self.shared.get(self.graph, ()):
            return self.values[self.graph.parameters[position]]
        return super().rewritten_output(position, value)

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace the tags of a loop's running extremes by tests after it."""
        extremes = [extreme for pair in _candidates(node) if (extreme := _find_extreme(node, *pair)) is not None]
        if not extremes:
            return None
        self.shared[node.regions[1]] = {extreme.tag for extreme in extremes}
        regions, types = self.rewritten_regions(node, inputs), [value.type for value in node.results]
        results = list(self.copy.add_replacement(node, node.op, inputs, node.attributes, regions, types).results)
        b = GraphBuilder(self.copy, node.span)
        for extreme in extremes:
            operands = results[extreme.number], inputs[extreme.number]
            comparison = extreme.comparison
            has_changed = getattr(b, comparison.op)(*(operands if comparison.is_number_first else operands[::-1]))
            tag = b.constant(value=np.asarray(extreme.changed_tag), weak=True)
            results[extreme.tag] = b.select(has_changed, tag, results[extreme.tag])
        return results


def _candidates(loop: Node) -> Iterator[tuple[int, int]]:
    """Iterate over the positions of tags and floats in a loop's state that may be those of a running extreme."""
    if not loop.op.traits.repeats:
        return
    states = range(state_size(loop))
    tags = [i for i in states if _changes(loop, i) and _is_tag(loop.inputs[i])]
    for number in states:
        if tags and is_float(loop.inputs[number].type) and any(_comparisons(loop, number)):
            yield from ((tag, number) for tag in tags)


def _is_tag(value: Value) -> bool:
    """Return whether a value may be a tag: a constant 0 or 1."""
    type_ = value.type
    return int_of(value) in (0, 1) and isinstance(type_, TensorType) and type_.weak and type_.dtype.name == "int64"


def _changes(loop: Node, position: int) -> bool:
    """Return whether iterations may change the state at a position."""
    return loop.regions[1].outputs[position] is not loop.regions[1].parameters[position]


def _comparisons(loop: Node, position: int) -> Iterator[tuple[Value, Value, _Comparison]]:
    """Iterate over the strict comparisons of numbers with the state at a position.

    Yields the result, the number, and the comparison.
    """
    body = loop.regions[1]
    state = body.parameters[position]
    for node in body.nodes:
        if node.op.name.removeprefix("python_") in ("greater", "less") and state in node.inputs:
            is_number_first = node.inputs[1] is state
            yield node.results[0], node.inputs[1 - is_number_first], _Comparison(node.op.name, is_number_first)


def _find_extreme(loop: Node, tag: int, number: int) -> _Extreme | None:
    """Return the running extreme with these positions, if they are those of one."""
    test, body = loop.regions
    first_tag, origins = int_of(loop.inputs[tag]), _origins(body)
    assert first_tag is not None
    outputs = [output for position, output in enumerate(body.outputs) if position != tag]
    if body.parameters[tag] in _values_in_use(body, outputs, origins):
        return None
    if test.parameters[tag] in _values_in_use(test, test.outputs, _origins(test)):
        return None
    changes = _changes_of(loop, tag, number, first_tag, origins)
    if changes is None or len(changes) != 1:
        return None
    ((changed_tag, comparison),) = changes
    later_changes = _changes_of(loop, tag, number, changed_tag, origins)
    if changed_tag == first_tag or later_changes is None or not later_changes <= changes:
        return None
    return _Extreme(tag, number, changed_tag, comparison)


def _changes_of(
    loop: Node, tag: int, number: int, tag_before: int, origins: dict[Value, Value]
) -> set[tuple[int, _Comparison]] | None:
    """Return the changes of an iteration: the tag after it, and the comparison that the new number passes.

    None if there are others than those of an extreme: on each path, either nothing changes, or the number becomes one
    that passes a comparison on that path.
    """
    body, comparisons = loop.regions[1], list(_comparisons(loop, number))
    outputs = [body.outputs[tag], body.outputs[number], *(result for result, _, _ in comparisons)]
    result = set[tuple[int, _Comparison]]()
    paths = Paths(outputs).run(body, {body.parameters[tag]: tag_before}, outputs)
    for count, (tag_after, number_after, *truths) in enumerate(paths):
        if count == _MAX_PATHS or not isinstance(tag_after, int) or not isinstance(number_after, Value):
            return None
        if _are_equal(number_after, body.parameters[number], origins):
            if tag_after != tag_before:
                return None
            continue
        passed = {
            comparison for truth, (_, other, comparison) in zip(truths, comparisons, strict=True)
            if isinstance(truth, int) and truth == 1 and _are_equal(number_after, other, origins)
        }  # fmt: skip
        if not passed:
            return None
        result |= {(tag_after, comparison) for comparison in passed}
    return result


def _origins(graph: Graph) -> dict[Value, Value]:
    """Return the values of outer regions that the parameters of the arms in a graph are."""
    result: dict[Value, Value] = {}
    for node in graph.nodes:
        if has_arms(node):
            for region in node.regions:
                result.update(zip(region.parameters, captured_operands(node), strict=True))
                result |= _origins(region)
    return result


def _origin(value: Value, origins: dict[Value, Value]) -> Value:
    while value in origins:
        value = origins[value]
    return value


def _are_equal(first: Value, second: Value, origins: dict[Value, Value], depth: int = 0) -> bool:
    """Return whether two values are sure to be equal: the same one, or the same computation of equal values."""
    first, second = _origin(first, origins), _origin(second, origins)
    if first is second:
        return True
    x, y = first.node, second.node
    if x is None or y is None or x.op is not y.op or x.regions or depth == _MAX_DEPTH or x.effects & _MAY_VARY:
        return False
    return (
        len(x.results) == len(y.results) == 1 and len(x.inputs) == len(y.inputs)
        and attributes_key_of(x) == attributes_key_of(y)
        and all(_are_equal(a, b, origins, depth + 1) for a, b in zip(x.inputs, y.inputs, strict=True))
    )  # fmt: skip


def _values_in_use(graph: Graph, outputs: Sequence[Value], origins: dict[Value, Value]) -> set[Value]:
    """Return the values on which outputs of a graph depend, and those on which an effect or an exception depends."""
    worklist, result = [*outputs, *_operands_of_effects(graph, [])], set[Value]()
    while worklist:
        value = worklist.pop()
        if value in result:
            continue
        result.add(value)
        node = value.node
        if value in origins:
            worklist.append(origins[value])
        elif node is not None and has_arms(node):
            worklist += [node.inputs[0], *(region.outputs[node.results.index(value)] for region in node.regions)]
        elif node is not None:
            worklist += node.inputs
    return result


def _operands_of_effects(graph: Graph, conditions: list[Value]) -> Iterator[Value]:
    """Iterate over the operands of nodes with effects, and the conditions under which these run."""
    for node in graph.nodes:
        if has_arms(node):
            for region in node.regions:
                yield from _operands_of_effects(region, [*conditions, node.inputs[0]])
        elif node.effects is not Effects.PURE or node.regions:
            yield from (*node.inputs, *conditions)
