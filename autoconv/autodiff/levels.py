"""Levels: a graph that runs forward, and beside it the graph that runs back and reads what the first one kept.

A gradient rule is given the values of the forward graph; only those that it hands to an op of the backward graph are
brought over (`resolve`), so that only what a gradient reads is kept. How it is kept is the level's:

- at the root both graphs may be one, then nothing has to be done (`Root`), or the value leaves the one and enters the
  other (`SplitRoot`);
- in an arm, a loop's body or the end of a try, what came in from outside is read from outside, and what was computed
  goes onto a stack: a tensor list of its own, which runs through all regions around and is popped on the way back
  (`Region`). Nested loops so share one flat stack a value, and an arm that was not taken leaves nothing there;
- the graph of a call, which runs as often as what is around it, gives the value out as one more result (`Inner`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.autodiff.cotangents import Cotangents, is_static
from autoconv.autodiff.dependence import Heap
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, copy_node, node_effects
from autoconv.graph.types import ListType, ResourceType, TensorType, Type
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import OPS, Op


class Level:
    """`forward` is what runs first, `builder` records what runs back; `cotangents` are those found so far."""

    def __init__(self, forward: Graph, backward: Graph, around: Level | None = None) -> None:
        self.heap = Heap()
        self.recompute_every: int | None = None
        # Of functions that call themselves: their ways back, and what they are without variables (see recursion.py).
        self.recursions: dict[Any, Graph] = {}
        self.by_value: dict[Graph, Graph] = {}
        if around is not None:
            self.share(around)
        self.forward = forward
        self.builder = ReverseBuilder(self, backward)
        self.cotangents: Cotangents = {}
        self._resolved: dict[Value, Value] = {}
        self._outlines: dict[Value, Value] = {}

    def share(self, level: Level) -> None:
        """Has in common with another level what is found once for a whole differentiation."""
        self.heap, self.recompute_every = level.heap, level.recompute_every
        self.recursions, self.by_value = level.recursions, level.by_value

    @property
    def backward(self) -> Graph:
        return self.builder.graph

    def resolve(self, value: Value) -> Value:
        """What stands in the backward graph for a value of the forward graph."""
        if value.graph is self.backward:
            return value
        found = self._resolved.get(value)
        if found is None:
            found = self._resolved[value] = self._bring(value)
        return found

    def resolve_outline(self, value: Value) -> Value:
        """As `resolve`, for those who read the shape alone: what is kept is an array of that shape without elements."""
        if self.has(value) or isinstance(value.type, ResourceType):
            return self.resolve(value)
        found = self._outlines.get(value)
        if found is None:
            node = self.forward.add(OPS["outline"], [value])
            found = self._outlines[value] = self.resolve(node.results[0])
        return found

    def resolve_result(self, op: Op, value: Value, attributes: Mapping[str, Any]) -> Value:
        """As `resolve`, of what an op makes of the value when it is computed on the way forward."""
        return self.resolve(self.forward.add(op, [value], attributes).results[0])

    def has(self, value: Value) -> bool:
        """Whether the value is there in the backward graph, or comes over without being kept."""
        return value.graph is self.backward or value in self._resolved or self._is_free(value)

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        """A stack that `node`, which has regions, is going to push on: `entry` is what it starts from."""
        raise NotImplementedError

    def close_stack(self, stack: Stack, after: Value) -> None:
        """Says what the stack is after the node; then `top` is what the way back finds."""
        raise NotImplementedError

    def _is_free(self, value: Value) -> bool:
        """Whether bringing the value over keeps nothing."""
        return value.node is not None and value.node.op.name == "constant"

    def _bring(self, value: Value) -> Value:
        if value.node is not None and value.node.op.name == "constant":
            return copy_node(self.backward, value.node, ()).results[0]
        return self._keep(value)

    def _keep(self, value: Value) -> Value:
        raise NotImplementedError


@dataclass(eq=False)
class Stack:
    """One kept value of a region: forward from `entry` to `exit`, back from `top` to `rest`."""

    type: ListType
    entry: Value
    exit: Value | None = None
    top: Value | None = None
    rest: Value | None = None


class Root(Level):
    """Forward and backward are one graph, or `bring` brings values over."""

    def __init__(self, forward: Graph, backward: Graph, bring: Callable[[Value], Value] | None = None) -> None:
        super().__init__(forward, backward)
        self._brought = bring

    def _bring(self, value: Value) -> Value:
        assert self._brought is not None, f"{value} is of another graph"
        return self._brought(value)

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        return Stack(type_, empty_stack(GraphBuilder(self.forward), type_))

    def close_stack(self, stack: Stack, after: Value) -> None:
        stack.exit, stack.top = after, self.resolve(after)


class SplitRoot(Root):
    """The backward graph is one of its own: what it reads are results of the forward graph."""

    def __init__(self, forward: Graph, backward: Graph) -> None:
        super().__init__(forward, backward)
        self.kept: list[Value] = []

    def _bring(self, value: Value) -> Value:
        return Level._bring(self, value)

    def _keep(self, value: Value) -> Value:
        self.kept.append(value)
        return self.backward.add_parameter(value.type, "kept")


class Region(Level):
    """The graph of an arm, a loop's body, or the end of a try.

    `outer` maps its parameters to what they are for values of the level around; `captures` collects those that the way
    back reads, with their parameters in the backward graph. With `repeats` (a loop), pure nodes that depend on these
    alone are computed again rather than kept, as are parts of them. `counters` are parameters that the number of the
    iteration gives, with what says so in the backward graph: numbers that depend on them are computed again, too.
    """

    def __init__(self, parent: Level, forward: Graph, outer: Mapping[Value, Value], repeats: bool = False) -> None:
        super().__init__(forward, Graph(f"{forward.name}_back"), parent)
        self.parent = parent
        self.outer = dict(outer)
        self.captures: dict[Value, Value] = {}
        self.stacks: list[Stack] = []
        self.counters: dict[Value, Callable[[], Value]] = {}
        self._repeats = repeats
        self._invariant: dict[Value, bool] = {}
        self._counted: dict[Value, bool] = {}

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        stack = Stack(type_, self.forward.add_parameter(type_, "stack"))
        self.stacks.append(stack)
        return stack

    def close_stack(self, stack: Stack, after: Value) -> None:
        stack.exit, stack.top = after, self.backward.add_parameter(stack.type, "stack")

    def _is_free(self, value: Value) -> bool:
        return value in self.outer or super()._is_free(value) or (self._repeats and self._is_known(value))

    def _bring(self, value: Value) -> Value:
        if value in self.outer:
            return self.capture(self.outer[value])
        if value in self.counters:
            return self.counters[value]()
        if self._repeats and value.node is not None and (self._is_known(value) or self._is_part(value)):
            inputs = [self.resolve(v) for v in value.node.inputs]
            return copy_node(self.backward, value.node, inputs).results[value.index]
        return super()._bring(value)

    def capture(self, outer: Value) -> Value:
        found = self.captures.get(outer)
        if found is None:
            found = self.captures[outer] = self.backward.add_parameter(outer.type, outer.name)
        return found

    def _is_invariant(self, value: Value) -> bool:
        found = self._invariant.get(value)
        if found is None:
            node = value.node
            found = value in self.outer or (
                node is not None
                and node.effects is Effects.PURE
                and not node.regions
                and all(map(self._is_invariant, node.inputs))
            )
            self._invariant[value] = found
        return found

    def _is_counted(self, value: Value) -> bool:
        """Whether it is a number that depends on counters and invariants alone."""
        found = self._counted.get(value)
        if found is None:
            node = value.node
            found = value in self.counters or (
                node is not None
                and node.effects is Effects.PURE
                and not node.regions
                and all(isinstance(v.type, TensorType) and v.type.shape == () for v in (value, *node.inputs))
                and all(map(self._is_known, node.inputs))
            )
            self._counted[value] = found
        return found

    def _is_known(self, value: Value) -> bool:
        return self._is_invariant(value) or self._is_counted(value)

    def _is_part(self, value: Value) -> bool:
        """Whether it is cut out of an invariant at places that are numbers: those are kept, and it is cut out again."""
        node = value.node
        if node is None or node.op.name != "get_item" or not self._is_invariant(node.inputs[0]):
            return False
        return all(isinstance(place.type, TensorType) and place.type.shape == () for place in node.inputs[1:])

    def _keep(self, value: Value) -> Value:
        type_ = ListType(value.type)
        entry = self.forward.add_parameter(type_, "stack")
        pushed = GraphBuilder(self.forward).list_push(entry, value)
        top = self.backward.add_parameter(type_, "stack")
        rest, found = self.builder.list_pop(top)
        self.stacks.append(Stack(type_, entry, pushed, top, rest))
        return found  # type: ignore[no-any-return]


class Inner(Level):
    """A graph that runs once with each run of the level around it; `give_out` makes a value one of that level.

    It shares the backward graph of that level, or has one of its own: then `captures` are what it reads.
    """

    def __init__(
        self, around: Level, forward: Graph, outer: Mapping[Value, Value], give_out: Callable[[Value], Value],
        backward: Graph | None = None,
    ) -> None:  # fmt: skip
        super().__init__(forward, around.backward if backward is None else backward, around)
        self.around = around
        self.outer = dict(outer)
        self.captures: dict[Value, Value] = {}
        self._give_out = give_out

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        return Stack(type_, empty_stack(GraphBuilder(self.forward), type_))

    def close_stack(self, stack: Stack, after: Value) -> None:
        stack.exit, stack.top = after, self.resolve(after)

    def _keep(self, value: Value) -> Value:
        outer = self.outer[value] if value in self.outer else self._give_out(value)
        if self.backward is self.around.backward:
            return self.around.resolve(outer)
        found = self.captures.get(outer)
        if found is None:
            found = self.captures[outer] = self.backward.add_parameter(outer.type, outer.name)
        return found


class ReverseBuilder(GraphBuilder):
    """Records into the backward graph of a level; operands of its forward graph are brought over."""

    def __init__(self, level: Level, graph: Graph) -> None:
        super().__init__(graph)
        self._level = level

    def __getattr__(self, name: str) -> Callable[..., Any]:
        apply, op = super().__getattr__(name), OPS[name]
        if op.shape_only != (0,):
            return apply

        def apply_to_shape(x: Any, **attributes: Any) -> Any:
            """A size, or another small result, is computed on the way forward and kept in place of the operand."""
            if not isinstance(x, Value) or x.graph is self.graph or self._level.has(x):
                return apply(x, **attributes)
            (type_,) = op.result_types([x.type], attributes)
            if isinstance(type_, TensorType) and type_.dtype.is_integer and not isinstance(x.type, ResourceType):
                return self._level.resolve_result(op, x, attributes)
            return apply(x, **attributes)

        return apply_to_shape

    def zeros_like(self, x: Value, **attributes: Any) -> Any:
        if not attributes and isinstance(x.type, TensorType) and is_static(x.type):
            zero = np.zeros((), x.type.dtype.numpy)
            return self.constant(value=np.broadcast_to(zero, x.type.shape), weak=x.type.weak)  # type: ignore[arg-type]
        return super().__getattr__("zeros_like")(x, **attributes)

    def _value(self, op: Op, operand: Any, position: int, operands: Sequence[Any]) -> Value:
        if isinstance(operand, Value) and operand.graph is not self.graph:
            if position in op.shape_only and not self._level.has(operand):
                if isinstance(operand.type, TensorType) and is_static(operand.type):
                    return self.zeros_like(operand)  # type: ignore[no-any-return]
                return self._level.resolve_outline(operand)
            return self._level.resolve(operand)
        return super()._value(op, operand, position, operands)


def empty_stack(b: GraphBuilder, type_: ListType) -> Value:
    element: Type = type_.element
    if isinstance(element, TensorType):
        return b.list_empty(dtype=element.dtype, shape=element.shape, weak=element.weak)  # type: ignore[no-any-return]
    return b.list_empty_of(element=element)  # type: ignore[no-any-return]


def move_before(graph: Graph, node: Node, count: int) -> None:
    """Moves the nodes that were added after the first `count` in front of `node`."""
    added = graph.nodes[count:]
    if added:
        del graph.nodes[count:]
        position = graph.nodes.index(node)
        graph.nodes[position:position] = added


def extend(
    node: Node, inputs: Sequence[Value], regions: Sequence[Graph], types: Sequence[Type], **attributes: Any
) -> tuple[Value, ...]:
    """Gives a node other inputs and regions, and results of these types behind those that it has; answers the new."""
    node.inputs, node.regions = tuple(inputs), tuple(regions)
    node.attributes = {**node.attributes, **attributes}
    count = len(node.results)
    graph = node.results[0].graph if node.results else inputs[0].graph
    new = tuple(Value(graph, type_, node.name, node, count + i) for i, type_ in enumerate(types))
    node.results += new
    node.effects = node_effects(node.op, node.regions, node.attributes, node.inputs)
    return new


def clone(graph: Graph) -> Graph:
    """A copy whose nodes can be changed; regions are shared with the original until they are replaced."""
    copy = Graph(graph.name)
    values: dict[Value, Value] = {}
    for parameter in graph.parameters:
        values[parameter] = copy.add_parameter(parameter.type, parameter.name)
    for node in graph.nodes:
        copied = copy_node(copy, node, [values[value] for value in node.inputs])
        values.update(zip(node.results, copied.results, strict=True))
    copy.outputs = [values[value] for value in graph.outputs]
    return copy
