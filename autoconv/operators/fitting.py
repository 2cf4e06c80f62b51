"""Arguments that fit a builtin, and what Python says of those that do not."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

_Error = TypeVar("_Error", bound=BaseException)

# What `inspect` cannot tell: the ways to call what has several, or no signature of its own.
_WAYS: dict[Any, tuple[Callable[..., Any], ...]] = {
    builtins.int: (lambda x=0, /: 0, lambda x, /, base: 0),
    builtins.bool: (lambda x=False, /: 0,),
    builtins.range: (lambda stop, /: 0, lambda start, stop, step=1, /: 0),
    builtins.zip: (lambda *iterables, strict=False: 0,),
    builtins.map: (lambda function, iterable, /, *iterables: 0,),
    builtins.filter: (lambda function, iterable, /: 0,),
    builtins.list: (lambda iterable=(), /: 0,),
    builtins.tuple: (lambda iterable=(), /: 0,),
    builtins.set: (lambda iterable=(), /: 0,),
    builtins.frozenset: (lambda iterable=(), /: 0,),
    builtins.dict: (lambda items=(), /, **more: 0,),
    builtins.getattr: (lambda x, name, default=None, /: 0,),
    builtins.iter: (lambda x, sentinel=None, /: 0,),
    builtins.next: (lambda iterator, default=None, /: 0,),
    builtins.type: (lambda x, /: 0, lambda name, bases, namespace, /, **more: 0),
    **dict.fromkeys(
        (builtins.max, builtins.min),
        (lambda iterable, /, *, key=None: 0, lambda iterable, /, *, default, key=None: 0,
         lambda first, second, /, *more, key=None: 0),
    ),
}  # fmt: skip


def fitting(function: Any, override: Callable[..., Any]) -> Callable[..., Any]:
    """`override`, called with arguments that `function` takes, by position as far as they go; for others `function`
    says itself what is wrong with them."""
    ways = _ways(function)
    if not ways:
        return override

    def run(*args: Any, **kwargs: Any) -> Any:
        for way in ways:
            try:
                found = way.bind(*args, **kwargs)
            except TypeError:
                continue
            return override(*found.args, **found.kwargs)
        return plainly(function, *args, **kwargs)

    return run


def plainly(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The call as it stands, whose error is the program's own."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        of_program(error)
        raise


def of_program(error: _Error) -> _Error:
    """The error as one that plain Python raises there, for the program to catch."""
    error._autoconv_run_time = True  # type: ignore[attr-defined]
    return error


@functools.cache
def _ways(function: Any) -> tuple[inspect.Signature, ...]:
    """The signatures of a builtin; none where nobody knows them."""
    try:
        return (inspect.signature(function),)
    except (ValueError, TypeError):
        return tuple(map(inspect.signature, _WAYS.get(function, ())))


__all__ = ["fitting", "of_program", "plainly"]
