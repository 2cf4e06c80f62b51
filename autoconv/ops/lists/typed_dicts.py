"""Typed dicts and sets: graph-internal dicts and sets whose keys are ints or tuples of ints.

At run time a typed dict is two values: a typed list of its entries, in the order of insertion, and an index of their
keys, a bytearray. The attribute `element` is the type of an entry: with `has_values` a tuple (key, value) of a dict,
else a key of a set. The contents follow from the entries alone; the index is brought up to date before each search. It
is a hash table with the slots of Python's sets (see set_tables.py), and therefore also has the order in which a set
iterates. Native code leaves holes, removed entries that no slot refers to, in the list of entries of a dict; kernels
remove entries at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.graph.types import ObjectType, TensorType, TupleType, Type
from autoconv.ops.elementwise.python_numbers import bool_type, int_type
from autoconv.ops.lists.item_layout import ItemType, fields
from autoconv.ops.lists.set_tables import SetTable, entry_positions, new_index, note_removal, removal_count
from autoconv.ops.lists.typed_lists import (
    NO_GRADIENT,
    NUMBERS,
    as_python,
    convert_rows,
    item_bytes,
    items_of,
    no_results,
    pop,
    to_bytes,
)
from autoconv.ops.record import define

_READ_WRITE = Effects.READ | Effects.WRITE


def key_type(element: ItemType, has_values: bool) -> ItemType:
    """Return the type of the keys of entries of type `element`."""
    return element.items[0] if has_values else element  # type: ignore[return-value, union-attr]


def value_types(element: ItemType, has_values: bool) -> tuple[TensorType, ...]:
    """Return the types of the numbers in a value; none for a set."""
    return fields(element)[len(fields(key_type(element, has_values))) :] if has_values else ()


def compares_removals(node: Node) -> bool:
    """Return whether a `typed_dict_check_size` node also compares the number of removals, its optional operand."""
    return len(node.inputs) == 4


def _as_dict(entry_list: bytearray, index: bytearray, element: ItemType, has_values: bool) -> dict[Any, Any]:
    """Return the entries, without holes, as a dict; that of a set has the value None for each key."""
    items = items_of(entry_list, element)
    if has_values:
        items = [items[position] for position in entry_positions(index, len(items))]
    return dict(items) if has_values else dict.fromkeys(items)


def _write_dict(entry_list: bytearray, value: dict[Any, Any], element: ItemType) -> None:
    """Write the entries of a dict."""
    entry_list[:] = to_bytes(list(value.items()), element)


def _split_key(numbers: tuple[Any, ...], element: ItemType, has_values: bool) -> tuple[Any, tuple[Any, ...]]:
    """Return the key that consists of the first numbers, and the remaining numbers."""
    type_ = key_type(element, has_values)
    count = len(fields(type_))
    return as_python(numbers[:count], type_), numbers[count:]


def _get(
    entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool, inserts: bool = False
) -> Any:
    """Return the value of a key; for a missing key, the default, which the dict gets with `inserts`.

    `numbers` are those of the key, then those of the default. Without a default, a missing key raises KeyError.
    """
    key, default = _split_key(numbers, element, has_values)
    items, type_ = _as_dict(entry_list, index, element, has_values), element.items[1]  # type: ignore[union-attr]
    if key not in items and default:
        if inserts:
            entry_list += item_bytes(numbers, element)
        return default if isinstance(type_, TupleType) else default[0]
    return pop(bytearray(to_bytes([items[key]], type_)), element=type_)  # type: ignore[arg-type]


def _set_list(
    entry_list: bytearray, index: bytearray, lists: list[bytearray], *operands: Any, element: ItemType, has_values: bool
) -> tuple[()]:
    """Set the value of a key in a dict of lists; `operands` are the numbers of the key, then the value, a typed list.

    An entry has, as the number of its value, the position of the list in `lists`.
    """
    *numbers, value = operands
    key, _ = _split_key((*numbers,), element, has_values)
    position = _as_dict(entry_list, index, element, has_values).get(key)
    if position is not None:
        lists[position] = value
        return ()
    lists.append(value)
    return _set(entry_list, index, *numbers, len(lists) - 1, element=element, has_values=has_values)


def _get_list(
    entry_list: bytearray, index: bytearray, lists: list[bytearray], *operands: Any, element: ItemType,
    has_values: bool, inserts: bool,
) -> tuple[bytearray]:
    """Return the list of a key; for a missing key, the default, the last of `operands` if there is one.

    With `inserts`, the default may also be a new list, and the dict gets it. Without any default, raises KeyError.
    """
    key, default = _split_key(operands, element, has_values)
    position = _as_dict(entry_list, index, element, has_values).get(key)
    if position is not None:
        return (lists[position],)
    if not default and not inserts:
        raise KeyError(key)
    result = default[0] if default else bytearray()
    if inserts:
        numbers = operands[: len(operands) - len(default)]
        _set_list(entry_list, index, lists, *numbers, result, element=element, has_values=has_values)
    return (result,)


def _contains(entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool) -> Any:
    key, _ = _split_key(numbers, element, has_values)
    return np.array(key in _as_dict(entry_list, index, element, has_values))


def _set(entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool) -> tuple[()]:
    """Set the value of a key, or add a key to a set."""
    key, _ = _split_key(numbers, element, has_values)
    keys = list(_as_dict(entry_list, index, element, has_values))
    entry = item_bytes(numbers, element)
    position = keys.index(key) if key in keys else len(keys)
    entry_list[position * len(entry) : (position + 1) * len(entry)] = entry
    return ()


def _check_size(
    entry_list: bytearray, index: bytearray, size: Any, *removals: Any, element: ItemType, has_values: bool
) -> tuple[()]:
    """Raise RuntimeError if the number of entries has changed during an iteration.

    Raise OtherKindError if entries were removed, and as many added: the next key then depends on Python's hash table.
    """
    if len(_as_dict(entry_list, index, element, has_values)) != int(size):
        raise RuntimeError(f"{'dictionary' if has_values else 'Set'} changed size during iteration")
    if removals and removal_count(index) != int(removals[0]):
        raise OtherKindError("entries were removed and added during an iteration, whose order a graph does not have")
    return ()


def _length(entry_list: bytearray, index: bytearray, *, element: ItemType, has_values: bool) -> np.ndarray:
    """Return the number of entries."""
    return np.array(len(_as_dict(entry_list, index, element, has_values)))


def _remove(
    entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool, is_checked: bool,
    has_result: bool,
) -> Any:
    """Remove a key; with `has_result`, return its value, or the default, whose numbers follow those of the key.

    With `is_checked`, a missing key without a default raises KeyError.
    """
    key, default = _split_key(numbers, element, has_values)
    entries = _as_dict(entry_list, index, element, has_values)
    if key not in entries and not default:
        if is_checked:
            raise KeyError(key)
        return ()
    result: tuple[Any, ...] = default
    if key in entries and not has_values:
        table = SetTable(items_of(entry_list, element), index)
        table.remove(key)
        _save(table, entry_list, element)
    elif key in entries:
        value_type = element.items[1]  # type: ignore[union-attr]
        value_bytes = bytearray(to_bytes([entries.pop(key)], value_type))  # type: ignore[arg-type]
        _write_dict(entry_list, entries, element)
        note_removal(index)
        value = pop(value_bytes, element=value_type)  # type: ignore[arg-type]
        result = value if isinstance(value_type, TupleType) else (value,)
    return () if not has_result else result if len(result) > 1 else result[0]


def _popitem(entry_list: bytearray, index: bytearray, *, element: ItemType, has_values: bool) -> Any:
    """Remove and return the last entry of a dict, or the key that `pop` of a set removes; raises KeyError for none."""
    entries = _as_dict(entry_list, index, element, has_values)
    if not entries:
        raise KeyError("popitem(): dictionary is empty" if has_values else "pop from an empty set")
    if has_values:
        item = entries.popitem()
        _write_dict(entry_list, entries, element)
        note_removal(index)
    else:
        table = SetTable(items_of(entry_list, element), index)
        item = table.pop()
        _save(table, entry_list, element)
    return pop(bytearray(to_bytes([item], element)), element=element)


def _clear(entry_list: bytearray, index: bytearray, *, element: ItemType, has_values: bool) -> tuple[()]:
    """Remove all entries."""
    table = SetTable([] if has_values else items_of(entry_list, element), index)
    table.clear()
    _save(table, entry_list, element)
    return ()


def _save(table: SetTable, entry_list: bytearray, element: ItemType) -> None:
    """Write the keys of a set, and its index."""
    table.save()
    entry_list[:] = to_bytes(table.keys, element)


def _keys_of_set(entry_list: bytearray, index: bytearray, *, element: ItemType) -> tuple[Any]:
    """Return a typed list of the keys of a set in the order of its iteration."""
    table = SetTable(items_of(entry_list, element), index)
    _save(table, entry_list, element)
    return (bytearray(to_bytes(list(table), element)),)


def _count(
    entry_list: bytearray, index: bytearray, item_list: bytearray, *, element: ItemType, has_values: bool
) -> tuple[()]:
    """Count the items of a list: add 1 to the value of each item, which is a key."""
    counts = Counter(_as_dict(entry_list, index, element, has_values))
    counts.update(items_of(item_list, key_type(element, has_values)))
    entry_list[:] = to_bytes(list(counts.items()), element)
    return ()


def _ranking_element(element: ItemType) -> TupleType:
    return TupleType((element.items[1], int_type()))  # type: ignore[union-attr]


def _ranking(entry_list: bytearray, index: bytearray, *, element: ItemType, has_values: bool) -> tuple[Any]:
    """Return a typed list of pairs of a value and its negated position.

    A descending sort of the pairs keeps equal values in the order of insertion, as Counter's `most_common` does.
    """
    pairs = [(value, -i) for i, (_, value) in enumerate(items_of(entry_list, element))]
    return (bytearray(to_bytes(pairs, _ranking_element(element))),)


def _ranked(
    entry_list: bytearray, index: bytearray, ranking: bytearray, *limit: Any, element: ItemType, has_values: bool
) -> tuple[Any]:
    """Return a typed list of the entries in the order of a ranking, only the first `limit` if it is given."""
    entries = items_of(entry_list, element)
    items = [entries[-position] for _, position in items_of(ranking, _ranking_element(element))]
    return (bytearray(to_bytes(items[: max(int(limit[0]), 0)] if limit else items, element)),)


def _to_object(entry_list: bytearray, *, element: ItemType, class_name: str) -> tuple[Any]:
    """Return the entries as an object of Python's class; set items are inserted in order, which determines its order.
    """
    items = items_of(entry_list, element)
    if class_name == "set":
        return (set(items),)
    result = _DICT_MAKERS[class_name]()
    dict.update(result, items)
    return (result,)


def _lists_to_object(
    entry_list: bytearray, lists: list[bytearray], *, element: ItemType, list_element: ItemType, class_name: str
) -> tuple[Any]:
    """Return a dict of lists as an object of Python's class; one typed list of two keys becomes one list."""
    rows_by_id: dict[int, list[Any]] = {}
    result = _DICT_MAKERS[class_name]()
    dict.update(result, {
        key: convert_rows(lists[position], list_element, rows_by_id) for key, position in items_of(entry_list, element)
    })  # fmt: skip
    return (result,)


