"""Ops that make, match and raise exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType
from autoconv.ops.control.flow import copy_exception
from autoconv.ops.elementwise.python_numbers import int_type
from autoconv.ops.python.objects import CHANGE_OR_RAISE, NO_GRADIENT, no_results
from autoconv.ops.record import define


def _match(x: Any, *, clauses: tuple[Any, ...]) -> np.ndarray:
    """Return the index of the first except clause that matches the exception; the number of clauses if none does."""
    for index, classes in enumerate(clauses):
        if isinstance(x, classes):
            return np.array(index)
    return np.array(len(clauses))


define(
    name="object_match", graphdef="ObjectMatch", result=int_type, kernel=_match, gradient=NO_GRADIENT,
    effects=Effects.READ,
)  # fmt: skip


def _raise(x: Any, *linked_errors: Any, linked: str = "", again: bool = False) -> tuple[()]:
    """Raise x; if `linked` is "context" or "cause", the exception in `linked_errors` becomes this attribute of x.

    `again` is for tracebacks: it is true where a handler raises the exception that it caught, whose traceback has the
    handler's function already.
    """
    if linked == "context" and x.__context__ is None and linked_errors[0] is not x:
        x.__context__ = linked_errors[0]
    elif linked == "cause":
        x.__cause__ = linked_errors[0]
    raise x


define(
    name="object_raise", graphdef="ObjectRaise", result=no_results, kernel=_raise, gradient=NO_GRADIENT,
    effects=Effects.RAISE | Effects.OUTPUT | Effects.READ,
)  # fmt: skip


def set_traceback_provider(attach: Callable[[BaseException, int], None]) -> None:
    """Register the function that adds the program's frames to the traceback of a caught exception.

    Its second argument is the number of frames that the graph has above the function with the `try`.
    """
    global _attach_traceback
    _attach_traceback = attach


_attach_traceback: Callable[[BaseException, int], None] = lambda error, callers: None


def _attach_caught_traceback(x: Any, *, callers: int) -> tuple[()]:
    """Give a caught exception its traceback; see `set_traceback_provider` for `callers`."""
    _attach_traceback(x, callers)
    return ()


define(
    name="object_caught", graphdef="ObjectCaught", result=no_results, kernel=_attach_caught_traceback,
    gradient=NO_GRADIENT, effects=Effects.READ | Effects.WRITE,
)  # fmt: skip


def _make_exception(*operands: Any, exception: Any, names: tuple[str, ...] | None = None) -> tuple[Any]:
    """Make an exception: of the class `exception`, or a copy if `exception` is an instance.

    With `names`, the constructor has run while tracing: the last operands are the values of the attributes of these
    names, and those before them the `args`.
    """
    if not isinstance(exception, type):
        return (copy_exception(exception),)
    if names is None:
        return (exception(*operands),)
    argument_count = len(operands) - len(names)
    arguments = operands[:argument_count]
    result = exception.__new__(exception, *arguments)
    result.args = arguments
    vars(result).update(zip(names, operands[argument_count:], strict=True))
    return (result,)


define(
    name="object_exception", graphdef="ObjectException", result=lambda *_, **__: ObjectType("Exception"),
    kernel=_make_exception, gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
    allocates=True,
)  # fmt: skip
