"""Refusal of hooked objects: those that run code of the program whenever they are examined.

The class of such an object defines `__getattribute__`, or its metaclass defines `__eq__` or `__hash__` (see
`support/attribute_hooks.py`). A guard would call these methods. A call that involves such an object therefore runs
plain, without any access to the object.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable, Iterator
from typing import Any

from autoconv.runtime.support.attribute_hooks import MAX_EXAMINED, has_compared_class, hooked_class
from autoconv.tracing.guards.attribute_reads import names_in_code
from autoconv.tracing.guards.trace_restrictions import RunPlain

_ARGUMENT_LIMIT = 64  # at most so many objects are examined before a call is matched with a trace


def refuse_hooked_names(function: types.FunctionType, examined: dict[int, Any]) -> None:
    """Raise RunPlain if a hooked object is reachable from a name, cell or default of the function.

    `examined` holds the objects that the trace has examined already, by id; those of this search are added.
    """
    refuse_hooked_objects(_named_values(function), examined=examined)


def refuse_hooked_objects(
    values: Iterable[Any], limit: int = MAX_EXAMINED, examined: dict[int, Any] | None = None
) -> None:
    """Raise RunPlain if a hooked object is among the first `limit` objects that are reachable from the values.

    `examined` is as in `refuse_hooked_names`.
    """
    cls = hooked_class(values, limit, examined)
    if cls is not None and has_compared_class(cls):
        metaclass = cls if issubclass(cls, type) else type(cls)
        raise RunPlain(
            f"{metaclass.__name__} is a metaclass with __eq__ or __hash__, which Python calls whenever its classes are "
            "examined"
        )
    if cls is not None:
        raise RunPlain(f"{cls.__name__} defines __getattribute__, which Python calls whenever its objects are examined")


def find_hook_reason(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why a call has to run plain; "" if no hooked object is reachable from its arguments and defaults."""
    defaults = getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)
    try:
        refuse_hooked_objects((*args, *kwargs.values(), *defaults), _ARGUMENT_LIMIT)
    except RunPlain as refusal:
        return refusal.reason
    return ""


def _named_values(function: types.FunctionType) -> Iterator[Any]:
    """Yield the values that a function reads by name: globals, builtins, its closure and defaults."""
    names = names_in_code(function.__code__).globals
    yield from (function.__globals__.get(name, getattr(builtins, name, None)) for name in names)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
