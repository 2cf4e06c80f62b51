"""Select elements of sorted rows without sorting them: extremes, medians, quantiles.

    before   %sorted = sort(%x, axis=-1): float64[1000]; %middle = gather(%sorted, %places, axis=0): float64[2]
    after    %middle = order_statistics(%x, %places, axis=0): float64[2]

Where the result of a sort is read at few positions only, a selection takes linear time. Short rows of known length are
sorted, which is as quick, unless only their first or last elements are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.backends.llvm.legalize.computed_size_rules import rule
from autoconv.backends.llvm.legalize.computed_sizes import SizeRewriter
from autoconv.backends.llvm.legalize.dead_nodes import remove_dead_nodes
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import INPUT, At
from autoconv.ops.record import Op, no_gradient
from autoconv.ops.rules import normalised_axis

_MAX_SORTED_ROW = 256  # most elements of a row of known length that is sorted
_MAX_READERS = 2  # most readers of the result of a sort
_MAX_POSITIONS = 8  # most positions that one reader reads


def select_order_statistics(graph: Graph) -> Graph:
    """Return the graph, regions included, with selections in the place of sorts that are read at few positions."""
    counts = _ReaderCounts(Counter(), Counter(), Counter())
    for subgraph in graph.subgraphs():
        counts.readers.update(subgraph.outputs)
        for node in subgraph.nodes:
            counts.readers.update(node.inputs)
            counts.picks.update(node.inputs[:1] if _is_pick(node) else ())
            counts.extreme_picks.update(node.inputs[:1] if _is_pick(node) and _is_extreme(node) else ())
    if not any(_is_selectable(value, counts) for value in counts.picks):
        return graph

    def rewrite(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace a pick from sorted rows by the selection of the element in the unsorted rows."""
        if not _is_pick(node) or not _is_selectable(node.inputs[0], counts):
            return None
        sort = inputs[0].node
        assert sort is not None
        positions = inputs[1] if len(inputs) > 1 else _constant_position(copy, node)
        axis = normalised_axis(sort.attributes["axis"], len(sort.results[0].shape or ()))
        statistics = copy.add(
            ORDER_STATISTICS, [sort.inputs[0], positions], {"axis": axis}, types=[node.results[0].type], span=node.span
        )
        return statistics.results

    copy = clone(graph, rewrite)
    for subgraph in copy.subgraphs():
        remove_dead_nodes(subgraph)
    return copy


class _ReaderCounts(NamedTuple):
    """The numbers of reads of each value: in all, at a few positions of sorted rows, and at their first or last one."""

    readers: Counter[Value]
    picks: Counter[Value]
    extreme_picks: Counter[Value]


def _is_selectable(value: Value, counts: _ReaderCounts) -> bool:
    """Return whether the value is the result of a sort, and all its readers read few positions.

    Short rows are selected from only if all read first or last elements, which a scan finds in rows of any length.
    """
    node = value.node
    if node is None or node.op.name != "sort" or node.attributes.get("descending"):
        return False
    dtype, shape = value.dtype, value.shape
    is_selectable_dtype = is_native(dtype) and not (is_narrow(dtype) or dtype.is_bool or dtype.numpy.kind == "V")
    if shape is None or not is_selectable_dtype:
        return False
    size = shape[normalised_axis(node.attributes["axis"], len(shape))]
    if isinstance(size, int) and size <= _MAX_SORTED_ROW and counts.extreme_picks[value] < counts.picks[value]:
        return False
    has_few_readers = counts.readers[value] == counts.picks[value] <= _MAX_READERS
    return has_few_readers and current_target().has_libraries


def _is_pick(node: Node) -> bool:
    """Return whether a node reads a few positions along the axis by which its first operand was sorted."""
    source = node.inputs[0].node if node.inputs else None
    if source is None or source.op.name != "sort":
        return False
    shape = node.inputs[0].shape
    if shape is None:
        return False
    axis = normalised_axis(source.attributes["axis"], len(shape))
    if node.op.name == "get_item":
        spec = node.attributes["spec"]
        entry = spec[0] if len(spec) == len(shape) == 1 else None
        return isinstance(entry, At) and (entry.index == INPUT or _is_within(entry.index, shape[0]))
    if node.op.name != "gather" or node.attributes.get("batch_dims"):
        return False
    positions = node.inputs[1]
    if positions.shape is None or len(positions.shape) > 1 or not positions.dtype.is_integer:
        return False
    count = positions.shape[0] if positions.shape else 1
    has_few_positions = isinstance(count, int) and 0 < count <= _MAX_POSITIONS
    return has_few_positions and normalised_axis(node.attributes["axis"], len(shape)) == axis


def _is_extreme(pick: Node) -> bool:
    """Return whether a node reads the first or last element of a sorted vector by a constant index."""
    return pick.op.name == "get_item" and pick.attributes["spec"][0].index in (0, -1)


def _is_within(position: Any, size: Any) -> bool:
    """Return whether a position is in range, or the size is open."""
    return not isinstance(size, int) or -size <= position < size


def _constant_position(copy: Graph, node: Node) -> Value:
    """Return the position that a node reads as a constant: -1 for the last one, which a scan finds, else as it is."""
    (entry,), (size,) = node.attributes["spec"], node.inputs[0].shape or (0,)
    is_last = isinstance(size, int) and entry.index in (-1, size - 1) and size > 1
    index = -1 if is_last else entry.index
    return GraphBuilder(copy, node.span).constant(value=np.asarray(index, np.int64))  # type: ignore[no-any-return]


@rule("order_statistics")
def _name_result_sizes(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Add the node, whose result has the sizes of the positions in place of the axis; None if it is not native."""
    x, positions = inputs
    if not is_dense(x.type) or x.shape is None or not (is_scalar(positions.type) or is_dense(positions.type)):
        return None
    axis = node.attributes["axis"]
    return rewriter.add_with_shape(node, inputs, (*x.shape[:axis], *(positions.shape or ()), *x.shape[axis + 1 :]))


def _take_sorted(x: Any, positions: Any, *, axis: int) -> Any:
    """Take positions of the sorted rows; those out of range raise NumPy's IndexError."""
    ordered = np.sort(x, axis=axis, kind="stable")
    if ordered.ndim == 1 and np.ndim(positions) == 0:
        return np.asarray(ordered[int(positions)])
    return np.take(ordered, positions, axis=axis)


def _type_of_result(x: TensorType, positions: TensorType, *, axis: int) -> TensorType:
    """Return the type of `x` with the shape of the positions in place of the axis."""
    assert x.shape is not None and positions.shape is not None
    return x.with_shape((*x.shape[:axis], *positions.shape, *x.shape[axis + 1 :]))


# The elements at some positions of each sorted row.
ORDER_STATISTICS = Op(
    name="order_statistics", graphdef="OrderStatistics", kernel=_take_sorted, effects=Effects.RAISE,
    result=_type_of_result, gradient=no_gradient("made by the native backend"),
)  # fmt: skip
