"""The locations inside of a value: attributes of objects, and arrays that are items of lists."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.operators.calls.call import is_user_code
from autoconv.runtime.recording import journal
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.structure import raw_items

_MAX_SEARCHED_ITEMS = 256  # items of a list that is searched
# Values in which no attributes are searched.
_TYPES_WITHOUT_LOCATIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


def locations_in(value: Any, visited_ids: set[int], depth: int) -> Iterator[journal.Location]:
    """Iterate over the attributes and arrays inside a value, as locations; `depth` limits the nesting."""
    if id(value) in visited_ids or not depth:
        return
    visited_ids.add(id(value))
    if isinstance(value, (list, tuple, dict)):
        items = list(dict.values(value) if isinstance(value, dict) else raw_items(value))
        for position, item in enumerate(items if len(items) <= _MAX_SEARCHED_ITEMS else ()):
            if type(value) is list and isinstance(item, np.ndarray):
                yield journal.item_location(value, position)
            else:
                yield from locations_in(item, visited_ids, depth - 1)
        return
    kind = value if isinstance(value, type) else type(value)
    if isinstance(value, _TYPES_WITHOUT_LOCATIONS) or not (is_user_code(kind) or kind is types.SimpleNamespace):
        return
    for attribute, part in attributes_of(value).items():
        yield journal.attribute_location(value, attribute)
        yield from locations_in(part, visited_ids, depth - 1)
    for base in filter(is_user_code, kind.__mro__):
        for attribute, part in list(vars(base).items()):
            if isinstance(part, np.ndarray):
                yield journal.attribute_location(base, attribute)
