"""Selection of list, tuple and dict arguments that a graph receives as objects, because they have many items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.runtime.support.structure import mutable_parts
from autoconv.tracing.key.cache_key import ItemKind

# Containers with at least so many items are not flattened. Each item of a flattened container is an input of the graph,
# and loops over the items are unrolled.
MIN_OPAQUE_ITEMS = 17
_MAX_LIST_DEPTH = 3  # nesting of lists of numbers
_MAX_EMPTY_ROWS = 8  # empty rows at the start of a list that are skipped in search of a row to guess from
_CONTAINERS = (list, tuple, dict)
_ATOM_TYPES = (bool, int, float, complex, str, type(None))


def select_opaque_arguments(arguments: Sequence[tuple[str, Any]], chosen_names: frozenset[str]) -> frozenset[str]:
    """Return the names of arguments that become objects of the graph: `chosen_names` and those that are chosen now.

    A container is chosen if it is large, or shares a list or dict with another argument. It has to consist of numbers,
    texts and containers of these, judged by a sample of its items. A wrong guess is harmless: the graph then has the
    items as objects.
    """
    containers = [(name, value) for name, value in arguments if type(value) in _CONTAINERS and name not in chosen_names]
    if not containers:
        return chosen_names
    result = chosen_names.union(name for name, value in containers if _estimate_leaf_count(value) >= MIN_OPAQUE_ITEMS)
    undecided = [(name, value) for name, value in containers if name not in result]
    chosen_values = [value for name, value in arguments if name in result]
    if undecided and _share_parts([value for _, value in undecided], chosen_values):
        return result.union(name for name, value in undecided if _estimate_leaf_count(value) > 0)
    return result


def _estimate_leaf_count(value: Any, depth: int = 4) -> int:
    """Return an estimate, from a sample, of the number of leaves of a container.

    Return 0 if the sample has items that are neither numbers nor texts nor containers of these, nested at most `depth`
    deep.
    """
    if not value:
        return 1
    if type(value) is dict:
        end_items = [next(iter(value.items())), next(reversed(value.items()))]
        sample = [item for _, item in end_items]
        if any(type(key) not in _ATOM_TYPES for key, _ in end_items):
            return 0
    else:
        sample = [value[0], value[len(value) // 2], value[-1]]
    counts = [_estimate_leaf_count_of_item(item, depth) for item in sample]
    return max(counts) * len(value) if all(counts) else 0


def _estimate_leaf_count_of_item(item: Any, depth: int) -> int:
    """Return an estimate of the number of leaves of an item of a container."""
    if type(item) in _ATOM_TYPES:
        return 1
    return _estimate_leaf_count(item, depth - 1) if type(item) in _CONTAINERS and depth else 0


def _share_parts(values: Sequence[Any], opaque_values: Sequence[Any]) -> bool:
    """Return whether two of `values`, or one of them and one of `opaque_values`, contain the same list or dict."""
    part_ids = [id(part) for value in values for part in mutable_parts(value)]
    opaque_ids = {id(part) for value in opaque_values for part in mutable_parts(value)} if part_ids else set()
    return len(set(part_ids)) < len(part_ids) or not opaque_ids.isdisjoint(part_ids)


def guess_list_items(value: list[Any], depth: int = 1) -> tuple[ItemKind, int]:
    """Guess from a sample what a list holds: return the kind of its items, and the depth of its nesting.

    The kind is the class name of numbers, such as "int", or a tuple of the kinds in each tuple. A list of numbers or
    tuples has depth 1, a list of lists 2. Return ("", 0) if it is empty or holds anything else.
    """
    kinds = {_item_kind(item) for item in (value[0], value[len(value) // 2], value[-1])} if value else set()
    if len(kinds) != 1:
        return "", 0
    (kind,) = kinds
    if kind == "list" and depth < _MAX_LIST_DEPTH:
        return next((guess_list_items(row, depth + 1) for row in value[:_MAX_EMPTY_ROWS] if row), ("", 0))
    return (kind, depth) if kind and kind != "list" else ("", 0)


def _item_kind(item: object) -> ItemKind:
    """Return the class name of a number or list, the kinds of the numbers in a tuple, and "" for anything else."""
    if type(item) is tuple:
        kinds = tuple(map(_item_kind, item))
        return "" if "" in kinds or "list" in kinds else kinds or ""
    return type(item).__name__ if type(item) in (int, float, bool, list) else ""
