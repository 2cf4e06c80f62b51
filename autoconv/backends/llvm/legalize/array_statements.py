"""Fuse an array assignment with the elementwise computation of its value into one node, which stores in place.

    before   %v = array_view(%A, spec=…); %x = array_load(%v); %y = multiply(%x, %c); array_store(%w, %y)
    after    array_assign(%w, %v, %c, steps=(input 0, input 1, multiply of steps 0 and 1))

The fused node is called a statement; a reduction that is fused likewise is called a total. A fused load reads when the
statement runs. It is fused only where no write to its array lies between the load and the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.ir.types import is_native
from autoconv.backends.llvm.legalize.array_reductions import (
    ARRAY_TOTAL,
    GATHER_BASE,
    TENSOR_PART,
    FullReduction,
    evaluate_steps,
    find_full_reduction,
)
from autoconv.backends.llvm.legalize.statement_nodes import is_gather, is_open_slice, is_pure_elementwise, is_safe_slice
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, compute_effects, copy_regions
from autoconv.graph.rewrite import begin_copy
from autoconv.graph.types import ArrayType, TensorType
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops import OPS
from autoconv.ops.analysis.alias import DISJOINT, Overlaps
from autoconv.ops.index_spec import INPUT
from autoconv.ops.numpy.shapes import UPDATE
from autoconv.ops.record import Op, no_gradient
from autoconv.ops.traits import Traits

_MAX_STEPS = 64  # most steps of a statement or a total


@dataclass(frozen=True, slots=True)
class Step:
    """One value in an assignment: an op applied to the steps whose indices are `operands`.

    If `op` is "" or GATHER_BASE, the value is an input, and `operands` has the index of that input alone.
    """

    type: TensorType
    op: str = ""
    operands: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.type, self.op, self.operands))


def _evaluate_assignment(x: np.ndarray, *inputs: Any, steps: tuple[Step, ...]) -> tuple[()]:
    """Evaluate the steps by the kernels of their ops."""
    store = OPS["array_store"].kernel
    assert store is not None
    store(x, evaluate_steps(inputs, steps))
    return ()


ARRAY_ASSIGN = Op(
    name="array_assign", graphdef="ArrayAssign", result=lambda *_, steps: (), kernel=_evaluate_assignment,
    gradient=no_gradient("made by the native backend"), effects=Effects.READ | Effects.WRITE | Effects.RAISE,
    traits=Traits(stores_into=0),
)  # fmt: skip


def fuse_statements(graph: Graph) -> Graph:
    """Return a copy of the graph, regions included, with elementwise assignments and reductions of views fused."""
    memory_ops = ("array_store", "array_of", "array_load")
    if not any(node.op.name in memory_ops or is_open_slice(node) for node in graph.walk()):
        return graph
    copy = _rebuild(graph, Overlaps(graph), {})
    compute_effects(copy)
    return copy


def _rebuild(graph: Graph, overlaps: Overlaps, copies: dict[Graph, Graph]) -> Graph:
    """Return a copy of one graph or region with fused nodes; `copies` maps graphs to their copies."""
    copy, values = begin_copy(graph)
    copies[graph] = copy
    statements = _Statements(graph, overlaps)
    part_values: dict[Value, Value] = {}
    for node in graph.nodes:
        if node in statements.fused_nodes:
            continue
        if node in statements.parts:
            operands = [values[value] for value in node.inputs]
            part = copy.add_replacement(node, TENSOR_PART, operands, node.attributes)
            part_values[node.results[0]] = part.results[0]
            if statements.is_read_by_fused_only(node):
                continue
        if node in statements.pair_checks:
            operands = [part_values.get(v) or values[_find_loaded_array(v)] for v in node.inputs]
            copy.add_replacement(node, node.op, operands, node.attributes)
            continue
        if node in statements.target_checks and node.inputs[1].node in statements.fused_nodes:
            for leaf in statements.leaves(node.inputs[1]):
                operands = [values[node.inputs[0]], values[leaf]]
                copy.add_replacement(node, node.op, operands, node.attributes)
            continue
        fusion = statements.totals.get(node) or statements.assignments.get(node)
        if fusion is None:
            regions = copy_regions(node, copies, lambda region: _rebuild(region, overlaps, copies))
            append_copy(copy, node, values, regions)
            continue
        steps = tuple(fusion.steps)
        operands = [part_values.get(v) or values[v] for v in fusion.inputs]
        owners = _owners_of_parts(fusion.inputs, part_values, values)
        if (reduction := fusion.reduction) is not None:
            attributes = {"steps": steps, "op": reduction.op, "options": tuple(reduction.options.items())}
            types = [value.type for value in node.results]
            total = copy.add_replacement(node, ARRAY_TOTAL, operands + owners, attributes, types=types)
            (values[node.results[0]],) = total.results
            continue
        if node.op.name == "array_of":
            target = values[node.results[0]] = _allocate_target(copy, node, operands, steps)
        else:
            target = values[node.inputs[0]]
        copy.add_replacement(node, ARRAY_ASSIGN, [target, *operands, *owners], {"steps": steps}, types=())
    copy.outputs = [values[value] for value in graph.outputs]
    return copy


def _owners_of_parts(
    inputs: Sequence[Value], part_values: Mapping[Value, Value], values: Mapping[Value, Value]
) -> list[Value]:
    """Return the base tensors of the parts: as further inputs, they stay alive while the node reads them."""
    return [values[v.node.inputs[0]] for v in inputs if v in part_values and v.node is not None]


def _allocate_target(copy: Graph, node: Node, inputs: Sequence[Value], steps: Sequence[Step]) -> Value:
    """Allocate the array that a statement fills; its unknown sizes are computed from the inputs."""
    type_: Any = node.results[0].type
    shape: list[Any] = []
    sizes: list[Value] = []
    for axis, size in enumerate(type_.shape):
        if size is not None:  # a symbol is possible, too: only native code runs this node
            shape.append(size)
            continue
        operand_sizes = []
        for step in steps:
            step_shape = step.type.shape or ()
            step_axis = axis - type_.rank + len(step_shape)
            if not step.op and step_axis >= 0 and step_shape[step_axis] is None:
                operand = inputs[step.operands[0]]
                size_node = copy.add(OPS["array_size"], [operand], {"axis": step_axis}, span=node.span)
                operand_sizes.append(size_node.results[0])
        if len(operand_sizes) > 1:
            operand_sizes = [*copy.add(OPS["common_size"], operand_sizes, span=node.span).results]
        sizes.append(operand_sizes[0])
        shape.append(INPUT)
    attributes = {"shape": tuple(shape), "dtype": type_.dtype, "fill": None}
    return copy.add_replacement(node, OPS["array_new"], sizes, attributes).results[0]


def _find_loaded_array(value: Value) -> Value:
    """Return the array from which a tensor, or the positions of its gather, was loaded; else the tensor itself."""
    node = value.node
    if node is not None and is_gather(node):
        return _find_loaded_array(node.inputs[1])
    if node is None or node.op.name != "array_load" or not is_native(node.inputs[0].dtype):
        return value
    return node.inputs[0]


@dataclass
class _Fusion:
    """The inputs and steps of an assignment or a total that ends at the node `last`, from the nodes of `tree`.

    A total ends with `reduction`, which folds the elements of the last step.
    """

    last: Node
    tree: set[Node]
    inputs: list[Value] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    step_indices: dict[Value, int] = field(default_factory=dict)
    parts: list[Node] = field(default_factory=list)  # slices of tensors that are read in place
    reduction: FullReduction | None = None

    def add(self, value: Value, step: Step) -> int:
        """Add the step of a value and return its index."""
        self.steps.append(step)
        self.step_indices[value] = len(self.steps) - 1
        return self.step_indices[value]

    def add_input(self, operand: Value) -> int:
        """Add an input, unless `inputs` has it already; return its index."""
        if operand not in self.inputs:
            self.inputs.append(operand)
        return self.inputs.index(operand)

    def add_leaf(self, operand: Value, value: Value) -> int | None:
        """Add a tensor or an array in memory as an input; return its step's index, or None if it cannot be an input."""
        type_ = value.type
        assert isinstance(type_, TensorType)
        if operand is value and type_.shape:
            if value.node is not None and is_safe_slice(value.node):
                self.parts.append(value.node)
            elif None in type_.shape:
                return None  # a kernel's result: not known to be contiguous
        return self.add(value, Step(type_, "", (self.add_input(operand),)))


