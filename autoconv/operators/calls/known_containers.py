"""list(), tuple() and dict() of containers whose items are known while tracing, and may be values of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.runtime.objects.containers import (
    TracedDict,
    TracedList,
    heap_of,
    is_optional,
    items_of,
    trace_container,
)
from autoconv.runtime.objects.dict_views import DictView

_KEYS = (str, bytes, int, type(None))


def construct_known(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the new list, tuple or dict; NotImplemented for another function, or items that only the graph has.

    >>> construct_known(dict, ([("a", 1)],), {"b": 2})
    {'a': 1, 'b': 2}
    """
    if function not in (list, tuple, dict) or len(args) != 1:
        return NotImplemented
    source = args[0]
    if function is dict and type(source) is TracedDict:
        source = DictView(source, "items")
    items = _known_items(source)
    if items is None or (function is dict and not all(map(_is_pair, items))) or (kwargs and function is not dict):
        return NotImplemented
    return trace_container(function(items, **kwargs))


def _known_items(source: Any) -> list[Any] | None:
    """Return the items of a container; None where their number or keys are part of the graph."""
    kind, owner = type(source), source.owner if type(source) is DictView else source
    if kind in (list, tuple):
        return list(source)
    if kind not in (TracedList, TracedDict, DictView) or heap_of(owner) is not None or items_of(owner) is not None:
        return None
    if kind is not TracedList and any(map(is_optional, dict.values(owner))):
        return None
    return list(dict.keys(owner) if kind is TracedDict else source)


def _is_pair(item: object) -> bool:
    """Return whether an item is a pair with a key that Python can hash while tracing."""
    return type(item) is tuple and len(item) == 2 and isinstance(item[0], _KEYS)


__all__ = ["construct_known"]
