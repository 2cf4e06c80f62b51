"""Outcomes of converted code on eager tensors in place of Python's numbers, and the programs that allow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from grammar.program import Program

from autoconv.emit.module import convert_source
from autoconv.runtime.tensors.conversion import python_number
from differential.compare import load, outcomes

# Features whose programs test, look up or print ints, where a tensor gives another result.
UNSUPPORTED_FEATURES = frozenset(
    {"array_writes", "arrays", "dicts", "kept", "list_argument", "log_argument", "match", "print", "sets", "strings"}
)


def runs_eagerly(program: Program) -> bool:
    return not program.features & UNSUPPORTED_FEATURES and "isinstance(" not in program.source


def eager_outcomes(program: Program) -> list[Any]:
    """Return the outcomes of the converted program with tensors for numbers, in plain values."""
    names = load(convert_source(program.source, "program.py").text, "<converted>")
    function: Callable[..., Any] = names["program"]

    def call(*arguments: Any) -> Any:
        try:
            return _replace_tensors(function(*(python_number(argument) for argument in arguments)))
        except Exception as error:
            error.args = _replace_tensors(error.args)
            raise
        finally:
            for name, value in names.items():
                if isinstance(value, type) and "scale" in vars(value):
                    value.scale = _replace_tensors(value.scale)
                elif not name.startswith("__"):
                    names[name] = _replace_tensors(value)

    return outcomes(call, names, program.inputs)


def _replace_tensors(value: Any) -> Any:
    """Replace tensors by numbers in a value, in lists and dicts in place."""
    if isinstance(value, tuple):
        return tuple(map(_replace_tensors, value))
    if isinstance(value, list):
        value[:] = map(_replace_tensors, value)
    elif isinstance(value, dict):
        value.update({key: _replace_tensors(item) for key, item in value.items()})
    elif "__dict__" in dir(value) and type(value).__module__ == "programs":
        vars(value).update(
            {name: _replace_tensors(item) for name, item in vars(value).items() if not name.startswith("__")}
        )
    return np.asarray(value).item() if type(value).__name__ == "EagerTensor" else value
