"""Move transposes below the nodes that read them, where these nodes can compute on the untransposed operands.

    before   graph f(%x: float64[300,200]) {
               %transpose = transpose(%x, perm=None): float64[200,300]
               %square = square(%transpose): float64[200,300]
               %reduce_sum = reduce_sum(%square, axis=(1,), keepdims=False): float64[200]
               return %square, %reduce_sum
             }
    after    the square of %x and its sum along axis 0; the transposition of the square is an output

A loop over a transposed operand strides through its memory, or needs a copy. After the rewrite, loops read contiguous
memory. NumPy's results keep the memory order of their operands as well (see `take_transposed_outputs`).

A load of an array whose elements lie in another order than its dimensions, by columns for example, is the transpose of
a load in memory order. Where that transpose reaches a node that cannot compute on the untransposed operand, the node
reads the array as before.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_dense
from autoconv.backends.llvm.legalize.dead_nodes import remove_dead_nodes
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops import OPS
from autoconv.ops.index_spec import At, Rest, Slice, Spec, align

_LOAD = "array_load"
_AXIS_OPS = frozenset({"cumsum", "cumprod", "concat", "reverse"})
# Lowering classes of nodes that make arrays and keep no reference to their operands.
_ALLOCATING_CLASSES = frozenset({"element", "reduce", "matmul"})
Perm = tuple[int, ...]  # a permutation of dimensions: result dimension i is dimension perm[i] of the operand


def sink_transposes(graph: Graph) -> Graph:
    """Return the graph, regions included, with transposes as late as possible."""
    if not any(_perm_of(value) for node in graph.walk() for value in node.results) and not any(
        map(_memory_order, graph.walk())
    ):
        return graph
    loads: dict[Value, Value] = {}
    copy = clone(graph, functools.partial(_sink, loads))
    for subgraph in copy.subgraphs():
        for node in subgraph.nodes:
            node.inputs = tuple(loads.get(value, value) for value in node.inputs)
        subgraph.outputs = [loads.get(value, value) for value in subgraph.outputs]
        read_values = {*subgraph.outputs, *(value for node in subgraph.nodes for value in node.inputs)}
        subgraph.nodes = [node for node in subgraph.nodes if node.op.name != _LOAD or node.results[0] in read_values]
        remove_dead_nodes(subgraph)
    return copy


def _sink(loads: dict[Value, Value], copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
    """Return the results of a node that is computed on untransposed operands; None if it is copied as it is.

    `loads` maps transposes of loads in memory order to the loads that they replace.
    """
    memory_order = _memory_order(node)
    if memory_order:
        view = copy.add(OPS["array_transpose"], inputs, {"perm": memory_order}, span=node.span).results[0]
        load = copy.add(node.op, [view], node.attributes, span=node.span).results[0]
        transposed = _transpose(copy, node, load, _inverse(memory_order))
        loads[transposed] = copy.add_replacement(node, node.op, inputs, node.attributes).results[0]
        return [transposed]
    if node.op.name == "array_store" and (store_perm := _perm_of(inputs[1])) and inputs[1].node is not None:
        if getattr(inputs[0].type, "rank", None) != len(store_perm):
            return None
        view = copy.add(OPS["array_transpose"], inputs[:1], {"perm": _inverse(store_perm)}, span=node.span).results[0]
        return copy.add_replacement(node, node.op, [view, inputs[1].node.inputs[0]], node.attributes).results
    perm = next(filter(None, map(_perm_of, inputs)), None)
    if perm is None or node.regions or len(node.results) != 1 or node.effects is not Effects.PURE:
        return None
    result = node.results[0].type
    is_registered = OPS.get(node.op.name) is node.op  # ops of this backend have no rule for an untransposed result
    if not isinstance(result, TensorType) or not is_registered:
        return None
    if result.dtype.is_complex:  # loops compute the parts, and join them in the memory order of the result
        return None
    if node.op.name in ("transpose", "matrix_transpose"):
        return _merge_transposes(copy, node, inputs[0], perm)
    replacement = None
    if node.op.traits.elementwise or _generates_elements(node):
        replacement = _sink_below_elementwise(copy, node, inputs, perm)
    elif node.op.traits.reduction is not None and "axis" in node.attributes:
        replacement = _sink_below_reduction(node, inputs, perm)
    elif node.op.name in _AXIS_OPS:
        replacement = _sink_below_axis_op(node, inputs, perm)
    elif node.op.name == "get_item":
        replacement = _sink_below_slice(node, inputs, perm)
    elif node.op.name in ("set_item", "add_at_item"):
        replacement = _sink_below_update(copy, node, inputs, perm)
    if replacement is None:
        return None
    operands, attributes, result_perm = replacement
    (untransposed_result,) = copy.add_replacement(node, node.op, operands, attributes).results
    return [_transpose(copy, node, untransposed_result, result_perm)]


def take_transposed_outputs(graph: Graph) -> frozenset[int]:
    """Replace outputs that reverse the dimensions of a new array by this array; return their positions.

    Nothing else may refer to the array: the entry transposes it in place. The result is in column order, as NumPy's is.
    """
    sources: dict[int, Value] = {}
    for i, value in enumerate(graph.outputs):
        perm, node = _perm_of(value), value.node
        is_reversal = perm is not None and perm == _reverse(len(perm))
        if node is not None and is_reversal and graph.outputs.count(value) == 1:
            sources[i] = node.inputs[0]
    readers: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in dict.fromkeys(node.inputs):
            readers.setdefault(value, []).append(node)
    arrays = [value for i, value in enumerate(graph.outputs) if i not in sources] + list(sources.values())

    def is_replaceable(position: int, array: Value) -> bool:
        """Return whether the array is new, and nothing but the output keeps a reference to it."""
        if arrays.count(array) != 1 or array.node is None or not is_dense(array.type):
            return False
        other_readers = [reader for reader in readers[array] if reader is not graph.outputs[position].node]
        return all(lowering_class(node) in _ALLOCATING_CLASSES for node in (array.node, *other_readers))

    positions = frozenset(i for i, value in sources.items() if is_replaceable(i, value))
    if positions:
        graph.outputs = [sources[i] if i in positions else value for i, value in enumerate(graph.outputs)]
        remove_dead_nodes(graph)
    return positions


def _memory_order(node: Node) -> Perm | None:
    """Return the dimensions of a loaded array by descending strides; None where that is their order, or is unknown."""
    array = node.inputs[0].type if node.op.name == _LOAD else None
    if not isinstance(array, ArrayType) or not all(isinstance(size, int) and size > 1 for size in array.shape):
        return None
    strides = [stride for stride in array.strides if stride is not None and stride > 0]
    if len(strides) < array.rank or array.dtype.is_complex:
        return None
    order = tuple(sorted(range(array.rank), key=lambda axis: -strides[axis]))
    return None if order == tuple(range(array.rank)) else order


def _generates_elements(node: Node) -> bool:
    """Return whether the op makes an array in the shape of its operand, with elements independent of their position."""
    traits = node.op.traits
    return len(node.inputs) == 1 and traits.shape_only == (0,) and traits.generates and not traits.sizes


class Replacement(NamedTuple):
    """The operands and attributes of an op on untransposed operands, and the permutation of its result.

    Functions return None in its place for a node that has to read the transposed operand.
    """

    operands: list[Value]
    attributes: dict[str, Any]
    perm: Perm


def _perm_of(value: Value) -> Perm | None:
    """Return the permutation of the transpose that computes the value; None for other ops and for the identity."""
    node = value.node
    if node is None or node.op.name not in ("transpose", "matrix_transpose"):
        return None
    rank = getattr(value.type, "rank", None)
    if rank is None or rank < 2:
        return None
    if node.op.name == "matrix_transpose":
        return (*range(rank - 2), rank - 1, rank - 2)
    perm = node.attributes.get("perm")
    axes = _reverse(rank) if perm is None else tuple(int(axis) % rank for axis in perm)
    return None if axes == tuple(range(rank)) else axes


def _inverse(perm: Perm) -> Perm:
    """Return the permutation that undoes another one."""
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _perm_of_kept(axes: Sequence[int]) -> Perm:
    """Return the permutation of a result that keeps these axes of an untransposed operand, in their transposed order.

    Each axis becomes its position among those that are kept: (3, 0, 2) becomes (2, 0, 1).
    """
    return tuple(sorted(axes).index(axis) for axis in axes)


def _reverse(rank: int) -> Perm:
    """Return the permutation that reverses the dimensions."""
    return tuple(range(rank))[::-1]


def _transpose(copy: Graph, node: Node, x: Value, perm: Perm) -> Value:
    """Append a transposition, unless it is the identity, with the span of `node`."""
    if perm == tuple(range(len(perm))):
        return x
    perm_attribute = None if perm == _reverse(len(perm)) else perm
    return copy.add(OPS["transpose"], [x], {"perm": perm_attribute}, span=node.span).results[0]


def _merge_transposes(copy: Graph, node: Node, x: Value, first_perm: Perm) -> list[Value] | None:
    """Replace the transpose of a transpose by one transposition."""
    second_perm = _perm_of(node.results[0])
    if second_perm is None or x.node is None:
        return None
    return [_transpose(copy, node, x.node.inputs[0], tuple(first_perm[axis] for axis in second_perm))]


def _sink_below_elementwise(copy: Graph, node: Node, inputs: Sequence[Value], perm: Perm) -> Replacement | None:
    """Return an elementwise op on untransposed operands, and the permutation of its result."""
    if getattr(node.results[0].type, "rank", None) != len(perm):
        return None
    operands = [_untransposed_operand(copy, node, value, perm) for value in inputs]
    values = [value for value in operands if value is not None]
    return Replacement(values, dict(node.attributes), perm) if len(values) == len(operands) else None


def _untransposed_operand(copy: Graph, node: Node, value: Value, perm: Perm) -> Value | None:
    """Return the operand whose transposition by `perm` is `value`; None if that needs a copy of an array."""
    value_perm = _perm_of(value)
    if value_perm == perm and value.node is not None:
        return value.node.inputs[0]
    shape = getattr(value.type, "shape", None)
    if value_perm is not None or shape is None:
        return None
    if not shape:
        return value
    if not all(isinstance(size, int) for size in shape):
        return None
    padded_shape = (*(1,) * (len(perm) - len(shape)), *shape)
    new_shape = [1] * len(perm)
    for axis, size in zip(perm, padded_shape, strict=True):
        new_shape[axis] = size
    if sum(size != 1 for size in shape) <= 1:
        return copy.add(OPS["reshape"], [value], {"shape": tuple(new_shape)}, span=node.span).results[0]
    if value.node is not None and value.node.op.name == "fill":
        return copy.add(OPS["fill"], value.node.inputs, {"shape": tuple(new_shape)}, span=node.span).results[0]
    if value.node is not None and value.node.op.name == "constant":
        array = np.transpose(np.reshape(value.node.attributes["value"], padded_shape), _inverse(perm))
        attributes = {**value.node.attributes, "value": np.ascontiguousarray(array)}
        return copy.add(OPS["constant"], [], attributes, span=node.span).results[0]
    return None


def _sink_below_reduction(node: Node, inputs: Sequence[Value], perm: Perm) -> Replacement | None:
    """Return a reduction of the untransposed operand, and the permutation of its result."""
    if len(inputs) != 1 or inputs[0].node is None:
        return None
    axis_attribute, rank = node.attributes["axis"], len(perm)
    axes = (
        range(rank)
        if axis_attribute is None
        else [axis % rank for axis in ((axis_attribute,) if isinstance(axis_attribute, int) else axis_attribute)]
    )
    if node.attributes.get("keepdims"):
        result_perm = perm
    else:
        kept_axes = [axis for position, axis in enumerate(perm) if position not in axes]
        result_perm = _perm_of_kept(kept_axes)
    source_axes = None if axis_attribute is None else tuple(sorted(perm[axis] for axis in axes))
    return Replacement([inputs[0].node.inputs[0]], {**node.attributes, "axis": source_axes}, result_perm)


def _sink_below_axis_op(node: Node, inputs: Sequence[Value], perm: Perm) -> Replacement | None:
    """Return an op along an axis on untransposed operands, and the permutation of its result."""
    operands = [value.node.inputs[0] for value in inputs if _perm_of(value) == perm and value.node is not None]
    axis = node.attributes.get("axis")
    if len(operands) < len(inputs) or axis is None:
        return None
    rank = len(perm)
    source_axis = perm[axis % rank] if isinstance(axis, int) else tuple(sorted(perm[a % rank] for a in axis))
    return Replacement(operands, {**node.attributes, "axis": source_axis}, perm)


def _sink_below_slice(node: Node, inputs: Sequence[Value], perm: Perm) -> Replacement | None:
    """Apply constant positions and slices to the operand of the transpose."""
    spec, source = node.attributes["spec"], inputs[0].node
    if source is None or len(inputs) != 1 or not all(isinstance(entry, (At, Slice, Rest)) for entry in spec):
        return None
    entry_by_axis = _entry_by_axis(spec, perm)
    axes = [axis for axis in perm if not isinstance(entry_by_axis[axis], At)]  # the axes that the result keeps
    result_perm = _perm_of_kept(axes)
    return Replacement([source.inputs[0]], {**node.attributes, "spec": tuple(entry_by_axis)}, result_perm)


def _sink_below_update(copy: Graph, node: Node, inputs: Sequence[Value], perm: Perm) -> Replacement | None:
    """Return an update of slices of an untransposed operand, and the permutation of its result."""
    spec = node.attributes["spec"]
    if len(inputs) != 2 or not all(isinstance(entry, (Slice, Rest)) for entry in spec):
        return None
    replacement = _sink_below_elementwise(copy, node, inputs, perm)
    if replacement is None:
        return None
    attributes = {**replacement.attributes, "spec": tuple(_entry_by_axis(spec, perm))}
    return replacement._replace(attributes=attributes)


def _entry_by_axis(spec: Spec, perm: Perm) -> list[Any]:
    """Return the entries of an index of a transposed operand by the axes of the untransposed one."""
    entry_by_axis: list[Any] = [Slice()] * len(perm)
    for entry, _, axis, _ in align(spec, len(perm)):
        if not isinstance(entry, Rest):
            entry_by_axis[perm[axis]] = entry
    return entry_by_axis
