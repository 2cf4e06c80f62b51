"""Mark loads whose readers may read the array in place: its elements do not change until the last reader has run.

    before   %x = array_load(%view): float64[size0,size0]
             %sums = reduce_sum(%x, axis=(1,))
    after    %x = array_load(%view, lent=True): float64[size0,size0]

Loads of known sizes are marked only where the array is strided or a view, or something writes it: a dense argument
that is never written is not copied anyway. A load is marked if nothing between it and its last reader writes memory
that may overlap. The plan reads in place where all readers of a marked load are loops, or products that take strides.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.representation import is_dense, is_open
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.ops.analysis.alias import DISJOINT, Overlaps
from autoconv.ops.record import Op

LOAD = "array_load"


def mark_lent_loads(graph: Graph) -> Graph:
    """Return the graph with marked loads, regions included."""
    if not any(map(_is_candidate, graph.walk())):
        return graph
    copy = clone(graph, lambda *_: None)
    overlaps = Overlaps(copy)
    writers = [node for node in copy.walk() if node.effects.must_run]
    for subgraph in copy.subgraphs():
        _mark_loads(subgraph, overlaps, writers)
    return copy


def _is_candidate(node: Node) -> bool:
    """Return whether a node loads a dense array that is no scalar."""
    type_ = node.results[0].type if node.op.name == LOAD else None
    return type_ is not None and (is_open(type_) or (is_dense(type_) and bool(type_.shape)))


def _mark_loads(graph: Graph, overlaps: Overlaps, writers: Sequence[Node]) -> None:
    """Mark loads of one graph or region in place; `writers` are the nodes of all graphs that may write memory."""
    positions = {node: i for i, node in enumerate(graph.nodes)}
    readers: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            readers.setdefault(value, []).append(node)
    outputs = set(graph.outputs)
    for load in graph.nodes:
        if not _is_candidate(load):
            continue
        array = load.inputs[0]
        is_dense_array = not is_open(load.results[0].type) and array.type.is_dense  # type: ignore[union-attr]
        is_view = array.node is not None and array.node.op.traits.view
        if is_dense_array and not is_view and not any(_may_write(writer, array, overlaps) for writer in writers):
            continue
        end = _last_reader_position(load, readers, outputs, positions)
        if end is None:
            continue
        if not any(_may_write(node, array, overlaps) for node in graph.nodes[positions[load] + 1 : end]):
            load.attributes = {**load.attributes, "lent": True}


def _last_reader_position(
    load: Node, readers: dict[Value, list[Node]], outputs: set[Value], positions: dict[Node, int]
) -> int | None:
    """Return the position of the last node that reads the elements, views included; None for an output."""
    last_position, worklist = positions[load], [load.results[0]]
    while worklist:
        value = worklist.pop()
        if value in outputs:
            return None
        for node in readers.get(value, ()):
            if node.regions:
                return None
            last_position = max(last_position, positions[node])
            if _may_be_view(node.op):
                worklist += node.results
    return last_position


def _may_be_view(op: Op) -> bool:
    """Return whether a result may be a view of the operand, so that its readers read the operand's elements."""
    traits = op.traits
    makes_new_array = traits.elementwise or traits.reduction is not None
    return traits.view or traits.may_alias or traits.same_order or not makes_new_array


def _may_write(node: Node, array: Value, overlaps: Overlaps) -> bool:
    """Return whether the node may write to the memory of the array."""
    if not node.effects.must_run or node.op.traits.allocates:
        return False
    target = node.op.traits.stores_into
    return target is None or overlaps.between(node.inputs[target], array) != DISJOINT
