"""Detect functions that call a debugger or set a tracer: these need the lines and frames of plain Python."""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Callable
from typing import Any

_NAMES = ("set_trace", "settrace", "setprofile")
_BREAKPOINT = "breakpoint"


def debugger_name(function: Callable[..., Any]) -> str:
    """Return the name by which a function, or code nested in it, calls a debugger or sets a tracer; "" if none."""
    code = getattr(function, "__code__", None)
    names = getattr(function, "__globals__", {})
    return _debugger_name(code, names) if isinstance(code, types.CodeType) else ""


def _debugger_name(code: types.CodeType, names: dict[str, Any]) -> str:
    for name in _NAMES:
        if name in code.co_names:
            return name
    if _BREAKPOINT in code.co_names and _reads_breakpoint(code, names):
        return _BREAKPOINT
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and (result := _debugger_name(constant, names)):
            return result
    return ""


def _reads_breakpoint(code: types.CodeType, names: dict[str, Any]) -> bool:
    """Return whether `breakpoint` in the code is the builtin function and not an attribute."""
    if names.get(_BREAKPOINT, builtins.breakpoint) is not builtins.breakpoint:
        return False
    steps = dis.get_instructions(code)
    return any(step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval == _BREAKPOINT for step in steps)
