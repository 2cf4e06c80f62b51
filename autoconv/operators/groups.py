"""Exceptions that an `except*` goes through part by part."""

from __future__ import annotations

from typing import Any

from autoconv.ops.exception_groups import left_of_group as left_now
from autoconv.ops.exception_groups import split_group as split_now
from autoconv.runtime.objects import StagedException, apply_object, is_object, record_object


def split_group(error: Any, kinds: Any) -> tuple[Any, Any]:
    """(the part of an exception that is of those kinds, the rest); None for what there is not of it."""
    if not is_object(error):
        return split_now(error, kinds)
    first, rest = record_object("object_unpack", [apply_object("split_group", error, kinds)], count=2)
    return first, rest


def left_of_group(error: Any, rest: Any, raised: Any, parts: Any) -> Any:
    """What is to be raised behind the clauses: the rest, and what they raised; None when there is nothing."""
    if any(map(is_object, (error, rest))) or any(map(_is_late, raised)):
        return apply_object("left_of_group", error, rest, raised, parts)
    return left_now(error, rest, raised, parts)


def _is_late(error: Any) -> bool:
    return is_object(error) or type(error) is StagedException


__all__ = ["left_of_group", "split_group"]
