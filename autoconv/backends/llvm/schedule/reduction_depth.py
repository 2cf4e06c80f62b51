"""Decide which reductions accumulate in registers, and how many numbers a float sum adds at a time."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.graph.graph import Node

BLOCK = 4096  # elements whose partial sum is accumulated before it is added to the total


def register_depth(node: Node, shape: Sequence[int]) -> int | None:
    """Return the depth from which all loops are reduced; None unless the reduced loops are the innermost."""
    axes = reduced_axes(node)
    wide = [d for d in range(len(shape)) if shape[d] != 1]
    depth = min((d for d in wide if d in axes), default=len(shape))
    return depth if all(d in axes for d in wide if d >= depth) else None
