"""sorted(), list.sort(), min() and max() with a key function, which is converted and called for each item in turn."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autoconv.operators.control.conditionals import if_exp
from autoconv.operators.control.loops import for_source, is_symbolic_iterable
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.items import new
from autoconv.operators.values.ordering import extreme_by_key
from autoconv.runtime.objects.containers import heap_of, items_of, trace_container
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import apply_object
from autoconv.runtime.recording.regions import current_region


def sort_by_key(iterable: object, *, key: Callable[[Any], Any], reverse: Any = False) -> Any:
    """`sorted(iterable, key=key, reverse=reverse)`: sort (key, position, item) triples, no two of which are equal."""
    keyed_items = _add_keys(iterable, key, reverse)
    if heap_of(keyed_items) is None and not holds_symbols((keyed_items, reverse)):
        sorted_items = builtins.sorted(list.__iter__(keyed_items), reverse=reverse)
        return trace_container([item for _, _, item in sorted_items])
    return apply_object("last_of_each", apply_object("sorted", keyed_items, reverse, keywords=("reverse",)))


def _add_keys(iterable: object, key: Callable[[Any], Any], is_reversed: Any) -> Any:
    """Return a list of (key, position, item); positions descend if the order `is_reversed`, so sorting is stable."""
    keyed_items, key_function = new([]), convert_callback(key)
    step = if_exp(is_reversed, lambda: -1, lambda: 1)

    def body(item: object, position: int) -> tuple[Any]:
        keyed_items.append((key_function(item), position, item))
        return (position + step,)

    for_source(_loop_iterable(iterable), body, (0,), ("position",))
    return keyed_items


def _loop_iterable(iterable: Any) -> Any:
    """Return the iterable of a loop: items known at trace time are iterated in Python."""
    return iterable if is_symbolic_iterable(iterable) else iter(list(iterable))


def _extreme_by_key(name: str) -> Callable[..., Any]:
    """Return max() or min() with a key function."""

    def extreme(*args: Any, key: Callable[[Any], Any], **default: Any) -> Any:
        """`max(…, key=key)` or `min(…, key=key)`."""
        iterable = args[0] if len(args) == 1 else args
        if is_symbolic_iterable(iterable):
            keyed_items = _add_keys(iterable, key, is_reversed=name == "max")  # the first of equal items is chosen
            if default:
                default_item = (None, 0, default["default"])
                return apply_object("last", apply_object(name, keyed_items, default_item, keywords=("default",)))
            return apply_object("last", apply_object(name, keyed_items))
        return extreme_by_key(name, iterable, key, **default)

    return extreme


def wrap_sort(method: Any) -> Callable[..., Any]:
    """Return the method `sort` of a traced list; it converts the key function.

    The items of a list in the graph are sorted by the keys that the program's function returns there. Under `function`,
    the items of a list of known length are sorted as by `sorted`, which compares symbolic ones.
    """
    owner, region = method.__self__, current_region()
    is_known_list = items_of(owner) is None and region is not None and not region.contract.objects_in_graph

    def sort(*args: Any, **options: Any) -> Any:
        """Sort the list; return None, as Python does."""
        key = options.get("key")
        if is_known_list and not args:
            owner[:] = OVERRIDES[builtins.sorted](owner, **options)
            return None
        if isinstance(key, FunctionType) and not args and heap_of(owner) is not None:
            owner[:] = sort_by_key(owner, **options)
            return None
        return method(*args, **options) if key is None else method(*args, **{**options, "key": convert_callback(key)})

    return sort


KEY_FUNCTION_OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.sorted: sort_by_key, builtins.min: _extreme_by_key("min"), builtins.max: _extreme_by_key("max"),
}  # fmt: skip
