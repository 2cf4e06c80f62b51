"""Typed lists as heaps and as deques: the functions of `heapq`, and the methods of `collections.deque` at its left end.

Heaps have the order of Python's, item by item. Tuples with a NaN raise OtherKindError where they may be compared.
"""

from __future__ import annotations

import heapq
from typing import Any

from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.lists.item_layout import ItemType, fields
from autoconv.ops.lists.typed_lists import (
    NO_GRADIENT,
    as_python,
    item_bytes,
    items_of,
    no_results,
    pop,
    refuse_nan,
    to_bytes,
)
from autoconv.ops.record import define

FUNCTIONS_WITHOUT_RESULT = ("heappush", "heapify")
_READ_WRITE = Effects.READ | Effects.WRITE


def _apply(x: bytearray, *numbers: Any, function: str, element: ItemType) -> Any:
    """Apply a function of `heapq` to the list and, if it takes one, an item with these numbers."""
    refuse_nan(x, element)
    items, operands = items_of(x, element), []
    if numbers:
        refuse_nan(bytearray(item_bytes(numbers, element)), element)
        operands = [as_python(numbers, element)]
    result = getattr(heapq, function)(items, *operands)
    x[:] = to_bytes(items, element)
    if function in FUNCTIONS_WITHOUT_RESULT:
        return ()
    return pop(bytearray(to_bytes([result], element)), element=element)


def _result_types(_: Type, *__: Type, function: str, element: ItemType) -> tuple[TensorType, ...]:
    return () if function in FUNCTIONS_WITHOUT_RESULT else fields(element)


def _push_left(x: bytearray, *numbers: Any, element: ItemType) -> tuple[()]:
    x[:0] = item_bytes(numbers, element)
    return ()


def _pop_left(x: bytearray, *, element: ItemType) -> Any:
    """Remove and return the first item."""
    if not x:
        raise IndexError("pop from an empty deque")
    return pop(x, 0, element=element)


define(
    name="typed_list_heap", graphdef="TypedListHeap", result=_result_types, kernel=_apply, gradient=NO_GRADIENT,
    effects=_READ_WRITE | Effects.RAISE,
)  # fmt: skip
define(
    name="typed_list_push_left", graphdef="TypedListPushLeft", result=no_results, kernel=_push_left,
    gradient=NO_GRADIENT, effects=_READ_WRITE,
)  # fmt: skip
define(
    name="typed_list_pop_left", graphdef="TypedListPopLeft", result=lambda _, *, element: fields(element),
    kernel=_pop_left, gradient=NO_GRADIENT, effects=_READ_WRITE | Effects.RAISE,
)  # fmt: skip
