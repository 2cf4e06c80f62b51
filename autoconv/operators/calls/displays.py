"""Displays of lists, tuples, sets and dicts with starred parts, and assignments to starred targets."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from autoconv.operators.calls.comprehensions import collect_list
from autoconv.operators.calls.iterable_consumers import is_deferred
from autoconv.operators.control.iterables import StagedRange
from autoconv.operators.control.variants import distribute, has_one_length, raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.values import items
from autoconv.operators.values.comparisons import is_object_in_graph
from autoconv.runtime.objects import container_methods as _methods  # noqa: F401 - adds methods to traced containers
from autoconv.runtime.objects.containers import heap_of, items_of
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, build_object, record_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Marks, as a key in a list of keys and values, a mapping whose items are all merged in (`**mapping`).
SPREAD = object()


class Spread:
    """Placeholder for several items known only at run time: `items` is a list of the graph that holds them."""

    __slots__ = ("items",)

    def __init__(self, items: object) -> None:
        self.items = items


def spread(iterable: object) -> Any:
    """Return the operand of a star in a display, as one Spread if Python cannot iterate over it."""
    region = current_region()
    if region is None:
        return iterable
    if not region.contract.objects_in_graph:
        if type(iterable) is Variant and not has_one_length(iterable):
            iterable = distribute(_as_growing_list, iterable)
        return iterable if items_of(iterable) is None else (Spread(iterable),)
    if type(iterable) is Variant:
        return spread(distribute(lambda part: apply_object("list", part), iterable))
    if type(iterable) is SymbolicObject or heap_of(iterable) is not None or type(iterable) is StagedRange:
        return (Spread(apply_object("list", iterable)),)
    if is_deferred(iterable):
        collection = collect_list(iterable)
        return collection if heap_of(collection) is None else (Spread(heap_of(collection)),)
    return iterable


class _SpreadElements:
    """Placeholder for the elements of a set, or the keys of a dict, which are added to a set without hashing them."""

    __slots__ = ("items",)

    def __init__(self, items: object) -> None:
        self.items = items


def spread_in_set(iterable: Iterable[Any]) -> Any:
    """Return the operand of a star in the display of a set; a set or dict, also of the graph, gives one placeholder."""
    region = current_region()
    if region is None:
        return iter(iterable)  # raises a set's error for what is not iterable; that of a starred argument differs
    if not region.contract.objects_in_graph or type(iterable) is Variant:
        return spread(iterable)
    if type(iterable) is SymbolicObject:
        adds_items_one_by_one = getattr(iterable.value_in_graph.type, "kind", "") in ("list", "tuple", "str", "range")
    else:
        adds_items_one_by_one = not isinstance(iterable, (set, frozenset, dict))
    if not adds_items_one_by_one:
        return (_SpreadElements(iterable),)
    operand = spread(iterable)
    return iter(iterable) if operand is iterable else operand


def _as_growing_list(iterable: Any) -> Any:
    """Return a copy of a list or tuple as a list whose length is symbolic; everything else as it is."""
    if items_of(iterable) is not None:
        return iterable.copy()
    if not isinstance(iterable, (list, tuple)):
        return iterable
    result = items.new(list(iterable))
    result.move_to_graph()
    return result


def new(container: Any) -> Any:
    """Return the value of a display that created `container`: during a trace, its traced form."""
    region = current_region()
    if region is None:
        return container
    kind = type(container)
    if kind in (list, tuple) and any(type(item) is Spread for item in container):
        if not region.contract.objects_in_graph:
            return _concatenate(container) if kind is list else tuple(_concatenate(container))
        joined_list = _join_parts(container)
        return joined_list if kind is list else apply_object("tuple", joined_list)
    return items.new(container)


def _join_parts(items_and_spreads: Any) -> Any:
    """Build a graph list out of items and Spreads."""
    joined_list: Any = None
    for are_spreads, group in itertools.groupby(items_and_spreads, lambda part: type(part) is Spread):
        members = [*group]
        lists = [part.items for part in members] if are_spreads else [build_object("list", members)]
        if joined_list is None:
            joined_list = build_object("list", []) if are_spreads else lists.pop()
        for list_ in lists:
            joined_list = apply_object("iadd", joined_list, list_)
    return joined_list


def _concatenate(items_and_spreads: Any) -> Any:
    """Return one list of items and of Spreads, whose lists have symbolic lengths; used under `function`."""
    result: Any = items.new([])
    for part in items_and_spreads:
        result = result + (part.items if type(part) is Spread else items.new([part]))
    return result


def new_set(*parts: Any) -> Any:
    """Return a set of the parts, each an item or a placeholder of several items."""
    region = current_region()
    if region is not None:
        if any(type(part) is _SpreadElements for part in parts):
            return _build_set(parts)
        if any(type(part) is Spread for part in parts):
            builds_in_graph = region.contract.objects_in_graph
            return apply_object("set", _join_parts(parts)) if builds_in_graph else set(_concatenate(parts))
        if holds_symbols(parts):
            _check_hashable(parts)
            return build_object("set", parts)
    return items.new(set(parts))


def _build_set(items_and_spreads: tuple[Any, ...]) -> Any:
    """Return a set filled as Python fills it: item by item, and by whole sets and dicts."""
    result = items.new(set())
    for part in items_and_spreads:
        if type(part) in (_SpreadElements, Spread):
            result.update(part.items)
        else:
            result.add(part)
    return result


def new_dict(*parts: Any) -> Any:
    """Return a dict of key, value, key, value …, evaluated in that order; after the key SPREAD comes a mapping."""
    keys, values = parts[::2], parts[1::2]
    if current_region() is None:
        return dict(zip(keys, values, strict=True)) if not any(key is SPREAD for key in keys) else _merge(keys, values)
    spread_positions = (position for position, key in enumerate(keys) if key is SPREAD)
    variant_position = next((position for position in spread_positions if type(values[position]) is Variant), None)
    if variant_position is not None:
        before, after = parts[: 2 * variant_position + 1], parts[2 * variant_position + 2 :]
        return distribute(lambda mapping: new_dict(*before, mapping, *after), values[variant_position])
    has_spreads = any(key is SPREAD for key in keys)
    spreads_graph_mapping = any(
        key is SPREAD and is_object_in_graph(value) for key, value in zip(keys, values, strict=True)
    )
    if spreads_graph_mapping or holds_symbols([key for key in keys if key is not SPREAD]):
        _check_hashable(keys)
        return _merge_in_graph(keys, values) if has_spreads else build_object("dict", zip(keys, values, strict=True))
    return items.new(_merge(keys, values) if has_spreads else dict(zip(keys, values, strict=True)))


def _check_hashable(keys: Any) -> None:
    """Raise Python's error for a list, dict or set among the keys, and under `function` that of an eager tensor."""
    region = current_region()
    takes_tensors = region is not None and not region.contract.numpy_arrays
    for key in keys:
        if isinstance(key, (list, dict, set)) or (takes_tensors and isinstance(key, SymbolicTensor) and not key.weak):
            hash(key)


