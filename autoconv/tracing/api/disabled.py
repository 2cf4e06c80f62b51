"""The decorators' results while AUTOCONV_DISABLE is set: the plain function, with the attributes of a Function."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autoconv.tracing.api.function import Function


def disable(inner: Callable[..., Any], *options: Any) -> Any:
    """Return the function itself with the attributes of a Function, or a wrapper if it accepts no attributes.

    `options` are the further arguments of the class Function. Programs that call `f.explain()` or
    `f.get_concrete_function(…)` thus run with AUTOCONV_DISABLE as well.
    """
    if isinstance(inner, (staticmethod, classmethod)):
        disable(inner.__func__, *options)
        return inner
    try:
        function = Function(inner, *options)
    except (TypeError, ValueError):  # not a function, or a builtin without a signature
        return inner
    try:
        _copy_attributes(inner, function)
    except (AttributeError, TypeError):  # a builtin, or an instance with slots

        @functools.wraps(inner)
        def plain_function(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs)

        _copy_attributes(plain_function, function)
        return plain_function
    return inner


def _copy_attributes(target: Any, function: Function) -> None:
    """Give the plain callable the attributes of a compiled function, so that programs can read them."""
    names = [name for name in dir(function) if not name.startswith("_")]
    if not isinstance(target, types.FunctionType):
        names = [name for name in names if not hasattr(target, name)]  # the object's own attributes have priority
    for name in names:
        # Reading `concrete_functions` of a function with an input signature would trace it.
        setattr(target, name, [] if name == "concrete_functions" else getattr(function, name))
    target.explain = functools.partial(_explanation, function.name)


def _explanation(name: str) -> str:
    return f"{name}: switched off by AUTOCONV_DISABLE, every call runs as plain Python\n"
