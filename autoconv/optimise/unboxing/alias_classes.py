"""Alias classes: equivalence classes of values that may be one object, by union-find."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.optimise.unboxing.kinds import CONTAINERS, LIST, Kind, is_item

_STORING_OPS = ("object_set_attribute",)
ARGUMENT_LIST_OP = "object_numbers"  # marks an argument as a list of numbers, or a list of such lists


class AliasClass:
    """An equivalence class of values that may be one object.

    The classes are the sets of a union-find structure: `parent` leads to the representative (see `find_root`), which
    has the other attributes. `content`: the alias class of a list's items, of the entries of a dict, of the lists in
    these entries, or of the list that an iterator traverses; `sites`: the nodes that allocate the lists.
    """

    __slots__ = ("content", "kind", "parent", "sites")

    def __init__(self) -> None:
        self.parent: AliasClass | None = None
        self.kind: Kind = None
        self.content: AliasClass | None = None
        self.sites: set[Node] = set()


def find_root(alias_class: AliasClass) -> AliasClass:
    """Return the representative of an alias class."""
    while alias_class.parent is not None:
        alias_class = alias_class.parent
    return alias_class


def holds_numbers(alias_class: AliasClass) -> bool:
    """Return whether the list's items are numbers of one kind, tuples of one kind, or lists of these.

    A dict has such items as its entries; its values may be lists of numbers or tuples, which are no arguments.
    """
    list_classes: set[AliasClass] = set()
    while alias_class.kind in CONTAINERS and alias_class not in list_classes:
        list_classes.add(alias_class)
        alias_class = find_root(alias_class.content or alias_class)
    if alias_class.content is None or not isinstance(alias_class.kind, TupleType):
        return is_item(alias_class.kind)
    values = find_root(alias_class.content)
    has_items = values.kind == LIST and values.content is not None and is_item(find_root(values.content).kind)
    return has_items and not any(site.op.name == ARGUMENT_LIST_OP for site in values.sites)


def is_stored_argument(node: Node, value: Value) -> bool:
    """Return whether the node makes an object refer to an argument that the node of `value` marks as a list.

    The object refers to the argument itself, so the argument may be a typed list for other nodes.
    """
    is_mark = value.node is not None and value.node.op.name == ARGUMENT_LIST_OP
    return is_mark and node.op.name in _STORING_OPS and value in node.inputs[1:]
