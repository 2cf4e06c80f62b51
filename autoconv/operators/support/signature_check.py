"""Check the arguments of builtins, with Python's own errors for those that do not fit."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from autoconv.config.paths import is_own_file
from autoconv.ops.program_errors import mark_program_error

_Error = TypeVar("_Error", bound=BaseException)

# Signatures that `inspect` does not provide: of callables with several signatures, or none of their own.
_SIGNATURES: dict[Any, tuple[Callable[..., Any], ...]] = {
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


def require_fitting_arguments(function: Callable[..., Any], override: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `override` so that it is called, positionally as far as possible, only with arguments that fit `function`.

    For others `function` itself is called and raises its own error.
    """
    signatures = _signatures_of(function)
    if not signatures:
        return override

    def call_override(*args: Any, **kwargs: Any) -> Any:
        """Bind the arguments to the first signature that fits, and call the override."""
        for signature in signatures:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                continue
            return override(*bound.args, **bound.kwargs)
        return call_for_program(function, *args, **kwargs)  # raises Python's error

    return call_override


def call_for_program(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function of Python itself, whose error for wrong arguments the program can catch.

    An error that the program's own code raised on the way is passed on unchanged.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if not has_passed_program(error):
            mark_program_error(error)
        raise


def has_passed_program(error: BaseException) -> bool:
    """Return whether the error passed through frames of the program on its way here."""
    traceback = error.__traceback__
    caller = traceback.tb_next if traceback is not None else None
    while caller is not None:
        if not is_own_file(caller.tb_frame.f_code.co_filename):
            return True
        caller = caller.tb_next
    return False


@functools.cache
def _signatures_of(function: Callable[..., Any]) -> tuple[inspect.Signature, ...]:
    """Return the signatures of a builtin; the tuple is empty if they are unknown."""
    try:
        return (inspect.signature(function),)
    except (ValueError, TypeError):
        return tuple(map(inspect.signature, _SIGNATURES.get(function, ())))
