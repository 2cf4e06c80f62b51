"""Choice of the reductions that accumulate in registers, and of the length of partial sums of floats."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.graph.graph import Node

BLOCK_ELEMENTS = 4096  # elements of a partial sum of floats, which is then added to the total


def register_depth(node: Node, shape: Sequence[int]) -> int | None:
    """Return the depth of the outermost reduced loop over `shape`; None unless all loops inside it are reduced, too.

    Loops of one iteration do not count. The depth is `len(shape)` if no other loop is reduced.
    """
    axes = reduced_axes(node)
    looped_dimensions = [dimension for dimension, size in enumerate(shape) if size != 1]
    depth = min((dimension for dimension in looped_dimensions if dimension in axes), default=len(shape))
    return depth if all(dimension in axes for dimension in looped_dimensions if dimension >= depth) else None
