"""Refuse special methods of Python's own types that the program calls by name: `x.__add__(y)`.

Such a call returns NotImplemented where the operator would try the other operand, checks its own argument count, and
bypasses overrides in subclasses. Values of a trace implement only the operators, so the call runs as plain Python.
"""

from __future__ import annotations

import types
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.containers import PLAIN
from autoconv.runtime.objects import SymbolicObject
from autoconv.runtime.recording import COMPILE, Region
from autoconv.runtime.spans import current_place, is_own_file
from autoconv.runtime.symbolic import SymbolicTensor

# Special methods that may be called by name.
_GOING_OVER = frozenset({"__iter__", "__reversed__", "__next__", "__len__", "__enter__", "__exit__"})


def refuse_special(function: types.MethodType, region: Region | None) -> None:
    """Raise StagingError for a special method of a number, list, dict, set or object of the trace."""
    owner = function.__self__
    if region is None or region.contract != COMPILE or not _stands_for_python(owner):
        return
    code = getattr(function.__func__, "__code__", None)
    if code is None or not is_own_file(code.co_filename):
        return
    kind: Any = type(owner)
    names = (name for name in dir(kind) if name.startswith("__") and getattr(kind, name, None) is function.__func__)
    name = next(names, None)
    if name is not None and name not in _GOING_OVER:
        raise StagingError(
            f"the special method {name!r} of a value of the graph is called by its name", current_place(),
            "the operator, or the builtin function",
        )  # fmt: skip


def _stands_for_python(owner: Any) -> bool:
    return type(owner) is SymbolicObject or type(owner) in PLAIN or (type(owner) is SymbolicTensor and owner.weak)


__all__ = ["refuse_special"]
