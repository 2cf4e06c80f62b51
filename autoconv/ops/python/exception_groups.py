"""The semantics of `except*`: PEP 654, and CPython's `_PyExc_PrepReraiseStar` for the remaining exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def split_group(error: BaseException | None, classes: Any) -> tuple[Any, Any]:
    """Return the part of the exception that matches the classes, and the part that does not; None for an empty part.

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
    error: BaseException,
    unmatched: BaseException | None,
    raised_errors: Sequence[BaseException],
    handled_parts: Sequence[BaseException],
) -> BaseException | None:
    """Return the exception to raise after the `except*` clauses for `error` have run; None if nothing is to be raised.

    `handled_parts` are the parts of `error` that clauses handled; `unmatched` is the part that no clause matched.
    `raised_errors` are the exceptions that the clauses raised: new ones, or handled parts that were raised again.
    """
    if not isinstance(error, BaseExceptionGroup):
        return raised_errors[0] if raised_errors else unmatched
    handled_ids = set(map(id, handled_parts))
    reraised_parts = [raised for raised in raised_errors if id(raised) in handled_ids]
    new_exceptions = [raised for raised in raised_errors if id(raised) not in handled_ids]
    remaining_parts = reraised_parts if unmatched is None else [*reraised_parts, unmatched]
    remaining_ids = {id(leaf) for part in remaining_parts for leaf in leaves_of_group(part)}
    remaining_group = error.subgroup(lambda leaf: id(leaf) in remaining_ids) if remaining_ids else None
    members = [*new_exceptions, remaining_group] if remaining_group is not None else new_exceptions
    return BaseExceptionGroup("", members) if len(members) > 1 else members[0] if members else None


def leaves_of_group(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the exceptions in a group that are not groups themselves."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves_of_group(part)
    else:
        yield error
