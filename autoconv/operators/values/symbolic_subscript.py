"""Subscripts by a tensor into a known list, tuple or dict with items that must be known while tracing.

Such items are functions, which are called next, and instances of user-defined classes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

from autoconv.graph.dtypes import int64
from autoconv.graph.types import number_type
from autoconv.operators.control.conditionals import truth
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.control.variants import raise_if
from autoconv.operators.regions.value_layout import is_created_here
from autoconv.operators.values.comparisons import eq
from autoconv.runtime.objects.containers import heap_of
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import apply_object, constant_object
from autoconv.runtime.support.structure import plain_class
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def is_trace_time_value(item: object) -> bool:
    """Return whether the value must be known while tracing: a callable, or an object that the trace created."""
    return callable(item) or is_created_here(item)


def has_trace_time_values(owner: dict[Any, Any]) -> bool:
    """Return whether a dict with known keys has a value that must be known while tracing."""
    if heap_of(owner) is not None or holds_symbols(dict.keys(owner)):
        return False
    return any(map(is_trace_time_value, dict.values(owner)))


def select_item(owner: object, items: Sequence[Any], index: SymbolicTensor) -> Any:
    """Return the item at the index, with one arm for each item; the graph raises IndexError."""
    check_index(owner, len(items), index)
    return _stage_selection(index % len(items), items)


def check_index(owner: object, size: int, index: SymbolicTensor) -> None:
    """Record a raise of the IndexError of the list or tuple, under the condition that the index is outside."""
    raise_if((index >= size) | (index < -size), IndexError(f"{plain_class(owner).__name__} index out of range"))


def select_by_object(owner: Sequence[Any], index: Any) -> Any:
    """Return the item at an index that is a graph object, with one arm for each item.

    The graph applies the index to the list or tuple of positions, so that errors are Python's.
    """
    positions = plain_class(owner)(range(len(owner)))
    result = apply_object("getitem", constant_object(positions), index)
    return _stage_selection(unbox(result, number_type(int64)), list(owner))


def select_value(owner: dict[Any, Any], key: object) -> Any:
    """Return the value of the key, with one arm for each value; the graph raises KeyError."""

    def raise_missing() -> NoReturn:
        raise KeyError(key)

    position: Any = len(owner)
    for key_position, known_key in enumerate(dict.keys(owner)):
        position = dispatch.apply("select", truth(eq(known_key, key)), key_position, position)
    return _stage_selection(position, list(dict.values(owner)), raise_missing)


def _stage_selection(position: Any, values: Sequence[Any], *other_arms: Any) -> Any:
    """Return the value at a position that a graph computes; `other_arms` follow those that return the values."""
    arms = [*(functools.partial(_one_result, value) for value in values), *other_arms]
    if len(arms) == 1:
        return values[0]
    (item,) = stage_arms(position, arms, [], ("item",))
    return item


def _one_result(value: object) -> tuple[Any]:
    return (value,)
