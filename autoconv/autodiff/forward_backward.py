"""Levels of differentiation: each has a forward graph, which stores values, and a backward graph, which reads them.

Gradient rules are written on values of the forward graph. `resolve` transfers the operands of backward ops, so that
only values that a gradient reads are stored. The kind of level determines how a value is stored:

- At the root, both graphs may be one, and nothing is stored (`RootLevel`); or the value becomes a result of the forward
  graph and a parameter of the backward graph (`SplitRootLevel`).
- In an arm, a loop's body or an end of a try, captures are read from the enclosing level. Each computed value is pushed
  onto a stack of its own: a tensor list that passes through all enclosing regions, and is popped in the backward pass
  (`Region`). Nested loops share the flat stack of a value, and an arm that is not taken pushes nothing.
- The graph of a call, and the body of a try, run as often as the enclosing graph; they return the value as a further
  result (`SingleRunLevel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.autodiff.cotangents import Cotangents, zero_array
from autoconv.autodiff.dependence import Heap
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, copy_node, node_effects
from autoconv.graph.rewrite import begin_copy
from autoconv.graph.types import ListType, ResourceType, TensorType, Type, is_static_shape
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import OPS, Op


class Level:
    """The base class of levels.

    `builder` records the backward graph; `cotangents` maps values of `forward` to the sums of their cotangents so far.
    """

    def __init__(self, forward: Graph, backward: Graph, enclosing: Level | None = None) -> None:
        self.heap = Heap()
        self.recompute_every: int | None = None  # see checkpoints.py; None: loops store all values
        # The backward graphs of recursive functions (see recursion.py), by function and by the positions of the
        # parameters and outputs with cotangents.
        self.recursions: dict[Any, Graph] = {}
        # By recursive function: its copy with tensors as parameters in place of variables.
        self.copies_without_variables: dict[Graph, Graph] = {}
        if enclosing is not None:
            self.share_state(enclosing)
        self.forward = forward
        self.builder = ReverseBuilder(self, backward)
        self.cotangents: Cotangents = {}
        self._resolved_values: dict[Value, Value] = {}
        self._shape_placeholders: dict[Value, Value] = {}

    def share_state(self, level: Level) -> None:
        """Take over the state that all levels of one differentiation share."""
        self.heap, self.recompute_every = level.heap, level.recompute_every
        self.recursions = level.recursions
        self.copies_without_variables = level.copies_without_variables

    @property
    def backward(self) -> Graph:
        return self.builder.graph

    def resolve(self, value: Value) -> Value:
        """Return the value of the backward graph that corresponds to a value of the forward graph."""
        if value.graph is self.backward:
            return value
        result = self._resolved_values.get(value)
        if result is None:
            result = self._resolved_values[value] = self._transfer(value)
        return result

    def resolve_shape(self, value: Value) -> Value:
        """Resolve a value whose elements are not read: only a placeholder of its shape is stored."""
        if self.is_available(value) or isinstance(value.type, ResourceType):
            return self.resolve(value)
        result = self._shape_placeholders.get(value)
        if result is None:
            node = self.forward.add(OPS["shape_placeholder"], [value])
            result = self._shape_placeholders[value] = self.resolve(node.results[0])
        return result

    def resolve_result(self, op: Op, value: Value, attributes: Mapping[str, Any]) -> Value:
        """Apply an op to the value in the forward graph, and resolve its result."""
        return self.resolve(self.forward.add(op, [value], attributes).results[0])

    def is_available(self, value: Value) -> bool:
        """Return whether the value is available in the backward graph without being stored."""
        return value.graph is self.backward or value in self._resolved_values or self._can_skip_storage(value)

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        """Return a new stack on which the regions of `node` will push; it has only its `entry`."""
        return Stack(type_, empty_stack(GraphBuilder(self.forward), type_))

    def close_stack(self, stack: Stack, final_value: Value) -> None:
        """Set the stack's value after the node, and `top`, from which the backward pass pops."""
        stack.exit, stack.top = final_value, self.resolve(final_value)

    def _can_skip_storage(self, value: Value) -> bool:
        """Return whether the backward graph can have the value without storing it."""
        return value.node is not None and value.node.op.name == "constant"

    def _transfer(self, value: Value) -> Value:
        """Return a new value of the backward graph for a value of the forward graph."""
        if value.node is not None and value.node.op.name == "constant":
            return copy_node(self.backward, value.node, ()).results[0]
        return self._store(value)

    def _store(self, value: Value) -> Value:
        """Let the forward graph store a value; return the value of the backward graph that reads it."""
        raise NotImplementedError


@dataclass(eq=False)
class Stack:
    """The stack of one stored value of a region, on which each run of the region pushes an item.

    The fields are the list at four points: before and after the region in the forward graph (`entry` and `exit`), and
    before and after the pops in the backward graph (`top` and `bottom`). A point that is not built yet is None.
    """

    type: ListType
    entry: Value
    exit: Value | None = None
    top: Value | None = None
    bottom: Value | None = None


