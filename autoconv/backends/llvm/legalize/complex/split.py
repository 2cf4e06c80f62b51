"""Split complex values into real and imaginary parts (scalar replacement): computations on them use the parts.

    before   graph f(%x: complex128[9]) {
               %square = square(%x): complex128[9]
               return %square
             }
    after    %real = real(%x), %imag = imag(%x): float64[9], which loops read where %x lies
             %result = complex(…, …), which the loop writes as pairs

Complex numbers thus benefit from all that exists for real ones: loops, registers, control flow, tiled products. Loops
and conditions carry both parts. Kernels, which run ops without a rule here, and the caller take whole complex numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import (
    is_dense,
    is_memory,
    is_ranked_complex,
    is_scalar,
)
from autoconv.backends.llvm.ir.types import is_native
from autoconv.backends.llvm.legalize.complex.parts import Parts
from autoconv.backends.llvm.legalize.complex.rules import COMPLEX_COMPUTED_SIZE_OPS, MEMORY_RULES, RULES
from autoconv.backends.llvm.legalize.dead_nodes import remove_all_dead_nodes
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone, copy_node, is_recursive
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, TensorType, Type
from autoconv.ops.builder import GraphBuilder


def split_complex(graph: Graph) -> Graph:
    """Return the graph, regions included, with computations on complex numbers rewritten to their parts."""
    if not _has_complex(graph):
        return graph
    writer = _Writer(Graph(graph.name))
    for value in graph.parameters:
        writer.split_values[value] = _SplitValue(writer.graph.add_parameter(value.type, value.name))
    writer.write(graph)
    writer.graph.outputs = [writer.complex_value(value) for value in graph.outputs]
    for old_output, new_output in zip(graph.outputs, writer.graph.outputs, strict=True):
        if old_output.type != new_output.type:  # keep facts of the type, such as weakness
            new_output.type = old_output.type
    remove_all_dead_nodes(writer.graph)
    return writer.graph


def is_split(node: Node) -> bool:
    """Return whether the node is computed from parts."""
    if node.op.name in MEMORY_RULES:
        operand_types = [value.type for value in (*node.inputs[:1], *node.results[:1])]
        is_memory_op = any(isinstance(type_, ArrayType) and type_.dtype.is_complex for type_ in operand_types)
        values = (*node.inputs, *node.results)
        return is_memory_op and all(_is_ranked(v.type) or is_memory(v.type) for v in values)
    if node.op.name not in RULES or node.effects not in (Effects.PURE, Effects.RAISE) or node.regions:
        return False
    types = [value.type for value in (*node.inputs, *node.results)]
    if not any(map(is_ranked_complex, types)) or not all(map(_is_ranked, types)):
        return False
    return node.op.name in COMPLEX_COMPUTED_SIZE_OPS or all(is_dense(type_) or is_scalar(type_) for type_ in types)


def _is_ranked(type_: Type) -> bool:
    """Return whether the type is a tensor of numbers with a known rank."""
    return (
        isinstance(type_, TensorType) and type_.shape is not None and (is_native(type_.dtype) or type_.dtype.is_complex)
    )


def _has_complex(graph: Graph) -> bool:
    """Return whether a graph or its regions have complex values or arrays in memory of complex numbers."""
    values = [*graph.parameters, *(value for node in graph.walk() for value in node.results)]
    return any(is_ranked_complex(v.type) or (is_memory(v.type) and v.dtype.is_complex) for v in values)


class _SplitValue:
    """A value of the old graph in the new one: as one complex value, as its two parts, or both."""

    def __init__(self, complex_value: Value | None, real_and_imag: Parts | None = None) -> None:
        self.complex_value = complex_value
        self.parts = real_and_imag
        # Of a value that a region captures: the forms ("whole", "parts") that the region uses; None for other values.
        self.forms_read: set[str] | None = None


def _part_type(type_: Type) -> TensorType:
    """Return the type of the parts of a complex value."""
    assert isinstance(type_, TensorType)
    return type_.with_dtype(type_.dtype.real_dtype, type_.weak)


class _Writer:
    """The writer of one graph, a region or the graph itself, with split values."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.split_values: dict[Value, _SplitValue] = {}

    # ---- values

    def complex_value(self, value: Value) -> Value:
        """Return a value of the old graph as one value of the new graph, which is made of its parts if needed."""
        split_value = self.split_values[value]
        if split_value.complex_value is None:
            if split_value.forms_read is not None:
                split_value.forms_read.add("whole")  # `_region_arguments` makes the value a parameter
                split_value.complex_value = Value(self.graph, value.type, self.graph.unique_name(value.name))
            else:
                assert split_value.parts is not None
                split_value.complex_value = GraphBuilder(self.graph).complex(*split_value.parts)
        assert split_value.complex_value is not None
        return split_value.complex_value

    def parts(self, value: Value) -> Parts:
        """Return the parts of a value of the old graph in the new graph, where it is split if needed."""
        split_value = self.split_values[value]
        if split_value.parts is None:
            if split_value.forms_read is not None:
                split_value.forms_read.add("parts")  # `_region_arguments` makes the parts parameters
                part_type = _part_type(value.type)
                names = (self.graph.unique_name(f"{value.name}_{part}") for part in ("real", "imag"))
                real, imag = (Value(self.graph, part_type, name) for name in names)
                split_value.parts = real, imag
            else:
                assert split_value.complex_value is not None
                split_value.parts = self._parts_of(split_value.complex_value)
        return split_value.parts

    def _parts_of(self, whole: Value) -> Parts:
        """Return the parts of a complex value of the new graph: constants for a constant, else new nodes."""
        b, node = GraphBuilder(self.graph), whole.node
        if node is not None and node.op.name == "constant":
            return RULES["constant"](b, node, ())  # type: ignore[no-any-return]
        return b.real(whole), b.imag(whole)

    def set(self, value: Value, new_value: Any) -> None:
        """Record the new value, or the pair of its parts."""
        if isinstance(new_value, tuple):
            self.split_values[value] = _SplitValue(None, (new_value[0], new_value[1]))
        else:
            self.split_values[value] = _SplitValue(new_value)

    # ---- nodes

    def write(self, graph: Graph) -> None:
        """Copy the graph's nodes: complex ones split, control flow with split regions, others unchanged."""
        for node in graph.nodes:
            if is_split(node):
                self._write_split(node)
            elif node.regions and lowering_class(node) == "control" and not is_recursive(node):
                self._write_control(node)
            else:
                regions = None
                if node.regions and not is_recursive(node):
                    regions = [clone(region, lambda *_: None) for region in node.regions]
                node_copy = copy_node(self.graph, node, [self.complex_value(value) for value in node.inputs], regions)
                for value, result in zip(node.results, node_copy.results, strict=True):
                    self.set(value, result)

    def _write_split(self, node: Node) -> None:
        """Apply the node's rule to the parts; where it returns None, the node is copied with complex operands."""
        b = GraphBuilder(self.graph, node.span)
        operands = [self.parts(v) if is_ranked_complex(v.type) else self.complex_value(v) for v in node.inputs]
        outputs = (MEMORY_RULES.get(node.op.name) or RULES[node.op.name])(b, node, operands)
        if outputs is None:
            node_copy = copy_node(self.graph, node, [self.complex_value(value) for value in node.inputs])
            outputs = list(node_copy.results)
        for value, result in zip(node.results, outputs if isinstance(outputs, list) else [outputs], strict=True):
            self.set(value, result)

    # ---- control flow

    def _write_control(self, node: Node) -> None:
        """Write a node with regions, which take and return complex values in parts where `_can_be_in_parts` holds."""
        has_complex = any(is_ranked_complex(v.type) for v in (*node.inputs, *node.results))
        if not has_complex and not any(map(_has_complex, node.regions)):
            copy = copy_node(self.graph, node, [self.complex_value(v) for v in node.inputs])
            for value, result in zip(node.results, copy.results, strict=True):
                self.set(value, result)
            return
        is_loop, state_count = node.op.traits.repeats, state_size(node)
        non_parameter_count = int(node.op.traits.selects)  # the operand that selects an arm is no region parameter
        outer_values = node.inputs[non_parameter_count:]
        are_results_in_parts = [self._can_be_in_parts(node, i) for i in range(len(node.results))]
        are_arguments_in_parts = [i < state_count and are_results_in_parts[i] for i in range(len(outer_values))]
        writers = [_Writer(Graph(region.name)) for region in node.regions]
        for region, writer in zip(node.regions, writers, strict=True):
            parameters = zip(region.parameters, outer_values, are_arguments_in_parts, strict=True)
            for value, outer, is_in_parts in parameters:
                writer.split_values[value] = self._new_parameter(writer.graph, value, outer, is_in_parts, is_loop)
            writer.write(region)
            if is_loop and region is node.regions[0]:
                writer.graph.outputs = [writer.complex_value(value) for value in region.outputs]
            else:
                writer.graph.outputs = _region_outputs(writer, region.outputs, are_results_in_parts)
        inputs = [self.complex_value(value) for value in node.inputs[:non_parameter_count]]
        inputs += self._region_arguments(node, outer_values, writers, are_arguments_in_parts)
        attributes = dict(node.attributes)
        if is_loop:
            attributes |= {"state": state_count + sum(are_results_in_parts)}
        types: list[Type] = []
        for value, is_in_parts in zip(node.results, are_results_in_parts, strict=True):
            types += [_part_type(value.type)] * 2 if is_in_parts else [value.type]
        copy = self.graph.add_replacement(node, node.op, inputs, attributes, [w.graph for w in writers], types)
        results = iter(copy.results)
        for value, is_in_parts in zip(node.results, are_results_in_parts, strict=True):
            self.set(value, (next(results), next(results)) if is_in_parts else next(results))

    def _region_arguments(
        self, node: Node, values: Sequence[Value], writers: Sequence[_Writer], are_in_parts: Sequence[bool]
    ) -> list[Value]:
        """Return the inputs of the regions, and set their parameters: each value in the forms that they read."""
        inputs: list[Value] = []
        parameters: list[list[Value]] = [[] for _ in writers]
        for i, outer_value in enumerate(values):
            splits = [w.split_values[region.parameters[i]] for w, region in zip(writers, node.regions, strict=True)]
            forms = ["parts"] if are_in_parts[i] else ["whole"]
            if splits and splits[0].forms_read is not None:
                forms = sorted({form for split in splits for form in split.forms_read or ()})
            for form in forms:
                inputs += self.parts(outer_value) if form == "parts" else (self.complex_value(outer_value),)
                for region, writer, region_parameters in zip(node.regions, writers, parameters, strict=True):
                    value = region.parameters[i]
                    region_parameters += writer.parts(value) if form == "parts" else (writer.complex_value(value),)
        for writer, region_parameters in zip(writers, parameters, strict=True):
            writer.graph.parameters = region_parameters
        return inputs

    def _can_be_in_parts(self, node: Node, position: int) -> bool:
        """Return whether a result, and for a loop its state, can be carried in parts: the shape must be constant."""
        values = [node.results[position]]
        if node.op.traits.repeats:
            values += [node.inputs[position], *(region.parameters[position] for region in node.regions)]
            values.append(node.regions[1].outputs[position])
        else:
            values += [region.outputs[position] for region in node.regions]
        return all(is_ranked_complex(v.type) for v in values) and len({v.shape for v in values}) == 1

    def _new_parameter(self, graph: Graph, value: Value, outer: Value, is_in_parts: bool, is_loop: bool) -> _SplitValue:
        """Return a region's parameter: as parts if `is_in_parts`, or in the forms that the region will use.

        A loop splits a value before its first iteration; other regions split it where they use the parts.
        """
        if not is_ranked_complex(value.type):
            return _SplitValue(Value(graph, value.type, graph.unique_name(value.name)))
        if is_in_parts:
            real, imag = (Value(graph, _part_type(value.type), graph.unique_name(value.name)) for _ in range(2))
            return _SplitValue(None, (real, imag))
        if outer.type != value.type or not (is_loop or self.split_values[outer].parts is not None):
            return _SplitValue(Value(graph, value.type, graph.unique_name(value.name)))
        split_value = _SplitValue(complex_value=None)
        split_value.forms_read = set()
        return split_value


def _region_outputs(writer: _Writer, values: Sequence[Value], are_in_parts: Sequence[bool]) -> list[Value]:
    """Return the outputs of a region, two for each value that is in parts."""
    result: list[Value] = []
    for value, is_in_parts in zip(values, are_in_parts, strict=True):
        result += writer.parts(value) if is_in_parts else (writer.complex_value(value),)
    return result
