"""Exceptions of classes with an own `__init__` that traced code creates.

Their constructor runs while tracing. What it has left, `args` and attributes, then becomes an exception of the graph,
which is the same object at each of its names.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.objects.containers import is_optional
from autoconv.runtime.objects.symbol_search import captures_trace_values
from autoconv.runtime.objects.symbolic_objects import record_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place

_HEAP_TYPE_FLAG = 1 << 9  # Py_TPFLAGS_HEAPTYPE, of classes that a class statement makes


def exception_initialiser(function: Any) -> Callable[..., Any] | None:
    """Return `function` if it is Python's own `__init__` of an exception that the trace created; else None.

    Before: `super().__init__(message)` or `ValueError.__init__(self, message)`. After: the same call while tracing,
    which sets `args` alone.
    """
    is_bound = isinstance(function, types.MethodWrapperType)
    if not is_bound and not isinstance(function, types.WrapperDescriptorType):
        return None
    if function.__name__ != "__init__":
        return None
    if is_bound:
        is_initialiser = _is_created_exception(function.__self__) and _has_only_arguments(type(function.__self__))
        return function if is_initialiser else None
    if not issubclass(function.__objclass__, BaseException) or not _has_only_arguments(function.__objclass__):
        return None
    return lambda self, *args, **kwargs: _initialise(function, self, args, kwargs)


def _initialise(function: types.WrapperDescriptorType, error: object, args: Any, kwargs: Any) -> None:
    """Call the `__init__` that the program names by its class; raise StagingError for an exception from outside."""
    if not _is_created_exception(error) or not _has_only_arguments(type(error)):
        raise StagingError(
            f"the special method '__init__' of {function.__objclass__.__name__} is called by its name", current_place(),
            "super().__init__(...)",
        )  # fmt: skip
    function(error, *args, **kwargs)


def _is_created_exception(value: object) -> bool:
    region = current_region()
    created_objects = region.trace.created_objects if region is not None else None
    return isinstance(value, BaseException) and created_objects is not None and id(value) in created_objects


def _has_only_arguments(kind: type) -> bool:
    """Return whether instances hold nothing but `args` and attributes in their `__dict__`: no slots, no other fields.

    OSError, SyntaxError and StopIteration, for example, have fields of their own.
    """
    builtin_base = next(base for base in kind.__mro__ if not base.__flags__ & _HEAP_TYPE_FLAG)
    has_slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    return builtin_base.__basicsize__ == BaseException.__basicsize__ and not has_slots


def move_exception_into_graph(error: Any) -> Any:
    """Return the object of the graph for an exception whose constructor has run; StagingError if there can be none.

    Other objects, and exceptions with fields of Python's own, are returned unchanged.
    """
    region, kind = current_region(), type(error)
    if region is None or not region.contract.objects_in_graph:
        return error
    if not isinstance(error, BaseException) or not _has_only_arguments(kind):
        return error
    attributes = vars(error)
    # References by two variables, the call that counts them, and the table of created objects.
    is_shared = sys.getrefcount(error) > 4 or sys.getrefcount(attributes) > 3
    if is_shared or captures_trace_values(kind) or any(map(is_optional, attributes.values())):
        raise StagingError(
            f"{with_article(kind)} is created whose constructor stores it elsewhere, or sets an attribute on some "
            "paths only", current_place(), "a constructor that sets each attribute on every path",
        )  # fmt: skip
    operands = (*error.args, *attributes.values())
    return record_object("object_exception", operands, exception=kind, names=tuple(attributes))