def _merge(keys: Any, values: Any) -> dict[Any, Any]:
    """Return a dict of the items, where each value of the key SPREAD is a mapping whose items are merged in."""
    result: dict[Any, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if key is SPREAD:
            result.update({**value})
        else:
            result[key] = value
    return result


def _merge_in_graph(keys: Any, values: Any) -> Any:
    """Return a dict of the graph, filled as `_merge` fills one in Python."""
    heap = build_object("dict", {})
    for key, value in zip(keys, values, strict=True):
        if key is SPREAD:
            record_object("object_method", [heap, apply_object("mapping", value)], name="update")
        else:
            apply_object("setitem", heap, key, value)
    return heap


def unpack_target(value: object, target: str) -> Any:
    """Return the items of `value` for an assignment to `target`, which has one starred name."""
    region = current_region()
    if region is None:
        return _unpacking_function(target)(value)
    if type(value) is Variant:
        return distribute(lambda iterable: unpack_target(iterable, target), value)
    if items_of(value) is not None:
        return _unpack_symbolic_list(value, target)
    if region.contract.objects_in_graph:
        if is_deferred(value):
            value = collect_list(value)
        if type(value) is SymbolicObject or heap_of(value) is not None:
            name_count, star_position = _parse_target(target)
            result = record_object("object_unpack", [value], count=name_count, star=star_position)
            return result if name_count > 1 else (result,)
    return tuple(map(items.new, _unpacking_function(target)(value)))


def _parse_target(target: str) -> tuple[int, int]:
    """Return the number of names in an assignment target, and the index of the starred name among them."""
    names = [name.strip() for name in target.split(",") if name.strip()]
    return len(names), next(index for index, name in enumerate(names) if name.startswith("*"))


def _unpack_symbolic_list(value: Any, target: str) -> tuple[Any, ...]:
    """Return the items of a list whose length is symbolic, for an assignment to `target`."""
    name_count, star_position = _parse_target(target)
    single_count, size = name_count - 1, items_of(value).length()
    raise_if(size < single_count, ValueError(f"not enough values to unpack (expected at least {single_count})"))
    count_after = single_count - star_position
    starred_items = value[star_position : size - count_after]
    last_items = (value[n - count_after] for n in range(count_after))
    return (*(value[n] for n in range(star_position)), starred_items, *last_items)


@functools.cache
def _unpacking_function(target: str) -> Callable[[Any], Any]:
    """Return a function that unpacks a value into that target as Python does."""
    names = target.replace("*", "")
    return eval(compile(f"lambda value: [({names}) for {target} in (value,)][0]", __file__, "eval"))  # type: ignore[no-any-return]
