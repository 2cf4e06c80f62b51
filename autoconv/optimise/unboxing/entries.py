"""The entries of typed dicts and sets, as an analysis and as values."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.graph import Graph, Node, Value
from autoconv.ops import OPS
from autoconv.optimise.unboxing.alias_classes import AliasClass, find_root
from autoconv.optimise.unboxing.kind_inference import Kinds
from autoconv.optimise.unboxing.kinds import DICTS, ENTRY, DictPart, Kind


def entry_kind(kinds: Kinds, value: Value) -> Kind:
    """Return the kind of the entries of the dict or set, or of that which a view or an iterator comes from."""
    content, kind = kinds.content(value), kinds.kind(value)
    is_part = isinstance(kind, DictPart) or kind == ENTRY
    return find_root(content.content or AliasClass()).kind if is_part else content.kind


def add_compaction(graph: Graph, kinds: Kinds, value: Value, replacements: Sequence[Value], node: Node | None) -> None:
    """Close the holes among the entries of a dict or view before they are traversed, if any are removed.

    `node` is the one that traverses them.
    """
    kind = kinds.kind(value)
    if kinds.removal_nodes and (isinstance(kind, DictPart) or kind in DICTS):
        attributes = {"element": entry_kind(kinds, value), "has_values": True}
        span = None if node is None else node.span
        graph.add(OPS["typed_dict_compact"], replacements[:2], attributes, span=span)
