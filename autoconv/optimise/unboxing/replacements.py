"""The types of the values that replace an object, by its kind."""

from __future__ import annotations

from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType, TensorType, TupleType, Type
from autoconv.ops.lists.item_layout import fields
from autoconv.ops.lists.typed_lists import CURSOR as CURSOR_TYPE
from autoconv.ops.lists.typed_lists import NUMBERS
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import Kinds
from autoconv.optimise.unboxing.kinds import (
    CURSOR,
    DEQUE,
    DICTS,
    ENTRY,
    ENUMERATE,
    INT,
    LIST,
    PAIR,
    PAIRS,
    RANGE,
    SET,
    SLICE,
    DictPart,
    Zip,
    is_item,
    is_none,
)

_ROWS = ObjectType("list")  # a Python list of typed lists


def replacement_types(kinds: Kinds, value: Value) -> list[Type]:
    """Return the types of the value's replacements.

    A CURSOR, an iterator over a list of numbers, is replaced by the list and a position in it; so is PAIRS, an iterator
    over an ENUMERATE's pairs. An ENUMERATE of a list is replaced by the list, and a PAIR, one pair (index, number), by
    its position. A zip is replaced by its lists, and an iterator over it by a list and a cursor for each. For dicts see
    `_types_of_dict`.
    """
    if not isinstance(value.type, ObjectType):
        return [value.type]
    kind = kinds.kind(value)
    if isinstance(kind, (TensorType, TupleType)):
        return [*fields(kind)]
    if kind in (LIST, DEQUE):
        return [NUMBERS if is_item(kinds.content(value).kind) else _ROWS]
    if kind == ENUMERATE:
        return [NUMBERS]
    if isinstance(kind, Zip):
        return [*[NUMBERS, CURSOR_TYPE][: 1 + kind.is_iterator] * len(kind.list_classes)]
    if kind in (SET, ENTRY, *DICTS) or isinstance(kind, DictPart):
        return _types_of_dict(kinds, value)
    if kind in (CURSOR, PAIRS):
        return [NUMBERS, CURSOR_TYPE]
    if kind == SLICE:
        return [INT for bound in value.node.inputs if not is_none(bound)]  # type: ignore[union-attr]
    return [INT] * 3 if kind == RANGE else [CURSOR_TYPE] if kind == PAIR else [value.type]


def _types_of_dict(kinds: Kinds, value: Value) -> list[Type]:
    """Return the types of the replacements of a dict, a set or a part of one.

    A dict, set or view is replaced by the list of its entries and their index; an iterator over it by these, the list
    that the cursor traverses, the cursor, and the numbers of entries and of removals. The lists of a dict of lists are
    last. An ENTRY is replaced by the numbers of its key, and its list.
    """
    kind = kinds.kind(value)
    if kind == ENTRY:
        return [*fields(entry_kind(kinds, value).items[0]), NUMBERS]  # type: ignore[union-attr, arg-type]
    lists: list[Type] = [] if kind == SET or kinds.list_values(value) is None else [_ROWS]
    is_iterator = isinstance(kind, DictPart) and kind.is_iterator
    iteration: list[Type] = [NUMBERS, CURSOR_TYPE, INT, INT] if is_iterator else []
    return [NUMBERS, NUMBERS, *iteration, *lists]