class _Statements:
    """The stores of one graph that become statements, and the reductions that become totals.

    assignments    the fusion of each store that becomes a statement
    totals         the fusion of each reduction that becomes a total
    fused_nodes    nodes that become part of a statement or a total
    target_checks  nodes that compare sizes with the sizes of an assignment's target
    pair_checks    nodes that compare the sizes of two arrays
    parts          slices of tensors that are read in place
    """

    def __init__(self, graph: Graph, overlaps: Overlaps) -> None:
        self._graph = graph
        self._overlaps = overlaps
        self._positions = {node: i for i, node in enumerate(graph.nodes)}
        self._effectful_nodes = [node for node in graph.nodes if node.effects.must_run]
        shape_checks = [node for node in graph.nodes if node.op.name == "numpy_shapes"]
        self.target_checks = {node for node in shape_checks if node.attributes["rule"] == UPDATE}
        self.pair_checks = set(shape_checks) - self.target_checks
        self._users: dict[Value, set[Node]] = {}
        for node in graph.nodes:
            for value in node.inputs:
                self._users.setdefault(value, set()).add(node)
        self._outputs = set(graph.outputs)
        self.assignments: dict[Node, _Fusion] = {}
        self.totals: dict[Node, _Fusion] = {}
        self.fused_nodes: set[Node] = set()
        self.parts: set[Node] = set()
        for node in graph.nodes:
            if node.op.name in ("array_store", "array_of") and not node.attributes.get("read_only"):
                self._match_assignment(node)
            elif (reduction := find_full_reduction(node)) is not None:
                self._match_reduction(node, reduction)
        used_inputs = [fusion.inputs for fusion in (*self.assignments.values(), *self.totals.values())]
        for node in graph.nodes:  # loads that only statements use are read in place
            if node.op.name != "array_load" or any(node.results[0] in inputs for inputs in used_inputs):
                continue
            if self._is_used_only_by(node, self.fused_nodes | set(self.assignments) | set(self.totals)):
                self.fused_nodes.add(node)

    def _match_assignment(self, store: Node) -> None:
        """Make a store a statement if the nodes that compute its value can be fused with it."""
        value = store.inputs[-1]
        array_type = store.inputs[0].type if store.op.name == "array_store" else store.results[0].type
        if not isinstance(array_type, ArrayType) or not is_native(array_type.dtype):
            return
        if not array_type.rank or value.shape == ():
            return
        fusion = _Fusion(store, self._elementwise_tree([value], {store}, store))
        if self._step_index(value, fusion) is None or len(fusion.steps) > _MAX_STEPS:
            return
        steps = fusion.steps
        reads_memory = any(isinstance(value.type, ArrayType) for value in fusion.inputs)
        if not fusion.tree and not reads_memory:
            return
        if store.op.name == "array_of" and not _determines_sizes(array_type, steps):
            return
        if store.op.name == "array_of" and not reads_memory and has_constant_sizes(array_type, steps):
            return  # fused loops read slices of tensors in place, and the array takes over the memory of their result
        self.assignments[store] = fusion
        self.parts |= set(fusion.parts)
        self.fused_nodes |= fusion.tree

    def _match_reduction(self, node: Node, reduction: FullReduction) -> None:
        """Make a reduction a total if the nodes that compute its operands can be fused with it."""
        users = {node, *reduction.inner_nodes}
        if not all(self._is_used_only_by(inner, users) for inner in reduction.inner_nodes):
            return
        fusion = _Fusion(node, self._elementwise_tree(reduction.operands, users, node))
        indices = [self._step_index(value, fusion) for value in reduction.operands]
        steps = fusion.steps
        operands = tuple(index for index in indices if index is not None)
        if len(operands) < len(indices) or len(steps) >= _MAX_STEPS:
            return
        if not any(not step.op and None in (step.type.shape or ()) for step in steps):
            return  # reductions over known sizes are computed by the fused loops of a schedule
        if reduction.inner_nodes:  # a product of two vectors
            steps.append(Step(steps[operands[0]].type, "multiply", operands))
        fusion.reduction = reduction
        self.totals[node] = fusion
        self.parts |= set(fusion.parts)
        self.fused_nodes |= fusion.tree | set(reduction.inner_nodes)

    def is_read_by_fused_only(self, node: Node) -> bool:
        """Return whether only fused nodes read the view that `node` takes of a tensor."""
        (result,) = node.results
        fusions = (*self.assignments.values(), *self.totals.values())
        readers = {fusion.last for fusion in fusions if result in fusion.inputs}
        return result not in self._outputs and self._users[result] <= readers | self.fused_nodes | self.pair_checks

    def _is_used_only_by(self, node: Node, users: set[Node]) -> bool:
        """Return whether only `users`, and checks of sizes, read the result of a node."""
        (result,) = node.results
        is_loaded = _find_loaded_array(result) is not result
        checks = self.target_checks | self.pair_checks if is_loaded else self.target_checks
        return result not in self._outputs and self._users.get(result, set()) <= users | checks

    def leaves(self, value: Value) -> Iterator[Value]:
        """Yield the inputs of rank 1 or more from which fused nodes compute a value."""
        node = value.node
        if node is None or node not in self.fused_nodes:
            if value.shape != ():
                yield value
        elif node.op.name == "array_load":
            yield node.inputs[0]
        elif is_gather(node):
            yield from self.leaves(node.inputs[1])
        else:
            for operand in node.inputs:
                yield from self.leaves(operand)

    def _elementwise_tree(self, values: Sequence[Value], users: set[Node], last: Node) -> set[Node]:
        """Return the nodes that compute the values elementwise, and only for `users`."""
        result: set[Node] = set()
        candidates = {value.node for value in values}
        for node in reversed(self._graph.nodes[: self._positions[last]]):
            if node not in candidates or getattr(node.results[0].type, "shape", ()) == ():
                continue
            can_fuse = is_pure_elementwise(node) or (is_gather(node) and self._is_undisturbed(node, last))
            if can_fuse and self._is_used_only_by(node, result | users):
                result.add(node)
                candidates |= {value.node for value in node.inputs}
        return result

    def _step_index(self, value: Value, fusion: _Fusion) -> int | None:
        """Return the index of the step that computes the value; None if the value prevents the fusion."""
        if value in fusion.step_indices:
            return fusion.step_indices[value]
        type_, node = value.type, value.node
        if not isinstance(type_, TensorType) or not is_native(type_.dtype) or type_.shape is None:
            return None
        is_load = node is not None and node.op.name == "array_load" and bool(type_.shape)
        if node is not None and is_load and self._is_unchanged_until(node, fusion.last):
            return fusion.add_leaf(node.inputs[0], value)
        if node not in fusion.tree:
            return fusion.add_leaf(value, value)
        assert node is not None
        if is_gather(node):
            return self._add_gather(node, fusion)
        operands = [self._step_index(operand, fusion) for operand in node.inputs]
        if any(index is None for index in operands):
            return None
        operand_steps = tuple(index for index in operands if index is not None)
        return fusion.add(value, Step(type_, node.op.name, operand_steps, node.attributes))

    def _add_gather(self, node: Node, fusion: _Fusion) -> int | None:
        """Add a gather, and return the index of its step; None if its positions are no leaf."""
        base, positions = node.inputs
        step = self._step_index(positions, fusion)
        if step is None or fusion.steps[step].op:
            return None
        load, (result,) = base.node, node.results
        is_in_memory = load is not None and load.op.name == "array_load" and self._is_unchanged_until(load, fusion.last)
        operand = load.inputs[0] if is_in_memory and load is not None else base
        assert isinstance(base.type, TensorType) and isinstance(result.type, TensorType)
        fusion.steps.append(Step(base.type, GATHER_BASE, (fusion.add_input(operand),)))
        return fusion.add(result, Step(result.type, "get_item", (len(fusion.steps) - 1, step), node.attributes))

    def _is_undisturbed(self, node: Node, last_node: Node) -> bool:
        """Return whether nothing is written between the two nodes: an error of the first may then be raised later."""
        first_position, last_position = self._positions[node], self._positions[last_node]
        return not any(first_position < self._positions[write] < last_position for write in self._effectful_nodes)

    def _is_unchanged_until(self, load: Node, store: Node) -> bool:
        """Return whether no node between the load and the store may write to the loaded array."""
        first_position, last_position = self._positions[load], self._positions[store]
        for node in self._effectful_nodes:
            is_between = first_position < self._positions[node] < last_position
            if not is_between or not node.effects & Effects.WRITE or node.op.name in ("array_new", "array_of"):
                continue
            if node.op.traits.stores_into is None:
                return False
            if self._overlaps.between(node.inputs[0], load.inputs[0]) != DISJOINT:
                return False
        return True


def _determines_sizes(type_: ArrayType, steps: Sequence[Step]) -> bool:
    """Return whether each unknown dimension is determined by an input."""
    for axis, size in enumerate(type_.shape):
        end_axis = axis - type_.rank
        input_shapes = [step.type.shape or () for step in steps if not step.op]
        if size is None and not any(len(shape) >= -end_axis and shape[end_axis] is None for shape in input_shapes):
            return False
    return True


def has_constant_sizes(target: ArrayType, steps: Sequence[Step]) -> bool:
    """Return whether all sizes are constant, so that the value is known to fit the target."""
    return None not in target.shape and all(None not in (step.type.shape or ()) for step in steps)
