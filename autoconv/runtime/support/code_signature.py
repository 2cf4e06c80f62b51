"""Signatures that functions have by their code, not by what `functools.wraps` and others advertise."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

_PYTHON_CALLABLES = (FunctionType, MethodType, BuiltinFunctionType, type, partial)


def code_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the parameters that a call of the function fills; `__wrapped__` and `__signature__` are not read.

    An instance of a class with a method `__call__` has the signature of that method, which is examined instead of the
    instance: `inspect.signature` of the instance may call the program's `__eq__`.
    """
    if not isinstance(function, _PYTHON_CALLABLES) and isinstance(vars(type(function)).get("__call__"), FunctionType):
        return code_signature(MethodType(type(function).__call__, function))
    return inspect.signature(_without_advertised_signature(function), follow_wrapped=False)


def _without_advertised_signature(function: Any) -> Any:
    """Return a callable whose signature is that of the function's code; other callables unchanged."""
    if type(function) is MethodType:
        return MethodType(_without_advertised_signature(function.__func__), function.__self__)
    if type(function) is partial:
        return partial(_without_advertised_signature(function.func), *function.args, **function.keywords)
    if type(function) is not FunctionType or not {"__wrapped__", "__signature__"} & vars(function).keys():
        return function
    code = function.__code__
    result = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
    result.__kwdefaults__, result.__annotations__ = function.__kwdefaults__, function.__annotations__
    return result
