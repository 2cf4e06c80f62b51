"""Approximate call graph, built from the names that functions read.

An edge leads to each function that a name read in the code may refer to. Conservative: after `_LIMIT` functions, every
function counts as reachable.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

_LIMIT = 200  # functions visited


def may_call_itself(function: types.FunctionType, args: tuple[Any, ...]) -> bool:
    """Return whether the function may be recursive. Conservative; a wrong result only makes the trace slower.

    `args` are the arguments of the call: names of methods are looked up in their classes.
    """
    classes = {type(value) for value in args if type(value).__module__ != "builtins"}
    pending_functions, seen_codes = [function], {function.__code__}
    while pending_functions:
        caller = pending_functions.pop()
        for value in _values_of_names(caller, _names_read(caller.__code__), classes):
            callee = _unwrap(value)
            if callee is None:
                continue
            if callee.__code__ is function.__code__:
                return True
            if callee.__code__ not in seen_codes:
                seen_codes.add(callee.__code__)
                if not _is_of_library(callee):
                    pending_functions.append(callee)
        if len(seen_codes) > _LIMIT:
            return True
    return False


def _is_of_library(function: types.FunctionType) -> bool:
    """Return whether a function belongs to this package or NumPy, whose names lead to no function of the user."""
    return (function.__module__ or "").partition(".")[0] in ("autoconv", "numpy")


def _values_of_names(function: types.FunctionType, names: frozenset[str], classes: set[type]) -> Iterator[Any]:
    """Yield what the names may refer to in a function: globals, cells, and attributes of modules and classes."""
    module_names = function.__globals__
    for name in module_names.keys() & names:
        value = module_names[name]
        yield value
        if isinstance(value, (types.ModuleType, type)):
            yield from _attributes(value, names)
    for cls in classes:
        for base in cls.__mro__:
            yield from _attributes(base, names)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _attributes(owner: types.ModuleType | type, names: frozenset[str]) -> Iterator[Any]:
    """Yield the owner's own attributes of these names."""
    attributes = vars(owner)
    for attribute in attributes.keys() & names:
        yield attributes[attribute]


def _unwrap(value: object) -> types.FunctionType | None:
    """Return the Python function that a call of `value` runs; None if there is none."""
    for _ in range(8):  # wrappers around wrappers
        if isinstance(value, types.FunctionType):
            return value
        if isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        elif getattr(type(value), "__autoconv_function__", False):
            value = getattr(value, "python_function", None)
        else:
            return None
    return None


@functools.lru_cache(4096)
def _names_read(code: types.CodeType) -> frozenset[str]:
    """Return the names that a function's code, and code nested in it, reads."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_read(constant)
    return frozenset(names)
