"""Matrix products with an implicit patch matrix, whose rows are composed of slices of one array, as in convolutions.

The left operand of such a product is a concatenation of slices along the inner dimension. The slices differ only in
their starts, and perhaps in the size of their last dimension. An element of a row is in the array at the offset of the
row plus an offset within the patch. Tiles read it there, and the matrix is not materialised. In the gradient with
respect to the filters, the patch matrix is transposed; it is then the concatenation reshaped to two dimensions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from autoconv.backends.llvm.analysis.indexing import start_and_step
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.shaped_builder import dimensions
from autoconv.graph.dimensions import is_computed, plus, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.index_spec import Slice, has_only_kinds

_MAX_STRETCHES = 32  # most contiguous stretches of a patch


@dataclass(frozen=True)
class Patches:
    """A patch matrix, whose rows are slices of `base`.

    rows       (size, step) of the dimensions of the matrix before the last one, outermost first
    stretches  (offset, count) of the contiguous parts of a row, whose concatenation is the row
    nodes      the nodes that build the matrix; no other nodes read their results

    Steps, offsets and counts are in elements of `base`.
    """

    base: Value
    rows: tuple[tuple[Dimension, Dimension], ...]
    stretches: tuple[tuple[Dimension, int], ...]
    nodes: frozenset[Node]


def patches_of(node: Node, readers: Mapping[Value, Sequence[Node]], outputs: Collection[Value]) -> Patches | None:
    """Return the patch matrix that a product's left operand is; None if it is none, or has other readers.

    `readers` are the nodes that read each value, `outputs` those of the graph.
    """
    reader = _reader_of_join(node, readers, outputs)
    if reader is None:
        return None
    x = reader.inputs[0]
    join = x.node
    if join is None or join.op.name != "concat" or x is node.inputs[1]:
        return None
    rank = len(sizes(x.type))
    has_other_uses = x in outputs or list(readers[x]) != [reader]
    if has_other_uses or rank < 2 or join.attributes["axis"] % rank != rank - 1:
        return None
    slices = [_constant_slice(slice_) for slice_ in join.inputs]
    first_slice = slices[0]
    stretches: list[tuple[Dimension, int]] = []
    for slice_ in slices:
        if slice_ is None or first_slice is None:
            return None
        if slice_.base is not first_slice.base or slice_.steps[:-1] != first_slice.steps[:-1]:
            return None
        if stretches and plus(*stretches[-1]) == slice_.offset:
            stretches[-1] = stretches[-1][0], stretches[-1][1] + slice_.count
        else:
            stretches.append((slice_.offset, slice_.count))
    if first_slice is None or len(stretches) > _MAX_STRETCHES:
        return None
    inner_slices = [value for value in join.inputs if value is not first_slice.base and value not in outputs]
    slice_nodes = [value.node for value in inner_slices if set(readers[value]) == {join}]
    reshapes = [] if reader is node else [reader]
    nodes = frozenset([*reshapes, join, *(slice_node for slice_node in slice_nodes if slice_node is not None)])
    rows = tuple(zip(dimensions(x)[:-1], first_slice.steps[:-1], strict=True))
    return Patches(first_slice.base, rows, tuple(stretches), nodes)


def _reader_of_join(
    node: Node, readers: Mapping[Value, Sequence[Node]], outputs: Collection[Value]
) -> Node | None:
    """Return the node that reads the concatenation: the product or, if that reads it transposed, a reshape before it.

    Return None if the concatenation has other readers. Return None also for a transposed left operand, unless it is a
    reshape that keeps the last dimension.
    """
    if not node.attributes.get("transpose_a"):
        return node
    x = node.inputs[0]
    if x.node is None or x.node.op.name != "reshape" or x in outputs or list(readers[x]) != [node]:
        return None
    source_sizes = sizes(x.node.inputs[0].type)
    return x.node if len(sizes(x.type)) == 2 and source_sizes[-1:] == sizes(x.type)[-1:] else None


@dataclass(frozen=True)
class _Slice:
    """A slice of `base` with constant bounds: the offset of its first element, and its steps, in elements of `base`."""

    base: Value
    offset: Dimension
    steps: tuple[Dimension, ...]  # one for each dimension
    count: int  # size of the last dimension, whose elements are contiguous


def _constant_slice(value: Value) -> _Slice | None:
    """Return a value as a slice with constant bounds; None if it is none, or its last dimension is not contiguous."""
    node = value.node
    if node is None or node.op.name != "get_item":
        return None
    if len(node.inputs) != 1 or not is_dense(node.inputs[0].type):
        return None
    (base,) = node.inputs
    shape, spec = dimensions(base), node.attributes["spec"]
    if not has_only_kinds(spec, Slice):
        return None
    entries = [*spec, *[Slice()] * (len(shape) - len(spec))]
    offset: Dimension = 0
    stride: Dimension = 1
    steps: list[Dimension] = []
    for size, entry in zip(reversed(shape), reversed(entries), strict=True):
        start, step = start_and_step(entry, size)
        if is_computed(start):
            return None
        offset = plus(offset, times(start, stride))
        steps.append(times(step, stride))
        stride = times(stride, size)
    count = sizes(value.type)[-1]
    return _Slice(base, offset, tuple(reversed(steps)), count) if steps[0] == 1 and is_known((count,)) else None
