"""Unassigned names: the marker that a graph stores as their value, and the check before a name is read."""

from __future__ import annotations

from typing import Any

from autoconv.ops.python.objects import NO_GRADIENT, READ_OR_RAISE, any_object_type
from autoconv.ops.record import define


class NotAssigned:
    """Marker that a graph stores as the value of an unassigned name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name} is not assigned>"


def unassigned_error(name: str, is_outer: bool = False) -> NameError:
    """Return Python's error for reading an unassigned name; `is_outer` if an outer function has to assign it."""
    if is_outer:
        message = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        return NameError(message)
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def _check_assigned(x: Any, outer: bool = False) -> tuple[Any]:
    """Return x; raise NameError if x marks an unassigned name, which with `outer` an outer function has to assign."""
    if type(x) is NotAssigned:
        raise unassigned_error(x.name, outer)
    return (x,)


define(
    name="object_check_assigned", graphdef="ObjectCheckAssigned", result=any_object_type, kernel=_check_assigned,
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip
