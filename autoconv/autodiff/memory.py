"""Conversion of array memory to values (memory SSA): each store defines a new array value, so that gradients can flow.

    before   array_store(array_view(%A, %i, spec=…), %x)
    after    %A_1 = set_item(%A, %x, %i, spec=…)

Arrays that are written in a loop or an arm become its state. The roots of a name are the arrays to which it may refer.
If a loop or an arm binds the name to another array, an integer value has the array's index among the roots. Reads and
writes select the array by the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.autodiff.memory_regions import NodeRegions, Reference, ValueRegion, select_arm
from autoconv.autodiff.memory_views import ViewStep, raise_no_gradient, read_view, write_view
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, append_copy, clone, compute_effects, copy_node
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.analysis.alias import Overlaps
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import INPUT, Rest


def replace_memory(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the graph with tensors in place of arrays, and the positions of the parameters that it writes.

    The final contents of the written parameters are further outputs, in the order of the positions. Raises StagingError
    for graphs that have no form without arrays.
    """
    return _Conversion(graph).run()


class _Conversion:
    """The conversion of one graph.

    `_overlaps` finds the roots of a value. A `region` is the converted graph, or region of a node, that is being built.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._overlaps = Overlaps(graph)

    def run(self) -> tuple[Graph, list[int]]:
        """Return what `replace_memory` returns."""
        region = ValueRegion(Graph(self._graph.name))
        array_positions: list[int] = []
        for position, parameter in enumerate(self._graph.parameters):
            type_ = parameter.type
            if not isinstance(type_, ArrayType):
                region.values[parameter] = region.graph.add_parameter(type_, parameter.name)
                continue
            if type_.shared:
                raise_no_gradient("arguments share memory")
            contents = region.graph.add_parameter(TensorType(type_.dtype, type_.shape), parameter.name)
            region.contents[parameter] = contents
            region.references[parameter] = Reference((parameter,))
            array_positions.append(position)
        initial_contents = dict(region.contents)
        self._convert_nodes(region, self._graph)
        outputs = [self._load_output(region, value) for value in self._graph.outputs]
        final_contents = {i: region.contents[self._graph.parameters[i]] for i in array_positions}
        parameters = self._graph.parameters
        written_positions = [i for i in array_positions if final_contents[i] is not initial_contents[parameters[i]]]
        outputs += [final_contents[i] for i in written_positions]
        region.graph.outputs = outputs
        compute_effects(region.graph)
        return region.graph, written_positions

    def _load_output(self, region: ValueRegion, value: Value) -> Value:
        """Return the converted value; for an array, its current contents."""
        return self._load(region, value) if isinstance(value.type, ArrayType) else region.values[value]

    # ---- nodes: each converter adds the converted form of a node to the region

    def _convert_nodes(self, region: ValueRegion, graph: Graph) -> None:
        """Add the converted nodes of `graph` to the region."""
        for node in graph.nodes:
            region.b = GraphBuilder(region.graph, node.span)
            if node.op.name in _OP_CONVERTERS:
                _OP_CONVERTERS[node.op.name](self, region, node)
            elif node.regions and (_accesses_arrays(node) or node.op.name == "call"):
                if node.op.name not in _REGION_CONVERTERS or node.attributes.get("recursive"):
                    raise_no_gradient("an array is changed in a try, or by a function that calls itself")
                _REGION_CONVERTERS[node.op.name](self, region, node)
            elif any(isinstance(value.type, ArrayType) for value in (*node.inputs, *node.results)):
                raise_no_gradient(f"an array passes through {node.op.name}")
            else:
                regions = [clone(inner, lambda *_: None) for inner in node.regions]
                append_copy(region.graph, node, region.values, regions)

    def _add_view(self, region: ValueRegion, node: Node) -> None:
        """Record the reference of a view: that of the viewed array, with one more step."""
        base = region.references[node.inputs[0]]
        operands = tuple(region.values[value] for value in node.inputs[1:])
        type_: Any = node.inputs[0].type
        step = ViewStep(node.op.name, node.attributes, operands, type_)
        region.references[node.results[0]] = replace(base, steps=(*base.steps, step))

    def _convert_size(self, region: ValueRegion, node: Node) -> None:
        """Convert the size of an array, a weak number, to that of its contents."""
        contents = self._load(region, node.inputs[0])
        size = region.b.dimension(contents, axis=node.attributes["axis"])
        region.values[node.results[0]] = region.b.python_cast(size, dtype=node.results[0].dtype, weak=True)

    def _convert_new_array(self, region: ValueRegion, node: Node) -> None:
        """Set the contents of a new array to the tensor that fills it."""
        (result,) = node.results
        type_: Any = result.type
        if node.op.name == "array_of":
            region.contents[result] = region.values[node.inputs[0]]
        else:
            fill = np.array(node.attributes.get("fill") or 0, type_.dtype.numpy)  # uninitialised elements become 0
            if None in type_.shape:
                region.contents[result] = self._add_filled(region, node, fill)
            else:
                region.contents[result] = region.b.constant(value=np.full(type_.shape, fill), weak=False)
        region.references[result] = Reference((result,))

    def _add_filled(self, region: ValueRegion, node: Node, fill: np.ndarray) -> Value:
        """Return a new array with symbolic sizes, filled with `fill`."""
        operands, b, shape = iter(node.inputs), region.b, node.attributes["shape"]
        sizes = [
            b.cast(region.values[next(operands)], dtype=int64) if size == INPUT else b.constant(value=np.array(size))
            for size in shape
        ]
        return b.fill(b.constant(value=fill, weak=False), b.stack(*sizes, axis=0), shape=node.results[0].shape)

    def _convert_shape_check(self, region: ValueRegion, node: Node) -> None:
        copy_node(region.graph, node, [self._load_output(region, value) for value in node.inputs], [])

    def _convert_load(self, region: ValueRegion, node: Node) -> None:
        region.values[node.results[0]] = self._load(region, node.inputs[0])

    def _convert_store(self, region: ValueRegion, node: Node) -> None:
        x, value = node.inputs[:2]
        spec = node.attributes.get("spec")
        operands = [region.values[operand] for operand in node.inputs[2:]]
        self._store(region, x, region.values[value], spec, operands)

    # ---- contents of arrays

    def _load(self, region: ValueRegion, value: Value) -> Value:
        """Return the current contents of an array or view."""
        reference = region.references[value]
        result = self._root_contents(region, reference)
        for step in reference.steps:
            result = read_view(region.b, result, step)
        return result

    def _root_contents(self, region: ValueRegion, reference: Reference) -> Value:
        """Return the current contents of the array to which a reference refers."""
        contents = [region.contents[root] for root in reference.roots]
        if reference.root_index is None:
            return contents[0]
        return select_arm(region, reference.root_index, [[array_contents] for array_contents in contents], contents)[0]

    def _store(self, region: ValueRegion, array: Value, value: Value, spec: Any, operands: Sequence[Value]) -> None:
        """Update the contents of an array: write the value to `array[spec]`, or if `spec` is None to all of `array`."""
        reference, b = region.references[array], region.b
        dtype = array.dtype
        if value.dtype is not dtype:
            value = b.cast(value, dtype=dtype)
        views = [self._root_contents(region, reference)]
        for step in reference.steps:
            views.append(read_view(b, views[-1], step))
        target = views[-1]
        if spec is not None:
            new_contents = b.set_item(target, value, *operands, spec=spec)
        elif value.shape == target.shape:
            new_contents = value
        else:
            new_contents = b.set_item(target, value, spec=(Rest(),))
        for step, outer_view in zip(reversed(reference.steps), reversed(views[:-1]), strict=True):
            new_contents = write_view(b, outer_view, new_contents, step)
        if reference.root_index is None:
            region.contents[reference.roots[0]] = new_contents
            return
        contents = [region.contents[root] for root in reference.roots]
        arms = [[*contents[:i], new_contents, *contents[i + 1 :]] for i in range(len(contents))]
        contents_after = select_arm(region, reference.root_index, arms, [*contents, new_contents])
        region.contents.update(zip(reference.roots, contents_after, strict=True))

    # ---- regions

    def _inline_call(self, region: ValueRegion, node: Node) -> None:
        """Convert the nodes of the called function in place of the call."""
        (body,) = node.regions
        for parameter, value in zip(body.parameters, node.inputs, strict=True):
            self._bind(region, parameter, value)
        self._convert_nodes(region, body)
        for result, value in zip(node.results, body.outputs, strict=True):
            self._bind(region, result, value)

    def _bind(self, region: ValueRegion, parameter: Value, value: Value) -> None:
        """Give a parameter or result of a call the converted form of `value`."""
        if isinstance(value.type, ArrayType):
            region.references[parameter] = region.references[value]
        else:
            region.values[parameter] = region.values[value]

    def _written_roots(self, node: Node, region: ValueRegion) -> list[Value]:
        """Return the enclosing region's arrays that the node's regions write."""
        arrays: dict[Value, None] = {}
        for inner in (inner for graph in node.regions for inner in graph.walk()):
            if inner.op.traits.stores_into is not None:
                for root in self._overlaps.roots(inner.inputs[0]):
                    if root in region.contents:
                        arrays[root] = None
        return list(arrays)

    def _convert_cond(self, region: ValueRegion, node: Node) -> None:
        """Convert a `cond`: the results are values, indices of arrays in their roots, and contents of written roots."""
        written_roots = self._written_roots(node, region)
        value_positions = [i for i, value in enumerate(node.results) if not isinstance(value.type, ArrayType)]
        array_positions = [i for i, value in enumerate(node.results) if isinstance(value.type, ArrayType)]
        roots = {i: self._roots_of(node.results[i], region) for i in array_positions}
        node_regions = NodeRegions(region)
        for arm in node.regions:
            converted_arm = node_regions.add_region(arm.name)
            for parameter, value in zip(arm.parameters, node.inputs[1:], strict=True):
                node_regions.bind(converted_arm, parameter, value)
            self._convert_nodes(converted_arm, arm)
            outputs = [converted_arm.values[arm.outputs[i]] for i in value_positions]
            outputs += [self._root_index(converted_arm, arm.outputs[i], roots[i]) for i in array_positions]
            converted_arm.graph.outputs = [*outputs, *(converted_arm.contents[root] for root in written_roots)]
        cond = node_regions.record([region.values[node.inputs[0]]], node, {})
        results = list(cond.results)
        for i in value_positions:
            region.values[node.results[i]] = results.pop(0)
        for i in array_positions:
            root_index = results.pop(0)
            region.references[node.results[i]] = Reference(roots[i], root_index if len(roots[i]) > 1 else None)
        region.contents.update(zip(written_roots, results, strict=True))

    def _convert_while(self, region: ValueRegion, node: Node) -> None:
        """Convert a loop; `_set_state` describes the state of the converted loop."""
        state_count = state_size(node)
        written_roots = self._written_roots(node, region)
        if any(inner.op.traits.stores_into is not None for inner in node.regions[0].walk()):
            raise_no_gradient("an array is changed by the test of a loop")
        value_positions = [i for i in range(state_count) if not isinstance(node.inputs[i].type, ArrayType)]
        array_positions = [i for i in range(state_count) if i not in value_positions]
        roots = {i: self._roots_of(node.results[i], region) for i in array_positions}
        node_regions = NodeRegions(region)
        initial_state = [region.values[node.inputs[i]] for i in value_positions]
        initial_state += [self._root_index(region, node.inputs[i], roots[i]) for i in array_positions]
        initial_state += [region.contents[root] for root in written_roots]
        types = [node.results[i].type for i in value_positions]
        types += [value.type for value in initial_state[len(value_positions) :]]
        for graph in node.regions:
            inner = node_regions.add_region(graph.name)
            state = iter([inner.graph.add_parameter(type_, "state") for type_ in types])
            self._set_state(inner, graph.parameters, state, value_positions, roots, written_roots)
            for parameter, value in zip(graph.parameters[state_count:], node.inputs[state_count:], strict=True):
                node_regions.bind(inner, parameter, value)
            self._convert_nodes(inner, graph)
            if graph is node.regions[0]:
                inner.graph.outputs = [inner.values[graph.outputs[0]]]
            else:
                outputs = [inner.values[graph.outputs[i]] for i in value_positions]
                outputs += [self._root_index(inner, graph.outputs[i], roots[i]) for i in array_positions]
                inner.graph.outputs = [*outputs, *(inner.contents[root] for root in written_roots)]
        loop = node_regions.record(initial_state, node, {"state": len(initial_state)}, types)
        self._set_state(region, node.results, iter(loop.results), value_positions, roots, written_roots)

    def _set_state(
        self, region: ValueRegion, values: Sequence[Value], state: Iterator[Value], value_positions: Sequence[int],
        roots: Mapping[int, tuple[Value, ...]], written_roots: Sequence[Value],
    ) -> None:  # fmt: skip
        """Set the converted `values` of a loop's state, or of its results, to those in `state`.

        In this order, `state` has the values at `value_positions`, the index of each array among its `roots` (by the
        array's position), and the contents of `written_roots`.
        """
        for i in value_positions:
            region.values[values[i]] = next(state)
        for i, array_roots in roots.items():
            root_index = next(state)
            region.references[values[i]] = Reference(array_roots, root_index if len(array_roots) > 1 else None)
        for root in written_roots:
            region.contents[root] = next(state)

    def _roots_of(self, value: Value, region: ValueRegion) -> tuple[Value, ...]:
        """Return the arrays that a result of a node with regions may be, in the order of `region.contents`.

        An array that the node's regions make is refused: it has no contents outside of them.
        """
        array_roots = self._overlaps.roots(value)
        if not array_roots or not all(root in region.contents for root in array_roots):
            raise_no_gradient("an array created by a loop or a branch replaces another one")
        known_roots = list(region.contents)
        return tuple(sorted(array_roots, key=known_roots.index))

    def _root_index(self, region: ValueRegion, value: Value, roots: tuple[Value, ...]) -> Value:
        """Return the index in `roots` of the array to which a value refers."""
        reference = region.references[value]
        if reference.steps or not set(reference.roots) <= set(roots):
            raise_no_gradient("a view of an array replaces another array")
        positions = [roots.index(root) for root in reference.roots]
        constants = [region.b.constant(value=np.array(position), weak=True) for position in positions]
        if reference.root_index is None:
            return constants[0]
        return select_arm(region, reference.root_index, [[constant] for constant in constants], constants)[0]


def _accesses_arrays(node: Node) -> bool:
    """Return whether an array is an operand or a result of the node, or of a node in its regions."""
    return any(
        isinstance(value.type, ArrayType)
        for graph in node.regions
        for inner in graph.walk()
        for value in (*inner.inputs, *inner.results)
    ) or any(isinstance(value.type, ArrayType) for value in (*node.inputs, *node.results))


_OP_CONVERTERS: dict[str, Any] = {
    "array_view": _Conversion._add_view, "array_strided": _Conversion._add_view,
    "array_transpose": _Conversion._add_view,
    "array_diagonal": _Conversion._add_view, "array_windows": _Conversion._add_view,
    "array_part": _Conversion._add_view,
    "array_size": _Conversion._convert_size, "array_new": _Conversion._convert_new_array,
    "array_of": _Conversion._convert_new_array,
    "numpy_shapes": _Conversion._convert_shape_check, "array_load": _Conversion._convert_load,
    "array_store": _Conversion._convert_store,
    "array_set": _Conversion._convert_store,
}  # fmt: skip
_REGION_CONVERTERS: dict[str, Any] = {
    "call": _Conversion._inline_call, "cond": _Conversion._convert_cond, "while": _Conversion._convert_while
}
