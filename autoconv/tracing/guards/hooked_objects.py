"""Refusal of objects that run code of the program whenever they are examined (see `support/attribute_hooks.py`).

Guards would count as reads: a call that such an object takes part in runs plain, and nothing looks at the object.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable, Iterator
from typing import Any

from autoconv.runtime.support.attribute_hooks import MAX_EXAMINED, hooked_class
from autoconv.tracing.guards.external_reads import mentions
from autoconv.tracing.guards.python_contract import RunPlain

_ARGUMENT_LIMIT = 64  # objects that are examined on each call without a trace


def refuse_hooks_behind(function: types.FunctionType) -> None:
    """Raise RunPlain if a name, cell or default of the function leads to an object that runs code where it is read."""
    refuse_hooks(_named_values(function))


def refuse_hooks(values: Iterable[Any], most: int = MAX_EXAMINED) -> None:
    hooked = hooked_class(values, most)
    if hooked is not None:
        kind = hooked.__name__
        raise RunPlain(f"{kind} defines __getattribute__, which Python calls whenever its objects are examined")


def hook_reason(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why a call with these arguments runs plain; "" if they and the defaults lead to no such object."""
    defaults = getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)
    try:
        refuse_hooks((*args, *kwargs.values(), *defaults), _ARGUMENT_LIMIT)
    except RunPlain as found:
        return found.reason
    return ""


def _named_values(function: types.FunctionType) -> Iterator[Any]:
    names = mentions(function.__code__).globals
    yield from (function.__globals__.get(name, getattr(builtins, name, None)) for name in names)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


__all__ = ["hook_reason", "refuse_hooks", "refuse_hooks_behind"]