class RootLevel(Level):
    """A root level. Its two graphs are the same, or `transfer` maps values to the backward graph."""

    def __init__(self, forward: Graph, backward: Graph, transfer: Callable[[Value], Value] | None = None) -> None:
        super().__init__(forward, backward)
        self._transfer_function = transfer

    def _transfer(self, value: Value) -> Value:
        assert self._transfer_function is not None, f"{value} is of another graph"
        return self._transfer_function(value)


class SplitRootLevel(RootLevel):
    """A root with a separate backward graph, whose parameters are results of the forward graph."""

    def __init__(self, forward: Graph, backward: Graph) -> None:
        super().__init__(forward, backward)
        self.saved_values: list[Value] = []

    def _transfer(self, value: Value) -> Value:
        return Level._transfer(self, value)  # a root with two graphs has no transfer function

    def _store(self, value: Value) -> Value:
        self.saved_values.append(value)
        return self.backward.add_parameter(value.type, "kept")


class Region(Level):
    """The level of an arm, a loop's body, or an end of a try.

    `outer` maps parameters of the forward graph to values of the enclosing level. `captures` maps values of the
    enclosing level that the backward graph reads to its parameters. With `repeats`, for loops, the results of pure
    nodes that depend on captures alone, and slices of such results, are recomputed rather than stored. `counters` maps
    parameters that follow from the iteration number to functions that build them in the backward graph. Numbers that
    depend on counters are recomputed as well.
    """

    def __init__(self, parent: Level, forward: Graph, outer: Mapping[Value, Value], repeats: bool = False) -> None:
        super().__init__(forward, Graph(f"{forward.name}_back"), parent)
        self.parent = parent
        self.outer = dict(outer)
        self.captures: dict[Value, Value] = {}
        self.stacks: list[Stack] = []
        self.counters: dict[Value, Callable[[], Value]] = {}
        self._repeats = repeats
        self._invariance: dict[Value, bool] = {}
        self._counter_dependence: dict[Value, bool] = {}

    def open_stack(self, node: Node, type_: ListType) -> Stack:
        stack = Stack(type_, self.forward.add_parameter(type_, "stack"))
        self.stacks.append(stack)
        return stack

    def close_stack(self, stack: Stack, final_value: Value) -> None:
        stack.exit, stack.top = final_value, self.backward.add_parameter(stack.type, "stack")

    def _can_skip_storage(self, value: Value) -> bool:
        if value in self.outer or super()._can_skip_storage(value):
            return True
        return self._repeats and self._is_recomputable(value)

    def _transfer(self, value: Value) -> Value:
        """Return the value in the backward graph: a capture, a counter, a recomputed or a stored value."""
        if value in self.outer:
            return self.capture(self.outer[value])
        if value in self.counters:
            return self.counters[value]()
        recomputes = self._repeats and (self._is_recomputable(value) or self._is_indexed_invariant(value))
        if recomputes and value.node is not None:
            inputs = [self.resolve(operand) for operand in value.node.inputs]
            return copy_node(self.backward, value.node, inputs).results[value.index]
        return super()._transfer(value)

    def capture(self, outer_value: Value) -> Value:
        """Return the parameter of the backward graph for a value of the enclosing level."""
        return _capture(self.captures, self.backward, outer_value)

    def _is_invariant(self, value: Value) -> bool:
        """Return whether the value is a capture, or computed by pure nodes from captures alone."""
        result = self._invariance.get(value)
        if result is None:
            node = value.node
            result = value in self.outer or (
                node is not None
                and node.effects is Effects.PURE
                and not node.regions
                and all(map(self._is_invariant, node.inputs))
            )
            self._invariance[value] = result
        return result

    def _is_from_counters(self, value: Value) -> bool:
        """Return whether the value is a number that depends on counters and invariants alone."""
        result = self._counter_dependence.get(value)
        if result is None:
            node = value.node
            result = value in self.counters or (
                node is not None
                and node.effects is Effects.PURE
                and not node.regions
                and all(isinstance(number.type, TensorType) and number.shape == () for number in (value, *node.inputs))
                and all(map(self._is_recomputable, node.inputs))
            )
            self._counter_dependence[value] = result
        return result

    def _is_recomputable(self, value: Value) -> bool:
        """Return whether the backward graph recomputes the value, from captures and counters."""
        return self._is_invariant(value) or self._is_from_counters(value)

    def _is_indexed_invariant(self, value: Value) -> bool:
        """Return whether the value is an invariant indexed by numbers, so that only the numbers have to be stored."""
        node = value.node
        if node is None or node.op.name != "get_item" or not self._is_invariant(node.inputs[0]):
            return False
        return all(isinstance(index.type, TensorType) and index.shape == () for index in node.inputs[1:])

    def _store(self, value: Value) -> Value:
        """Push the value in each forward iteration; return it in the backward region, which pops it."""
        type_ = ListType(value.type)
        entry = self.forward.add_parameter(type_, "stack")
        list_after = GraphBuilder(self.forward).list_push(entry, value)
        top = self.backward.add_parameter(type_, "stack")
        bottom, result = self.builder.list_pop(top)
        self.stacks.append(Stack(type_, entry, list_after, top, bottom))
        return result  # type: ignore[no-any-return]


