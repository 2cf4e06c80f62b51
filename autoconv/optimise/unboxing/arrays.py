"""NumPy arrays made from lists of numbers, and from lists of such lists."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.ops.numpy.list_arrays import OF_OBJECTS
from autoconv.optimise.unboxing.kind_inference import LIST, Cell, Kinds, find_root, is_number, nested_rule, rule
from autoconv.optimise.unboxing.writer import Writer, write


@rule(OF_OBJECTS)
@nested_rule(OF_OBJECTS)
def _array_rule(kinds: Kinds, node: Node) -> bool | None:
    """Accept a node whose dtype was `given`, or whose items have the dtype that was assumed when it was recorded."""
    kind = kinds.kind(node.inputs[0])
    if "function" in node.attributes:
        return False
    if kind != LIST:
        return None if kind is None else False
    item, depth = _innermost_items(kinds.content(node.inputs[0]))
    if item.kind is None:
        return None
    if not is_number(item.kind) or node.attributes["shape"] != (None,) * depth:
        return False
    return node.attributes["given"] or item.kind.dtype is node.attributes["dtype"]  # type: ignore[union-attr]


def _innermost_items(cell: Cell) -> tuple[Cell, int]:
    """Return the cell of the innermost items of a nested list, and the nesting depth."""
    seen: set[Cell] = set()
    while cell.kind == LIST and cell not in seen and cell.content is not None:
        seen.add(cell)
        cell = find_root(cell.content)
    return cell, len(seen) + 1


@write(OF_OBJECTS)
def _write_array(w: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    item, _ = _innermost_items(w.kinds.content(value))
    return [w.add(f"typed_{OF_OBJECTS}", node, w.typed_list(value), element=item.kind, **node.attributes)]
