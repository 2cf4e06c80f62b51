"""Exception groups, which `except*` clauses handle part by part."""

from __future__ import annotations

from typing import Any

from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.raised_errors import refuse_graph_values_in_group
from autoconv.ops.python.exception_groups import exception_to_raise as exception_to_raise_now
from autoconv.ops.python.exception_groups import split_group as split_now
from autoconv.runtime.objects.containers import heap_of
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbolic_objects import apply_object, is_object, record_object
from autoconv.runtime.support.spans import current_place


def split_group(error: Any, classes: Any) -> tuple[Any, Any]:
    """Split an exception into the part of those classes and the part of others; a part that is empty is None."""
    if not _is_deferred(error):
        return split_now(error, classes)
    matching, remaining = record_object("object_unpack", [apply_object("split_group", error, classes)], count=2)
    return matching, remaining


def exception_to_raise(error: Any, uncaught: Any, raised_errors: Any, handled_parts: Any) -> Any:
    """Return the exception to raise after the `except*` clauses for `error`; None if there is none.

    `handled_parts` are the parts of `error` that clauses handled. `uncaught` is the part that no clause caught, and
    `raised_errors` are the exceptions that the clauses raised.
    """
    is_deferred = any(map(_is_deferred, (error, uncaught, raised_errors, handled_parts)))
    if is_deferred or any(map(_is_deferred, (*raised_errors, *handled_parts))):  # deferred lists cannot be unpacked
        # A group whose exceptions hold graph values is refused: the graph would create new exception objects, so that
        # the identity of the members would be lost.
        refuse_graph_values_in_group(error, current_place())
        return apply_object("exception_to_raise", error, uncaught, raised_errors, handled_parts)
    return exception_to_raise_now(error, uncaught, raised_errors, handled_parts)


def _is_deferred(value: object) -> bool:
    """Return whether an exception, or the contents of a list of exceptions, are known only at run time."""
    return is_object(value) or heap_of(value) is not None or type(value) in (StagedException, Variant)
