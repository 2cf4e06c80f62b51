"""Programs whose converted code also runs on eager tensors that stand for Python's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from grammar.program import Program

from autoconv.emit.module import convert_source
from autoconv.runtime.tensors.conversion import python_number
from differential.compare import load, outcomes

# With these a program asks whether something is an int, looks it up, or prints it, and a tensor is no int to that.
UNFIT = frozenset(
    {"array_writes", "arrays", "dicts", "kept", "list_argument", "log_argument", "match", "print", "sets", "strings"}
)


def runs_eagerly(program: Program) -> bool:
    return not program.features & UNFIT and "isinstance(" not in program.source


def eager_outcomes(program: Program) -> list[Any]:
    """What the converted program does with tensors for numbers, told in plain values."""
    names = load(convert_source(program.source, "program.py").text, "<converted>")
    function: Callable[..., Any] = names["program"]

    def call(*arguments: Any) -> Any:
        try:
            return _plain(function(*(python_number(argument) for argument in arguments)))
        except Exception as error:
            error.args = _plain(error.args)
            raise
        finally:
            for name, value in names.items():
                if isinstance(value, type) and "scale" in vars(value):
                    value.scale = _plain(value.scale)
                elif not name.startswith("__"):
                    names[name] = _plain(value)

    return outcomes(call, names, program.inputs)


def _plain(value: Any) -> Any:
    """The value with numbers for tensors: lists and dicts stay the same objects."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, list):
        value[:] = map(_plain, value)
    elif isinstance(value, dict):
        value.update({key: _plain(item) for key, item in value.items()})
    elif "__dict__" in dir(value) and type(value).__module__ == "programs":
        vars(value).update({name: _plain(item) for name, item in vars(value).items() if not name.startswith("__")})
    return np.asarray(value).item() if type(value).__name__ == "EagerTensor" else value
