"""Errors of the program, as opposed to those of its tracing: plain Python raises them at the same place."""

from __future__ import annotations

from typing import TypeVar

from autoconv.errors import AutoconvError

_Error = TypeVar("_Error", bound=BaseException)


def mark_program_error(error: _Error) -> _Error:
    """Mark an error as one that plain Python raises at this place, so that the program can catch it."""
    error._autoconv_is_of_program = True  # type: ignore[attr-defined]
    return error


def as_program_error(error: _Error) -> _Error:
    """Mark an error as `mark_program_error` does, unless it is an error of this package."""
    return error if isinstance(error, AutoconvError) else mark_program_error(error)


class errors_of_program:
    """Mark errors of these classes that leave the block, as `as_program_error` does.

    >>> try:
    ...     with errors_of_program(ValueError):
    ...         int("x")
    ... except ValueError as error:
    ...     print(is_marked_as_program_error(error))
    True
    """

    def __init__(self, *classes: type[BaseException]) -> None:
        self._classes = classes

    def __enter__(self) -> None:
        pass

    def __exit__(self, class_: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, self._classes):
            as_program_error(error)


def is_marked_as_program_error(error: BaseException) -> bool:
    """Return whether an error is marked as one of the program."""
    return getattr(error, "_autoconv_is_of_program", False)
