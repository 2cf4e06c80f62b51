"""Refuse special methods of Python's own types that the program calls by name: `x.__add__(y)`.

Such a call returns NotImplemented where the operator would try the other operand, checks its own argument count, and
bypasses overrides in subclasses. Values of a trace implement only the operators, so the call runs as plain Python.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autoconv.config.paths import is_own_file
from autoconv.errors import StagingError
from autoconv.graph.python_operators import COMPARISONS, OPERATOR_BY_NAME
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Special methods that may be called by name.
_CALLABLE_BY_NAME = frozenset({"__iter__", "__reversed__", "__next__", "__len__", "__enter__", "__exit__"})


def refuse_special(function: types.MethodType, region: Region | None) -> None:
    """Raise StagingError for a special method of a number, list, dict, set or object of the trace."""
    owner = function.__self__
    if region is None or not region.contract.runs_plain or not _stands_for_python_value(owner):
        return
    code = getattr(function.__func__, "__code__", None)
    if code is None or not is_own_file(code.co_filename):
        return
    kind: Any = type(owner)
    names = (name for name in dir(kind) if name.startswith("__") and getattr(kind, name, None) is function.__func__)
    name = next(names, None)
    if name is not None and name not in _CALLABLE_BY_NAME:
        raise StagingError(
            f"the special method {name!r} of a value of the graph is called by its name", current_place(),
            "the operator, or the builtin function",
        )  # fmt: skip


def refuse_graph_values(function: types.WrapperDescriptorType) -> Callable[..., Any]:
    """Wrap a special method of one of Python's own types (`float.__add__`) to refuse values of the graph.

    The method would return NotImplemented for their placeholders.
    """
    kind, name = function.__objclass__, function.__name__
    if kind in (object, type) or (kind in _CONTAINER_TYPES and name not in _CONTAINER_OPERATOR_METHODS):
        return function

    @functools.wraps(function)
    def call_with_python_values(*args: Any, **kwargs: Any) -> Any:
        """Call the method, or raise StagingError if an argument is a value of the graph."""
        if any(map(_stands_for_python_value, args)):
            raise StagingError(
                f"the special method {name!r} of {kind.__name__} is called by its name with a value of the graph",
                current_place(), "the operator, or the builtin function",
            )  # fmt: skip
        return function(*args, **kwargs)

    return call_with_python_values


# Containers may hold values of the graph; only their operators need the plain value of the operand.
_CONTAINER_TYPES = (list, dict, set, bytearray)
_CONTAINER_OPERATORS = [OPERATOR_BY_NAME[name] for name in ("add", "mul", "or", "and", "sub", "xor")]
_CONTAINER_OPERATOR_METHODS = frozenset(
    {entry.method for entry in (*COMPARISONS, *_CONTAINER_OPERATORS)}
    | {entry.reflected for entry in _CONTAINER_OPERATORS}
)


def _stands_for_python_value(owner: object) -> bool:
    """Return whether a value of the trace stands for one of Python's numbers, containers or objects."""
    is_python_number = type(owner) is SymbolicTensor and owner.weak
    return type(owner) is SymbolicObject or type(owner) in TRACED_TO_PLAIN or is_python_number
