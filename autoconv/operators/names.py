"""Names that may not be assigned, and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autoconv.operators.fitting import of_program
from autoconv.ops.objects import not_assigned

NORMAL, CONTINUE, BREAK, RETURN = 0, 1, 2, 4


class Undefined:
    """What a name holds before it is assigned."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    def __hash__(self) -> int:
        return hash(Undefined)

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


def unbound(name: str, is_outer: bool = False) -> NameError:
    """What Python says of a name that is not assigned; `is_outer`: one of an outer function."""
    return of_program(not_assigned(name, is_outer))


def ld(value: Any, is_outer: bool = False) -> Any:
    """A read of a name that may not be assigned: its value, or UnboundLocalError."""
    if type(value) is Undefined:
        raise unbound(value.name, is_outer)
    drop = getattr(type(value), "__autoconv_defined__", None)
    return value if drop is None else drop(value, is_outer)


def ld_outer(value: Any) -> Any:
    """`ld` for a name of an outer function: NameError where it is not assigned."""
    return ld(value, True)


# In a list, set or dict comprehension, which is a scope of its own before Python 3.12.
ld_inlined = ld if sys.version_info >= (3, 12) else ld_outer


def users_names(found: Any) -> Any:
    """What `locals()`, `vars()` or `dir()` gives, without the name of this package in converted code."""
    if type(found) is list:
        return [name for name in found if name != "ag__"]
    if type(found) is dict:
        found.pop("ag__", None)
    return found


def let(function: Callable[..., Any], *values: Any) -> Any:
    """`function(*values)`, for an expression with names of its own."""
    return function(*values)


def deleted(_: Any, name: str) -> Undefined:
    """What `del name` leaves."""
    return Undefined(name)


def returned(value: Any) -> Any:
    """The value a function returns; where it returns, the value is assigned."""
    if type(value) is Undefined:
        return None
    drop = getattr(type(value), "__autoconv_assigned__", None)
    return value if drop is None else drop(value)


def goes_on(code: Any) -> Any:
    """Whether nothing left early."""
    return code == NORMAL


def leaves(code: Any) -> Any:
    """Whether a loop is left by a break or a return."""
    return code > CONTINUE


def completed(code: Any) -> Any:
    """Whether a loop came to its end, so that its else runs."""
    return code < BREAK


def after_loop(code: Any) -> Any:
    """The exit code behind a loop: a return goes on leaving, a break is done."""
    return code & RETURN
