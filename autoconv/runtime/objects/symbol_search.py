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
    items = _keys_and_items(value)
    if isinstance(value, _COLLECTIONS) and type(value) not in _COLLECTIONS and plain_class(value) is type(value):
        items = raw_items(value)  # without running methods of the user's class
    return any(
        _is_symbolic(item) or (type(item) in (tuple, list, set, dict) and holds_symbols(item)) for item in items
    )


def _is_symbolic(value: object) -> bool:
    """Return whether a value is symbolic, an object of the graph, or a rebuilt argument."""
    if isinstance(value, (SymbolicTensor, RunTimeObject)) or hasattr(type(value), "__autoconv_box__"):
        return True
    return is_in_graph(value) or is_rebuilt(value)


def _keys_and_items(container: Any) -> Any:
    """Return an iterable of the items of a container, with the keys of a dict."""
    return [*container.keys(), *container.values()] if isinstance(container, dict) else container


def holds_symbols_inside(value: Any) -> bool:
    """Return whether a container of a user's class holds symbolic values, without running its methods."""
    class_: Any = next(class_ for class_ in (dict, list, tuple, set) if isinstance(value, class_))
    return holds_symbols([*dict.keys(value), *dict.values(value)] if class_ is dict else class_.__iter__(value))


def varies_by_call(value: object) -> bool:
    """Return whether a function, method, partial, slice or class differs from call to call."""
    return is_nested_function(value) or captures_trace_values(value)


def holds_functions_that_vary(value: Any) -> bool:
    """Return whether a container holds, at any depth, a value for which `varies_by_call` holds."""
    return any(
        varies_by_call(item) or (type(item) in _COLLECTIONS and holds_functions_that_vary(item))
        for item in _keys_and_items(value)
    )


def captures_trace_values(value: object) -> bool:
    """Return whether a function, method, partial, slice or class captures values that belong to this trace."""
    return captures_any(value, _belongs_to_trace)


def _belongs_to_trace(value: object) -> bool:
    """Return whether a value is symbolic, a rebuilt argument, or an object that the traced code made."""
    region = current_region()
    created_objects = region.trace.created_objects if region is not None else None
    return _is_symbolic(value) or (created_objects is not None and id(value) in created_objects)


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
    return isinstance(value, (tuple, list, set, dict)) and any(map(holds_created_objects, _keys_and_items(value)))
