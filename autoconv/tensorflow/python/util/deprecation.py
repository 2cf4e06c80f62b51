"""`tensorflow.python.util.deprecation`: decorators of functions that a library will remove.

Each function warns once for each message, by the logger "absl".
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any

_LOGGER = logging.getLogger("absl")
_warned: set[tuple[Any, ...]] = set()
_silenced = False


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Return a decorator of a deprecated function or class; `instructions` say what to use instead.

    The `__init__` of a class is replaced in place. `warn_once` has no effect: each message is logged once.
    """

    def decorate(target: Any) -> object:
        if inspect.isclass(target):
            text = f"{target.__qualname__} is deprecated"
            initialise = _with_warning(target.__init__, lambda _: text, date, instructions)
            setattr(target, "__init__", initialise)  # noqa: B010 (mypy refuses an assignment)
            return target
        return _with_warning(target, lambda _: f"{target.__qualname__} is deprecated", date, instructions)

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *names_or_tuples: object, **kwargs: object
) -> Callable[[Any], Any]:
    """Return a decorator of a function with deprecated arguments.

    Each of `names_or_tuples` is an argument's name, or a tuple of the name and the values that do not warn.
    `kwargs` have no effect: each message is logged once.
    """
    accepted_values = {item[0]: item[1:] for item in names_or_tuples if isinstance(item, tuple)}
    names = [item[0] if isinstance(item, tuple) else item for item in names_or_tuples]

    def message(target: Any, arguments: dict[str, object]) -> str:
        deprecated_names = [
            name for name in names if name in arguments and arguments[name] not in accepted_values.get(name, ())
        ]
        text = f"the arguments {', '.join(deprecated_names)} of {target.__qualname__} are deprecated"
        return text if deprecated_names else ""

    return lambda target: _with_warning_about_arguments(target, message, date, instructions)


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: object
) -> Callable[[Any], Any]:
    """Return a decorator of a function with deprecated values of arguments; `warn_once` has no effect."""

    def message(target: Any, arguments: dict[str, object]) -> str:
        text = ", ".join(
            f"{name}={value!r}"
            for name, value in deprecated_kwargs.items() if name in arguments and arguments[name] == value
        )
        return f"{text} of {target.__qualname__} is deprecated" if text else ""

    return lambda target: _with_warning_about_arguments(target, message, date, instructions)


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> object:
    """Return a wrapper of a function, or a subclass, that warns that `deprecated_name` is deprecated.

    It keeps the `__name__` of `func_or_class`. `warn_once` has no effect: each message is logged once.
    """
    instructions = f"use {name} instead"
    if inspect.isclass(func_or_class):
        initialise = _with_warning(
            func_or_class.__init__, lambda _: f"{deprecated_name} is deprecated", None, instructions
        )
        metaclass: Callable[..., object] = type(func_or_class)
        return metaclass(func_or_class.__name__, (func_or_class,), {"__init__": initialise})
    return _with_warning(func_or_class, lambda _: f"{deprecated_name} is deprecated", None, instructions)


def deprecated_endpoints(*names: str) -> Callable[[Any], Any]:
    """Return a decorator that changes nothing: the former names of a function are not recorded."""
    return lambda item: item


def deprecated_argument_lookup(new_name: str, new_value: object, old_name: str, old_value: object) -> object:
    """Return the value of an argument that had another name; raises ValueError if both are given."""
    if old_value is not None and new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return new_value if old_value is None else old_value


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Suppress the warnings inside of the `with` block."""
    global _silenced
    was_silenced, _silenced = _silenced, True
    try:
        yield
    finally:
        _silenced = was_silenced


def _with_warning_about_arguments(
    target: Any, message: Callable[[Any, dict[str, Any]], str], date: str | None, instructions: str
) -> object:
    """Return `target` so that it logs `message(target, arguments by name)`, if that is not empty, once."""
    signature = inspect.signature(target)

    def message_of_call(call: inspect.BoundArguments) -> str:
        return message(target, dict(call.arguments))

    return _with_warning(target, message_of_call, date, instructions, signature)


def _with_warning(
    target: Any, message: Callable[[Any], str], date: str | None, instructions: str,
    signature: inspect.Signature | None = None,
) -> object:  # fmt: skip
    """Return `target` so that it logs `message(bound arguments)`, if that is not empty, once.

    Without a signature, the argument of `message` is None.
    """

    @functools.wraps(target)
    def call(*args: object, **kwargs: object) -> object:
        text = ""
        if not _silenced:
            with contextlib.suppress(TypeError):  # `target` itself raises it for arguments that do not fit
                text = message(signature.bind(*args, **kwargs) if signature else None)
        if text and (target, text) not in _warned:
            _warned.add((target, text))
            removal_time = f"after {date}" if date else "in a future version"
            _LOGGER.warning("%s and will be removed %s: %s", text, removal_time, instructions)
        return target(*args, **kwargs)

    return call
