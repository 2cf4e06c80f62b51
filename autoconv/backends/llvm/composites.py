"""Ops that move, repeat, or scan elements in terms of those that have loops: rules for `expand`."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.roles import sizes
from autoconv.graph.graph import Node
from autoconv.ops.builder import GraphBuilder


def _shift(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """By one along an axis: what lies outside is zero."""
    (x,) = inputs
    shape = sizes(x.type)
    axis = node.attributes["axis"] % len(shape)
    if not shape[axis]:
        return x
    back = node.attributes.get("reverse", False)
    kept = ("slice", 1, None, None) if back else ("slice", None, -1, None)
    part = b.get_item(x, spec=(*[("slice", None, None, None)] * axis, kept))
    paddings = [(0, 0)] * len(shape)
    paddings[axis] = (0, 1) if back else (1, 0)
    return b.pad(part, paddings=tuple(paddings), mode="CONSTANT", constant_values=0)


COMPOSITES: dict[str, Any] = {"shift": _shift}
