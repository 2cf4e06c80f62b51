"""Values of names that may be unassigned, exit codes, and the operators that converted code applies to both."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autoconv.ops.program_errors import mark_program_error
from autoconv.ops.python.unassigned_names import unassigned_error

# Exit codes: those from BREAK on leave a loop, and RETURN is a bit that `after_loop` masks.
NORMAL, CONTINUE, BREAK, RETURN = 0, 1, 2, 4


class Undefined:
    """The value of a name before its assignment; all are equal, so that they join to one alternative."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    def __hash__(self) -> int:
        return hash(Undefined)

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


def is_absent(value: object) -> bool:
    """Return whether a value is None or that of an unassigned name."""
    return value is None or isinstance(value, Undefined)


def unbound_error(name: str, is_outer: bool = False) -> NameError:
    """Return Python's error for an unassigned name; `is_outer`: a free variable, bound in an outer function."""
    return mark_program_error(unassigned_error(name, is_outer))


def ld(value: object, is_outer: bool = False) -> Any:
    """Read a name that may be unassigned: return its value or raise UnboundLocalError."""
    if type(value) is Undefined:
        raise unbound_error(value.name, is_outer)
    drop = getattr(type(value), "__autoconv_defined__", None)
    return value if drop is None else drop(value, is_outer)


def ld_outer(value: object) -> Any:
    """`ld` for a free variable: raise NameError if it is unassigned."""
    return ld(value, is_outer=True)


# For names in a list, set or dict comprehension, which has its own scope before Python 3.12.
ld_inlined = ld if sys.version_info >= (3, 12) else ld_outer


def users_names(names: object) -> Any:
    """Return the result of `locals()`, `vars()` or `dir()` without `ag__`, the name of this package."""
    if type(names) is list:
        return [name for name in names if name != "ag__"]
    if type(names) is dict:
        names.pop("ag__", None)
    return names


def let(function: Callable[..., Any], *values: Any) -> Any:
    """Return `function(*values)`: an expression whose local names are the function's parameters."""
    return function(*values)


def deleted_name(_: Any, name: str) -> Undefined:
    """Return the value of a name after `del name`; the argument before it checks that the name was assigned."""
    return Undefined(name)


def returned_value(value: object) -> Any:
    """Return the return value of a function; on paths without a return statement it is None."""
    if type(value) is Undefined:
        return None
    drop = getattr(type(value), "__autoconv_assigned__", None)
    return value if drop is None else drop(value)


def no_exit(code: Any) -> Any:
    """Return whether an exit code states that no early exit was taken."""
    return code == NORMAL


def exits_loop(code: Any) -> Any:
    """Return whether an exit code states that a loop is left by a break or a return."""
    return code > CONTINUE


def is_exhausted(code: Any) -> Any:
    """Return whether an exit code states that a loop was exhausted, so that its else clause runs."""
    return code < BREAK


def after_loop(code: Any) -> Any:
    """Return the exit code after a loop, given that of the loop: a return is still pending, a break is not."""
    return code & RETURN
