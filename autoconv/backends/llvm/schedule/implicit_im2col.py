"""Matrix products with implicit patches: rows composed of slices of one array are not materialised.

The left-hand side of such a product, as in a convolution, is a concatenation along the inner dimension. Its slices
differ only in where they begin. An element of a row lies in the array at the row's place plus an offset of its slice,
so tiles read it there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.shaped_builder import dimensions
from autoconv.graph.dimensions import plus, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension
from autoconv.ops.index_spec import Slice, is_fixed

_MOST = 32  # contiguous stretches of one patch


@dataclass(frozen=True)
class Patches:
    """Rows of slices of `base`.

    rows       dimensions along which rows count, as (size, step in elements of the base), the innermost last
    stretches  (offset, count) in elements of the base, whose concatenation is a row
    nodes      the nodes that compute the rows, read by nothing else
    """

    base: Value
    rows: tuple[tuple[Dimension, Dimension], ...]
    stretches: tuple[tuple[Dimension, int], ...]
    nodes: frozenset[Node]


def patches_of(node: Node, readers: Mapping[Value, Sequence[Node]], outputs: Collection[Value]) -> Patches | None:
    """Return the patches of a product's left-hand side; None if it has another form, or other readers."""
    x = node.inputs[0]
    join = x.node
    if join is None or join.op.name != "concat" or node.attributes.get("transpose_a") or x is node.inputs[1]:
        return None
    rank = len(sizes(x.type))
    if x in outputs or list(readers[x]) != [node] or rank < 2 or join.attributes["axis"] % rank != rank - 1:
        return None
    slices = [_slice(part) for part in join.inputs]
    first = slices[0]
    stretches: list[tuple[Dimension, int]] = []
    for one in slices:
        if one is None or first is None or one.base is not first.base or one.steps[:-1] != first.steps[:-1]:
            return None
        if stretches and plus(*stretches[-1]) == one.offset:
            stretches[-1] = stretches[-1][0], stretches[-1][1] + one.count
        else:
            stretches.append((one.offset, one.count))
    if first is None or len(stretches) > _MOST:
        return None
    unread = [v.node for v in join.inputs if v is not first.base and v not in outputs and set(readers[v]) == {join}]
    nodes = frozenset([join, *(one for one in unread if one is not None)])
    rows = tuple(zip(dimensions(x)[:-1], first.steps[:-1], strict=True))
    return Patches(first.base, rows, tuple(stretches), nodes)


@dataclass(frozen=True)
class _Slice:
    base: Value
    offset: Dimension
    steps: tuple[Dimension, ...]  # in elements, by dimension
    count: int  # contiguous elements


def _slice(value: Value) -> _Slice | None:
    """Return where the elements of a constant slice lie; None if its last dimension has gaps."""
    node = value.node
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or not is_dense(node.inputs[0].type):
        return None
    (base,) = node.inputs
    shape, spec = dimensions(base), node.attributes["spec"]
    if not is_fixed(spec, Slice):
        return None
    whole = [*spec, *[Slice()] * (len(shape) - len(spec))]
    offset: Dimension = 0
    stride: Dimension = 1
    steps: list[Dimension] = []
    for size, entry in zip(reversed(shape), reversed(whole), strict=True):
        start, step = _bounds(size, entry)
        offset = plus(offset, times(start, stride))
        steps.append(times(step, stride))
        stride = times(stride, size)
    count = sizes(value.type)[-1]
    return _Slice(base, offset, tuple(reversed(steps)), count) if steps[0] == 1 and is_known((count,)) else None


def _bounds(size: Dimension, entry: Slice) -> tuple[Dimension, int]:
    """Return the start and step of a slice of a dimension; for an open dimension the slice lies within it."""
    if isinstance(size, int):
        bounds = range(*slice(*entry.parts).indices(size))
        return bounds.start, bounds.step
    start, step = entry.start, 1 if entry.step is None else entry.step
    if start is None:
        return (0 if step > 0 else plus(size, -1)), step
    return (plus(size, start) if isinstance(start, int) and start < 0 else start), step
