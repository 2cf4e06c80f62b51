"""NumPy arrays made from lists of numbers or from nested lists, and lists made from arrays (`tolist`).

A rule returns True if it supports a node, False if not, None if undecided (see `kind_inference.Rule`).
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.numpy.list_arrays import LIST_ARRAY
from autoconv.optimise.unboxing.alias_classes import AliasClass, find_root
from autoconv.optimise.unboxing.kind_inference import Kinds, nested_rule, rule
from autoconv.optimise.unboxing.kinds import BOOL, FLOAT, INT, LIST, is_number
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule


@rule(LIST_ARRAY)
@nested_rule(LIST_ARRAY)
def _array_rule(kinds: Kinds, node: Node) -> bool | None:
    """Accept an array of the traced rank whose dtype the program gives, or whose items have the traced dtype."""
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
    return node.attributes["has_given_dtype"] or item.kind.dtype is node.attributes["dtype"]  # type: ignore[union-attr]


def _innermost_items(alias_class: AliasClass) -> tuple[AliasClass, int]:
    """Return the alias class of a list's innermost items, and the number of nested lists.

    The items of the outermost list are of `alias_class`.
    """
    list_classes: set[AliasClass] = set()
    while alias_class.kind == LIST and alias_class not in list_classes and alias_class.content is not None:
        list_classes.add(alias_class)
        alias_class = find_root(alias_class.content)
    return alias_class, len(list_classes) + 1


@rewrite_rule(LIST_ARRAY)
def _write_array(writer: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    item, _ = _innermost_items(writer.kinds.content(value))
    return [writer.add(f"typed_{LIST_ARRAY}", node, writer.typed_list(value), element=item.kind, **node.attributes)]


@rule("numpy_tolist")
def _tolist_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether the result is a list of elements or rows of an array whose dtype is that of Python's numbers."""
    type_ = node.inputs[0].type
    if not isinstance(type_, TensorType) or type_.rank not in (1, 2):
        return False
    kind = next((kind for kind in (INT, FLOAT, BOOL) if kind.dtype is type_.dtype), None)
    items = kinds.mark_list(node) if kind is not None else None
    if items is not None and type_.rank == 2:
        items = kinds.mark_inner_list(items, node)
    if items is None:
        return False
    kinds.raise_kind(items, kind)
    return True


@rewrite_rule("numpy_tolist")
def _write_tolist(writer: Writer, node: Node) -> list[Value]:
    (x,) = writer.replacements(node.inputs[0])
    element, _ = _innermost_items(writer.kinds.content(node.results[0]))
    op = "typed_list_from_array" if len(x.shape or ()) == 1 else "typed_lists_from_rows"
    return [writer.add(op, node, x, element=element.kind)]
