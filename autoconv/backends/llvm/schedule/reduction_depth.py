"""Choice of the reductions that accumulate in registers, and of the length of partial sums of floats."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.graph.graph import Node

BLOCK_ELEMENTS = 4096  # elements of a partial sum of floats, which is then added to the total


def register_depth(node: Node, shape: Sequence[int]) -> int | None:
    """Return the depth from which on all loops are reduced; None unless the reduced loops are the innermost ones."""
    axes = reduced_axes(node)
    looped_dimensions = [d for d in range(len(shape)) if shape[d] != 1]
    depth = min((d for d in looped_dimensions if d in axes), default=len(shape))
    return depth if all(d in axes for d in looped_dimensions if d >= depth) else None
