"""Replacement of variables, for functions in C: by tensors if they are only read, else by memory of the caller.

    before   graph f(%x: float32[], %v: resource<float32[3]>) {      which assigns to %v
    after    graph f(%x: float32[], %v: array<float32[3], [4]>) {    which stores into %v

Not in the table of optimisations: it is called only when a graph is exported.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.errors import UnsupportedError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, ResourceType, TensorType, Type, dense_strides
from autoconv.ops import OPS


def replace_variables(graph: Graph) -> Graph:
    """Return a graph whose variables are tensors, or arrays in memory where the graph writes them.

    Raises UnsupportedError for a variable without a known shape.
    """
    if not any(isinstance(value.type, ResourceType) for value in graph.parameters):
        return graph
    written_parameters = written_variables(graph, set())
    types = {value: _type_of_contents(value, value in written_parameters) for value in graph.parameters}
    return _VariableReplacer(graph, types).run()


def _type_of_contents(value: Value, is_written: bool) -> Type:
    """Return the new type of a parameter: of memory for a variable that is written, else of the variable's contents."""
    type_ = value.type
    if not isinstance(type_, ResourceType):
        return type_
    contents = type_.value
    shape = contents.shape if isinstance(contents, TensorType) else None
    if not isinstance(contents, TensorType) or shape is None or not all(isinstance(size, int) for size in shape):
        raise UnsupportedError(
            f"the variable {value.name} is {contents}, which has no form in C",
            remedy="a variable whose shape is known",
        )
    return ArrayType(contents.dtype, shape, dense_strides(shape, contents.dtype)) if is_written else contents


def written_variables(graph: Graph, visited: set[Graph]) -> set[Value]:
    """Return the parameters to which a graph or a region of it assigns; graphs in `visited` are skipped."""
    visited.add(graph)
    result: set[Value] = set()
    for node in graph.nodes:
        if node.op.name.startswith("assign_"):
            result.add(node.inputs[0])
        for region in node.regions:
            written_in_region = written_variables(region, visited) if region not in visited else set()
            parameters_and_inputs = zip(region.parameters, _inputs_of_region(node.inputs, region), strict=True)
            result.update(value for parameter, value in parameters_and_inputs if parameter in written_in_region)
    return result


def _inputs_of_region(inputs: Sequence[Value], region: Graph) -> Sequence[Value]:
    """Return the inputs for the parameters of a region, which are the last inputs of its node."""
    return inputs[len(inputs) - len(region.parameters) :]


class _VariableReplacer(Rewriter[dict[Value, Type]]):
    """The pass over one graph. `shared` maps parameters of the graph and its regions to their new types."""

    def type_of(self, value: Value) -> Type:
        return self.shared.get(value, value.type)

    def region_rewriter(self, node: Node, inputs: Sequence[Value], region: Graph) -> _VariableReplacer:
        for parameter, value in zip(region.parameters, _inputs_of_region(inputs, region), strict=True):
            if isinstance(parameter.type, ResourceType):
                self.shared[parameter] = value.type
        return _VariableReplacer(region, self.shared, self.copies)

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace reads and assignments of a variable by loads and stores of its memory."""
        name, add = node.op.name, self.copy.add
        if name == "read_variable":
            is_memory = isinstance(inputs[0].type, ArrayType)
            return add(OPS["array_load"], inputs, span=node.span).results if is_memory else inputs
        if not name.startswith("assign_") or not isinstance(inputs[0].type, ArrayType):
            return None
        memory, value = inputs
        update_op = {"assign_add_variable": "add", "assign_sub_variable": "subtract"}.get(name)
        if update_op is not None:
            old_value = add(OPS["array_load"], (memory,), span=node.span).results[0]
            value = add(OPS[update_op], (old_value, value), span=node.span).results[0]
        add(OPS["array_store"], (memory, value), span=node.span)
        return (value,)
