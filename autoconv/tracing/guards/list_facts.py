"""Mark parameters of a graph that are lists of numbers, according to the key of the trace."""

from __future__ import annotations

from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType, TupleType
from autoconv.ops.lists.item_layout import ItemType
from autoconv.optimise.unboxing.argument_lists import mark_number_lists
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import ItemKind, Key, ObjectKey, SpecKey, TensorKey, VariableKey

_ITEM_TYPES = {  # `ObjectKey.item_kind` -> type of a Python number of that class
    kind: TensorType(dtype, (), weak=True) for kind, dtype in (("int", int64), ("float", float64), ("bool", bool_))
}


def list_item_type(key: object) -> tuple[ItemType, int] | None:
    """Return the item type and the nesting depth of a list of numbers, by the key of its leaf; None for other keys."""
    return (_item_type(key.item_kind), key.depth) if isinstance(key, ObjectKey) and key.item_kind else None


def _item_type(kind: ItemKind) -> ItemType:
    """Return the type of the items of a list whose key has this `item_kind`."""
    return TupleType(tuple(map(_item_type, kind))) if isinstance(kind, tuple) else _ITEM_TYPES[kind]


def mark_list_facts(graph: Graph, key: Key) -> Graph:
    """Return the graph with marks on the parameters that are lists of numbers, by the key of its trace."""
    inputs = [leaf for leaf in key.leaves if isinstance(leaf, (TensorKey, VariableKey, ObjectKey, ArrayKey, SpecKey))]
    facts = ((position, list_item_type(leaf)) for position, leaf in enumerate(inputs))
    list_facts = {position: fact for position, fact in facts if fact is not None}
    return mark_number_lists(graph, list_facts) if list_facts else graph
