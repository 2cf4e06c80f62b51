"""The semantics of `except*`: PEP 654, and CPython's `_PyExc_PrepReraiseStar` for the remaining exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def split_group(error: BaseException | None, classes: Any) -> tuple[Any, Any]:
    """Return (the part of the exception that matches the classes, the rest), None for an empty part.

    Raises TypeError for classes that no clause can catch.
    """
    for class_ in classes if isinstance(classes, tuple) else (classes,):
        if not (isinstance(class_, type) and issubclass(class_, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        if issubclass(class_, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if error is None:
        return None, None
    if isinstance(error, classes):
        return error if isinstance(error, BaseExceptionGroup) else BaseExceptionGroup("", (error,)), None
    if isinstance(error, BaseExceptionGroup):
        return error.split(classes)
    return None, error


def exception_to_raise(
    error: BaseException, rest: BaseException | None, raised: Sequence[BaseException], handled: Sequence[BaseException]
) -> BaseException | None:
    """Return the exception to raise after the clauses for `error`, or None.

    `handled` are the parts that the clauses handled, `rest` the unmatched part, `raised` the errors of the clauses.
    """
    if not isinstance(error, BaseExceptionGroup):
        return raised[0] if raised else rest
    reraised = [e for e in raised if any(e is part for part in handled)]
    new_exceptions = [e for e in raised if not any(e is part for part in handled)]
    kept_ids = {id(leaf) for e in (*reraised, *((rest,) if rest is not None else ())) for leaf in leaves_of_group(e)}
    reraised_group = error.subgroup(lambda e: id(e) in kept_ids) if kept_ids else None
    members = [*new_exceptions, reraised_group] if reraised_group is not None else new_exceptions
    return BaseExceptionGroup("", members) if len(members) > 1 else members[0] if members else None


def leaves_of_group(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the exceptions in a group that are not groups themselves."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves_of_group(part)
    else:
        yield error


__all__ = ["leaves_of_group", "exception_to_raise", "split_group"]
