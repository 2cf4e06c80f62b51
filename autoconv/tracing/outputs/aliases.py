"""Alias analysis of outputs that may share memory with array arguments, as NumPy's views do.

The analysis goes forward, to a fixed point in loops. A value is a possible alias if it may be one of the arrays, or a
view of a possible alias. Results of control flow other than branches and loops count as aliases if an operand is one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from typing import Any

import numpy as np

from autoconv.backends.interpreter import compile_graph, node_function
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size, without_identities
from autoconv.graph.types import TensorType
from autoconv.ops.index_spec import is_basic
from autoconv.ops.linalg.products import keeps_labels


def aliased_outputs(graph: Graph, arrays: Collection[Value]) -> set[int]:
    """Return the positions of outputs that may be one of `arrays`, values of the graph, or a view of one."""
    aliases: set[Value] = set(arrays)
    for node in graph.nodes:
        for position in _aliased_results(node, aliases):
            if _may_have_dimensions(node.results[position]):
                aliases.add(node.results[position])
    return {position for position, value in enumerate(graph.outputs) if value in aliases}


def returns_complex_parts(graph: Graph) -> bool:
    """Return whether an output is the real or imaginary part of an array traced as memory; NumPy returns a view."""
    return bool(aliased_outputs(graph, _complex_parts(graph)))


def _complex_parts(graph: Graph) -> set[Value]:
    """Return the values that are real or imaginary parts of loaded arrays, regions included."""
    loaded_arrays = {result for node in graph.nodes if node.op.name == "array_load" for result in node.results}
    parts = {node.results[0] for node in graph.nodes if _takes_complex_part(node) and node.inputs[0] in loaded_arrays}
    for node in graph.nodes:
        for region in node.regions:
            positions = aliased_outputs(region, _complex_parts(region))
            parts.update(result for position, result in enumerate(node.results) if position in positions)
    return parts


def outputs_share_memory(graph: Graph) -> bool:
    """Return whether two outputs may be overlapping views of one array that the graph creates."""
    outputs = {without_identities(value) for value in graph.outputs if _may_have_dimensions(value)}
    if len(outputs) < 2:
        return False
    views_by_base: dict[Value, list[Value]] = {}
    for value in outputs:
        views_by_base.setdefault(_base_array(value), []).append(value)
    if any(len(views) > 1 and _may_overlap(base, views) for base, views in views_by_base.items()):
        return True
    if not any(node.regions for node in graph.nodes):
        return False
    # A region may return a view too: `_base_array` ends at nodes with regions.
    values = [without_identities(value) for value in graph.outputs]
    return any(
        not {values[position] for position in aliased_outputs(graph, {base})} <= set(views)
        for base, views in views_by_base.items()
    )


def _may_overlap(base: Value, views: list[Value]) -> bool:
    """Return whether views of an array overlap, tested on an uninitialised array of bytes.

    The result is true if the shape is unknown or large, or a view cannot be computed.
    """
    shape: Any = base.shape
    if shape is None or not all(isinstance(size, int) for size in shape) or math.prod(shape) > _MAX_TESTED_ELEMENTS:
        return True
    array = np.empty(shape, np.int8)
    arrays: dict[Value, np.ndarray | None] = {base: array}
    view_arrays = [_apply_view(view, arrays) for view in views]
    return any(
        first is None or second is None or np.shares_memory(first, second)
        for first, second in itertools.combinations(view_arrays, 2)
    )


_MAX_TESTED_ELEMENTS = 1 << 28  # elements of an array that is allocated for the test, a byte each


def _apply_view(value: Value, arrays: dict[Value, np.ndarray | None]) -> np.ndarray | None:
    """Return the array of `value`, made by views from an array that `arrays` has, and add it there.

    An array that a kernel copies, such as a reshaped one with steps, is the same in all views of it. Return None if an
    operand is known only at run time.
    """
    if value not in arrays:
        arrays[value] = None
        node = value.node
        assert node is not None
        # The kernels of these views may copy, so that the test would not show that they share memory.
        if len(node.inputs) == 1 and node.op.name not in ("broadcast_to", "diag_part", "einsum", "numpy_read_only"):
            viewed_array = _apply_view(node.inputs[0], arrays)
            if viewed_array is not None:
                view = node_function(node, compile_graph)(viewed_array)
                arrays[value] = view[value.index] if type(view) in (tuple, list) else view
    return arrays[value]


def _base_array(value: Value) -> Value:
    """Return the array that a chain of view ops starts from."""
    while (node := value.node) is not None and not node.regions and _aliased_results(node, set(node.inputs[:1])):
        value = node.inputs[0]
    return value


def _aliased_results(node: Node, aliases: set[Value]) -> set[int]:
    """Return the positions of a node's results that may be one of `aliases`, or a view of one."""
    if node.op.name == "get_item" and not is_basic(node.attributes["spec"]):
        return set()  # advanced indexing copies
    if node.op.traits.view or node.op.name in ("broadcast_to", "diag_part") or _is_view_of_operand(node):
        return set(range(len(node.results))) if node.inputs[0] in aliases else set()
    if node.op.traits.selects:
        return _aliased_region_results(node, node.inputs[1:], aliases, 0)
    if node.op.traits.repeats:
        return _aliased_region_results(node, node.inputs, aliases, state_size(node))
    return set(range(len(node.results))) if node.op.traits.control and aliases & set(node.inputs) else set()


def _is_view_of_operand(node: Node) -> bool:
    """Return whether NumPy returns a view where the node's kernel makes new values."""
    if node.op.name == "einsum":
        return len(node.inputs) == 1 and keeps_labels(node.attributes["equation"])
    return _takes_complex_part(node)


def _takes_complex_part(node: Node) -> bool:
    """Return whether the node is the real or imaginary part of complex numbers, a view of them in NumPy."""
    type_ = node.inputs[0].type if node.op.name in ("real", "imag") else None
    return isinstance(type_, TensorType) and type_.dtype.is_complex


def _aliased_region_results(node: Node, inputs: tuple[Value, ...], aliases: set[Value], state_count: int) -> set[int]:
    """Return the positions of the results that may alias, for a node whose regions take `inputs`.

    The first `state_count` inputs are a loop's state; a branch has none.
    """
    result = {position for position in range(state_count) if inputs[position] in aliases}
    while True:
        previous_result = set(result)
        for region in node.regions if not state_count else node.regions[1:]:  # a loop's first region is its condition
            pairs = zip(region.parameters, inputs, strict=True)
            inner_aliases = {parameter for parameter, outer in pairs if outer in aliases}
            inner_aliases |= {region.parameters[position] for position in result if state_count}
            result |= aliased_outputs(region, inner_aliases)
        if result == previous_result:
            return result


def _may_have_dimensions(value: Value) -> bool:
    """Return whether the value is an array that may have dimensions.

    Without dimensions, it is a NumPy scalar, which shares no memory.
    """
    return isinstance(value.type, TensorType) and value.shape != ()