_DICT_MAKERS: dict[str, Callable[[], dict[Any, Any]]] = {
    "dict": dict, "Counter": Counter,
    **{f"defaultdict({factory.__name__})": partial(defaultdict, factory) for factory in (int, float, bool, list)},
}  # fmt: skip


def _define(name: str, result: Callable[..., Any], kernel: Callable[..., Any], effects: Effects) -> None:
    define(
        name=name, graphdef="".join(map(str.capitalize, name.split("_"))), result=result, kernel=kernel,
        gradient=NO_GRADIENT, effects=effects,
    )  # fmt: skip


def _value_types(*_: Type, element: ItemType, has_values: bool, **__: Any) -> tuple[TensorType, ...]:
    return value_types(element, has_values)


_define("typed_dict_index", lambda: NUMBERS, lambda: (new_index(),), _READ_WRITE)
_define("typed_dict_get", _value_types, _get, _READ_WRITE | Effects.RAISE)
_define("typed_dict_contains", lambda *_, **__: bool_type(), _contains, _READ_WRITE)
_define("typed_dict_set_list", no_results, _set_list, _READ_WRITE)
_define("typed_dict_list", lambda *_, **__: NUMBERS, _get_list, _READ_WRITE | Effects.RAISE)
_define(
    "typed_dict_of_lists_object", lambda *_, class_name, **__: ObjectType(class_name), _lists_to_object, _READ_WRITE
)
_define("typed_dict_count", no_results, _count, _READ_WRITE | Effects.RAISE)
_define("typed_dict_ranking", lambda *_, **__: NUMBERS, _ranking, _READ_WRITE)
_define("typed_dict_ranked", lambda *_, **__: NUMBERS, _ranked, _READ_WRITE)
_define("typed_dict_set", no_results, _set, _READ_WRITE)
_define("typed_dict_check_size", no_results, _check_size, Effects.READ | Effects.RAISE)
_define("typed_dict_keys_of_set", lambda *_, **__: NUMBERS, _keys_of_set, _READ_WRITE)
_define("typed_dict_length", lambda *_, **__: int_type(), _length, Effects.READ)
_define(
    "typed_dict_removals", lambda *_, **__: int_type(), lambda _, index, **__: np.array(removal_count(index)),
    Effects.READ,
)  # fmt: skip
_define(
    "typed_dict_remove", lambda *_, element, has_values, is_checked, has_result: (
        value_types(element, has_values) if has_result else ()
    ), _remove, _READ_WRITE | Effects.RAISE,
)  # fmt: skip
_define("typed_dict_popitem", lambda *_, element, **__: fields(element), _popitem, _READ_WRITE | Effects.RAISE)
_define("typed_dict_clear", no_results, _clear, _READ_WRITE)
# Closes the holes that native code leaves among the entries of a dict; kernels leave none.
_define("typed_dict_compact", no_results, lambda *_, **__: (), _READ_WRITE)
_define(
    "typed_dict_object", lambda _, *, element, class_name: ObjectType(class_name), _to_object,
    _READ_WRITE,
)  # fmt: skip
