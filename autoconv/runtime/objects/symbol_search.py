"""Search structures for symbolic values, which are known only at run time, and for objects that the call created."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.attributes import is_in_graph
from autoconv.runtime.support.closure_contents import captures_any, is_nested_function
from autoconv.runtime.support.structure import plain_class, raw_items
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_COLLECTIONS = (list, tuple, set, frozenset)


class RunTimeObject:
    """Base class of SymbolicObject: searches recognise it, as this module cannot import SymbolicObject."""

    __slots__ = ()


def holds_symbols(value: Any) -> bool:
    """Return whether a container holds, at any depth, a symbolic value or a rebuilt argument.

    A rebuilt argument has to be recognised where it becomes part of the graph.
    """
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    if isinstance(value, _COLLECTIONS) and type(value) not in _COLLECTIONS and plain_class(value) is type(value):
        items = raw_items(value)  # without running methods of the user's class
    for item in items:
        if isinstance(item, (SymbolicTensor, RunTimeObject)) or hasattr(type(item), "__autoconv_box__"):
            return True
        if is_in_graph(item) or is_rebuilt(item):
            return True
        if type(item) in (tuple, list, set, dict) and holds_symbols(item):
            return True
    return False


def holds_symbols_inside(value: Any) -> bool:
    """Return whether a container of a user's class holds symbolic values, without running its methods."""
    class_: Any = next(class_ for class_ in (dict, list, tuple, set) if isinstance(value, class_))
    return holds_symbols([*dict.keys(value), *dict.values(value)] if class_ is dict else class_.__iter__(value))


def varies_by_call(value: object) -> bool:
    """Return whether a function, method, partial, slice or class differs from call to call."""
    return is_nested_function(value) or hides_symbols(value)


def holds_functions_that_vary(value: Any) -> bool:
    """Return whether a container holds, at any depth, a value for which `varies_by_call` holds."""
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return any(
        varies_by_call(item) or (type(item) in _COLLECTIONS and holds_functions_that_vary(item)) for item in items
    )


def hides_symbols(value: object) -> bool:
    """Return whether a function, method, partial, slice or class captures values that belong to this trace."""
    return captures_any(value, _belongs_to_trace)


def _belongs_to_trace(value: object) -> bool:
    """Return whether a value is symbolic, a rebuilt argument, or an object that the traced code made."""
    if isinstance(value, (SymbolicTensor, RunTimeObject)) or hasattr(type(value), "__autoconv_box__"):
        return True
    region = current_region()
    created_objects = region.trace.created_objects if region is not None else None
    if is_in_graph(value) or is_rebuilt(value):
        return True
    return bool(created_objects) and id(value) in created_objects  # type: ignore[operator]


def is_symbolic_slice(value: object) -> bool:
    """Return whether the value is a slice with a symbolic bound."""
    return type(value) is slice and holds_symbols((value.start, value.stop, value.step))


def holds_created_objects(value: Any) -> bool:
    """Return whether a value is an object of a user-defined class that traced code made, or a container of such."""
    region = current_region()
    created_objects = region.trace.created_objects if region is not None else None
    if not created_objects:
        return False
    if id(value) in created_objects:
        return True
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return isinstance(value, (tuple, list, set, dict)) and any(map(holds_created_objects, items))