def _capture(captures: dict[Value, Value], graph: Graph, outer_value: Value) -> Value:
    """Return the parameter of the graph for a value of the enclosing level; it is added at the first read."""
    if outer_value not in captures:
        captures[outer_value] = graph.add_parameter(outer_value.type, outer_value.name)
    return captures[outer_value]


class SingleRunLevel(Level):
    """The level of a graph that runs once in each run of the enclosing level: of a call, or of a try's body.

    `add_result` makes a value of the forward graph a result of it, and returns the value of the enclosing level. The
    backward graph is that of the enclosing level, or a separate one; `captures` then maps the values of the enclosing
    level that the separate graph reads to its parameters.
    """

    def __init__(
        self, enclosing: Level, forward: Graph, outer: Mapping[Value, Value], add_result: Callable[[Value], Value],
        backward: Graph | None = None,
    ) -> None:  # fmt: skip
        super().__init__(forward, enclosing.backward if backward is None else backward, enclosing)
        self.enclosing = enclosing
        self.outer = dict(outer)
        self.captures: dict[Value, Value] = {}
        self._add_result = add_result

    def _store(self, value: Value) -> Value:
        outer_value = self.outer[value] if value in self.outer else self._add_result(value)
        if self.backward is self.enclosing.backward:
            return self.enclosing.resolve(outer_value)
        return _capture(self.captures, self.backward, outer_value)


class ReverseBuilder(GraphBuilder):
    """A builder of the backward graph of a level; operands from the forward graph are resolved."""

    def __init__(self, level: Level, graph: Graph) -> None:
        super().__init__(graph)
        self._level = level

    def __getattr__(self, name: str) -> Callable[..., Any]:
        apply, op = super().__getattr__(name), OPS[name]
        if op.traits.shape_only != (0,):
            return apply

        def apply_to_shape(x: object, **attributes: Any) -> Any:
            """Apply the op; in the forward graph if the result is an integer, so that it is stored, not the operand."""
            if not isinstance(x, Value) or x.graph is self.graph or self._level.is_available(x):
                return apply(x, **attributes)
            (type_,) = op.result_types([x.type], attributes)
            is_integer = isinstance(type_, TensorType) and type_.dtype.is_integer
            if is_integer and not isinstance(x.type, ResourceType):
                return self._level.resolve_result(op, x, attributes)
            return apply(x, **attributes)

        return apply_to_shape

    def zeros_like(self, x: Value, **attributes: Any) -> Any:
        if not attributes and isinstance(x.type, TensorType) and is_static_shape(x.type.shape):
            return self.constant(value=zero_array(x.type), weak=x.weak)
        return super().__getattr__("zeros_like")(x, **attributes)

    def _operand_value(self, op: Op, operand: object, position: int, operands: Sequence[Any]) -> Value:
        """Return the operand in the backward graph, or another value of its shape if the op reads the shape alone."""
        if isinstance(operand, Value) and operand.graph is not self.graph:
            if position in op.traits.shape_only and not self._level.is_available(operand):
                if isinstance(operand.type, TensorType) and is_static_shape(operand.type.shape):
                    return self.zeros_like(operand)  # type: ignore[no-any-return]
                return self._level.resolve_shape(operand)
            return self._level.resolve(operand)
        return super()._operand_value(op, operand, position, operands)


def empty_stack(b: GraphBuilder, type_: ListType) -> Value:
    """Return an empty list of the type."""
    element: Type = type_.element
    if isinstance(element, TensorType):
        return b.list_empty(dtype=element.dtype, shape=element.shape, weak=element.weak)  # type: ignore[no-any-return]
    return b.list_empty_of(element=element)  # type: ignore[no-any-return]


def move_before(graph: Graph, node: Node, count: int) -> None:
    """Move all nodes of the graph but the first `count` in front of `node`."""
    new_nodes = graph.nodes[count:]
    if new_nodes:
        del graph.nodes[count:]
        position = graph.nodes.index(node)
        graph.nodes[position:position] = new_nodes


def extend_node(
    node: Node, inputs: Sequence[Value], regions: Sequence[Graph], types: Sequence[Type], **attributes: Any
) -> tuple[Value, ...]:
    """Replace a node's inputs and regions in place, and append results of `types`; return the new results."""
    node.inputs, node.regions = tuple(inputs), tuple(regions)
    node.attributes = {**node.attributes, **attributes}
    count = len(node.results)
    graph = node.results[0].graph if node.results else inputs[0].graph
    new_results = tuple(Value(graph, type_, node.name, node, count + i) for i, type_ in enumerate(types))
    node.results += new_results
    node.effects = node_effects(node, node.regions)
    return new_results


def shallow_copy(graph: Graph) -> Graph:
    """Copy a graph for in-place changes of its nodes; regions are shared with the original until they are replaced."""
    copy, values = begin_copy(graph)
    for node in graph.nodes:
        append_copy(copy, node, values)
    copy.outputs = [values[value] for value in graph.outputs]
    return copy
