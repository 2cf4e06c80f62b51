"""Typed dicts and sets: graph-internal dicts and sets whose keys are ints or tuples of ints.

At run time such a dict is two values: a typed list of its entries, in the order of insertion, and an index of their
keys, a bytearray. The attribute `element` is the type of an entry: a tuple (key, value) in a dict, and a key in a set,
as `has_values` says. The entries alone say what the dict holds. The index is brought up to date before each search.
It is a hash table with the slots of Python's sets, so that it also gives the order in which a set iterates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType, TensorType, TupleType, Type
from autoconv.ops.elementwise.python_numbers import bool_type, int_type
from autoconv.ops.lists.item_layout import ItemType, fields
from autoconv.ops.lists.typed_lists import (
    NO_GRADIENT,
    NUMBERS,
    as_python,
    item_bytes,
    items_of,
    no_results,
    pop,
    to_bytes,
)
from autoconv.ops.record import define

INDEX_HEADER = 16  # bytes: the number of entries in the index, and the mask of its slots
MIN_SLOTS = 8
SLOT_SIZE = 4  # bytes of a slot: the number of its entry, from 1; 0: free
_READ_WRITE = Effects.READ | Effects.WRITE


def key_type(element: ItemType, has_values: bool) -> ItemType:
    """Return the type of the keys of entries of type `element`."""
    return element.items[0] if has_values else element  # type: ignore[return-value, union-attr]


def value_types(element: ItemType, has_values: bool) -> tuple[TensorType, ...]:
    """Return the types of the numbers in a value."""
    return fields(element)[len(fields(key_type(element, has_values))) :] if has_values else ()


def _new_index() -> tuple[bytearray]:
    """Return an index without entries."""
    mask = np.array([0, MIN_SLOTS - 1], np.int64)
    return (bytearray(mask.tobytes() + bytes(MIN_SLOTS * SLOT_SIZE)),)


def _as_dict(entry_list: bytearray, element: ItemType, has_values: bool) -> dict[Any, Any]:
    """Return the entries as a dict; the values of a set are None."""
    items = items_of(entry_list, element)
    return dict(items) if has_values else dict.fromkeys(items)


def _key(numbers: tuple[Any, ...], element: ItemType, has_values: bool) -> tuple[Any, tuple[Any, ...]]:
    """Return the key that the first numbers are, and the other numbers."""
    type_ = key_type(element, has_values)
    count = len(fields(type_))
    return as_python(numbers[:count], type_), numbers[count:]


def _get(
    entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool, inserts: bool = False
) -> Any:
    """Return the value of a key; if there is none, the default that follows the key, or else raise KeyError.

    With `inserts`, the dict gets the default.
    """
    key, default = _key(numbers, element, has_values)
    items, type_ = _as_dict(entry_list, element, has_values), element.items[1]  # type: ignore[union-attr]
    if key not in items and default:
        if inserts:
            entry_list += item_bytes(numbers, element)
        return default if isinstance(type_, TupleType) else default[0]
    return pop(bytearray(to_bytes([items[key]], type_)), element=type_)  # type: ignore[arg-type]


def _contains(entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool) -> Any:
    key, _ = _key(numbers, element, has_values)
    return np.array(key in _as_dict(entry_list, element, has_values))


def _set(entry_list: bytearray, index: bytearray, *numbers: Any, element: ItemType, has_values: bool) -> tuple[()]:
    """Set the value of a key, or add a key to a set."""
    key, _ = _key(numbers, element, has_values)
    keys = list(_as_dict(entry_list, element, has_values))
    entry = item_bytes(numbers, element)
    position = keys.index(key) if key in keys else len(keys)
    entry_list[position * len(entry) : (position + 1) * len(entry)] = entry
    return ()


def _check_size(entry_list: bytearray, size: Any, *, element: ItemType, has_values: bool) -> tuple[()]:
    """Raise RuntimeError if the number of entries has changed during an iteration."""
    if len(items_of(entry_list, element)) != int(size):
        raise RuntimeError(f"{'dictionary' if has_values else 'Set'} changed size during iteration")
    return ()


def _count(
    entry_list: bytearray, index: bytearray, item_list: bytearray, *, element: ItemType, has_values: bool
) -> tuple[()]:
    """Count the items of a list: add 1 to the value of each."""
    counts = Counter(_as_dict(entry_list, element, has_values))
    counts.update(items_of(item_list, key_type(element, has_values)))
    entry_list[:] = to_bytes(list(counts.items()), element)
    return ()


def _ranking_element(element: ItemType) -> TupleType:
    return TupleType((element.items[1], int_type()))  # type: ignore[union-attr]


def _ranking(entry_list: bytearray, index: bytearray, *, element: ItemType, has_values: bool) -> tuple[Any]:
    """Return a typed list of pairs of each value and its position, negated."""
    pairs = [(value, -i) for i, (_, value) in enumerate(items_of(entry_list, element))]
    return (bytearray(to_bytes(pairs, _ranking_element(element))),)


def _ranked(
    entry_list: bytearray, index: bytearray, ranking: bytearray, *limit: Any, element: ItemType, has_values: bool
) -> tuple[Any]:
    """Return a typed list of the entries in the order of a ranking, the first of them if there is a limit."""
    entries = items_of(entry_list, element)
    items = [entries[-position] for _, position in items_of(ranking, _ranking_element(element))]
    return (bytearray(to_bytes(items[: max(int(limit[0]), 0)] if limit else items, element)),)


def _to_object(entry_list: bytearray, *, element: ItemType, class_name: str) -> tuple[Any]:
    """Return the entries as Python's object of the class; into a set, they are inserted one by one."""
    items = items_of(entry_list, element)
    if class_name == "set":
        return (set(items),)
    result = _DICT_MAKERS[class_name]()
    dict.update(result, items)
    return (result,)


