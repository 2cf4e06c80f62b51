"""Constructors and copies of containers whose items are known while tracing, and may be values of the graph."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import (
    TRACED_TO_PLAIN,
    TracedDict,
    TracedList,
    heap_of,
    is_optional,
    items_of,
    trace_container,
)
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.structure import ATOMS
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_KEY_CLASSES = (str, bytes, int, type(None))


def construct_known_container(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the new list, tuple or dict; NotImplemented for another function, or items that only the graph has.

    >>> construct_known_container(dict, ([("a", 1)],), {"b": 2})
    {'a': 1, 'b': 2}
    """
    if function not in (list, tuple, dict) or len(args) != 1:
        return NotImplemented
    source = args[0]
    if function is dict and type(source) is TracedDict:
        source = DictView(source, "items")
    items = _known_items(source)
    if items is None or (kwargs and function is not dict):
        return NotImplemented
    if function is dict and not all(map(_is_pair_with_known_key, items)):
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


def _is_pair_with_known_key(item: object) -> bool:
    """Return whether an item is a pair with a key that Python can hash while tracing."""
    return type(item) is tuple and len(item) == 2 and isinstance(item[0], _KEY_CLASSES)


def find_copy_function(function: Callable[..., Any], refuse: Callable[[Any], None]) -> Callable[..., Any] | None:
    """Return the form of `copy.copy` or `copy.deepcopy` under trace; None for another function.

    It calls `refuse` for what it does not copy: objects of the program, and containers that only the graph has.
    """
    if function is not copy.copy and function is not copy.deepcopy:
        return None

    def copy_value(*args: Any, **kwargs: Any) -> Any:
        """Return the copy of the only argument; where its parts are unknown, call `refuse`, then Python's function."""
        try:
            if len(args) != 1 or kwargs:
                raise _UnknownPartError
            return _deep_copy(args[0]) if function is copy.deepcopy else _shallow_copy(args[0])
        except _UnknownPartError:
            refuse(function)
            return function(*args, **kwargs)

    return copy_value


class _UnknownPartError(Exception):
    """A part of a structure whose copy only Python can make."""


def _require_items(value: Any) -> list[Any]:
    """Return the items of a traced list, or the pairs of a dict; raise _UnknownPartError if they are not known."""
    items = _known_items(DictView(value, "items") if type(value) is TracedDict else value)
    if items is None:
        raise _UnknownPartError
    return items


def _shallow_copy(value: Any) -> Any:
    if type(value) is TracedList or type(value) is TracedDict:
        return trace_container(TRACED_TO_PLAIN[type(value)](_require_items(value)))
    return value if type(value) is tuple else _copy_leaf(value)


def _deep_copy(value: Any) -> Any:
    """Copy a structure with its parts.

    If it holds several arrays, it must be known whether some of them are the same array, which has one copy.
    """
    copies: dict[int, tuple[Any, Any]] = {}
    result = _copy_part(value, copies)
    arrays = [part for part, part_copy in copies.values() if part is not part_copy and type(part) in _ARRAY_CLASSES]
    region = current_region()
    if len(arrays) > 1 and region is not None:
        if region.trace.memory == "shared":
            raise _UnknownPartError
        for array in arrays:
            if type(array) is SymbolicTensor:  # the trace begins again with arrays in memory, whose overlaps are known
                region.contract.require_original(array, "arrays are copied with what holds them")
    return result


def _copy_part(value: Any, copies: dict[int, tuple[Any, Any]]) -> Any:
    """Return the copy of a part; `copies` holds each part with its copy, by the part's identity."""
    if id(value) in copies:
        _, known_copy = copies[id(value)]
        return known_copy
    kind = type(value)
    result: Any
    if kind is TracedList or kind is TracedDict:
        items, result = _require_items(value), kind()
        copies[id(value)] = value, result
        parts = [_copy_part(item, copies) for item in items]
        if kind is TracedDict:
            dict.update(result, parts)
        else:
            list.extend(result, parts)
        return result
    if kind is tuple:
        result = tuple([_copy_part(item, copies) for item in value])
        if all(map(operator.is_, result, value)):
            result = value
    else:
        result = _copy_leaf(value)
    copies[id(value)] = value, result
    return result


def _copy_leaf(value: Any) -> Any:
    """Return a new array for an array, and a number or text itself."""
    if type(value) in ATOMS or (type(value) is SymbolicTensor and value.type.shape == ()):
        return value
    is_array = type(value) is SymbolicArray and value.type.rank and value.type.is_contiguous
    # Tensors have no such method under `function`.
    method = getattr(value, "copy", None) if is_array or type(value) is SymbolicTensor else None
    if method is None:
        raise _UnknownPartError
    return method()


_ARRAY_CLASSES = (SymbolicTensor, SymbolicArray)
