"""Detect functions that call a debugger or set a tracer: these need the lines and frames of plain Python."""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Callable
from typing import Any

_TRACER_NAMES = ("set_trace", "settrace", "setprofile")
_BREAKPOINT = "breakpoint"


def debugger_name(function: Callable[..., Any]) -> str:
    """Return the name by which a function, or code nested in it, calls a debugger or sets a tracer; "" if none."""
    code = getattr(function, "__code__", None)
    module_names = getattr(function, "__globals__", {})
    return _debugger_name(code, module_names) if isinstance(code, types.CodeType) else ""


def _debugger_name(code: types.CodeType, module_names: dict[str, Any]) -> str:
    """Return the result of `debugger_name` for the code of a function; `module_names` are its globals."""
    for name in _TRACER_NAMES:
        if name in code.co_names:
            return name
    if _BREAKPOINT in code.co_names and _reads_breakpoint(code, module_names):
        return _BREAKPOINT
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and (result := _debugger_name(constant, module_names)):
            return result
    return ""


def _reads_breakpoint(code: types.CodeType, module_names: dict[str, Any]) -> bool:
    """Return whether `breakpoint` in the code is the builtin function and not an attribute."""
    if module_names.get(_BREAKPOINT, builtins.breakpoint) is not builtins.breakpoint:
        return False
    instructions = dis.get_instructions(code)
    return any(step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval == _BREAKPOINT for step in instructions)