_DICT_MAKERS: dict[str, Callable[[], dict[Any, Any]]] = {
    "dict": dict, "Counter": Counter,
    **{f"defaultdict({factory.__name__})": partial(defaultdict, factory) for factory in (int, float, bool)},
}  # fmt: skip


def _define(name: str, result: Callable[..., Any], kernel: Callable[..., Any], effects: Effects) -> None:
    define(
        name=name, graphdef="".join(map(str.capitalize, name.split("_"))), result=result, kernel=kernel,
        gradient=NO_GRADIENT, effects=effects,
    )  # fmt: skip


def _value_types(*_: Type, element: ItemType, has_values: bool, **__: Any) -> tuple[TensorType, ...]:
    return value_types(element, has_values)


_define("typed_dict_index", lambda: NUMBERS, _new_index, _READ_WRITE)
_define("typed_dict_get", _value_types, _get, _READ_WRITE | Effects.RAISE)
_define("typed_dict_contains", lambda *_, **__: bool_type(), _contains, _READ_WRITE)
_define("typed_dict_count", no_results, _count, _READ_WRITE | Effects.RAISE)
_define("typed_dict_ranking", lambda *_, **__: NUMBERS, _ranking, _READ_WRITE)
_define("typed_dict_ranked", lambda *_, **__: NUMBERS, _ranked, _READ_WRITE)
_define("typed_dict_set", no_results, _set, _READ_WRITE)
_define("typed_dict_check_size", no_results, _check_size, Effects.READ | Effects.RAISE)
# The keys of a set in the order of its iteration.
_define(
    "typed_dict_keys_of_set", lambda *_, **__: NUMBERS,
    lambda entry_list, index, *, element: (bytearray(to_bytes(list(set(items_of(entry_list, element))), element)),),
    _READ_WRITE,
)  # fmt: skip
_define(
    "typed_dict_object", lambda _, *, element, class_name: ObjectType(class_name), _to_object,
    _READ_WRITE,
)  # fmt: skip
