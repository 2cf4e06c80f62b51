"""Compare programs under `compile` with plain Python: results, errors and their lines, changed arguments."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import autoconv
from autoconv.config import SETTINGS

_OBJECT_OPS = {"object_build", "object_apply", "object_method"}


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the text of the result, where 1, 1.0 and True differ, or the exception and the line that raised it."""
    try:
        return repr(function(*arguments))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name.startswith("test_")]
        return type(error), str(error), lines[-1]


def result_or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of the call, or the class and the arguments of its exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), error.args


def check_case(
    case: Sequence[Any], backend: str, monkeypatch: pytest.MonkeyPatch, lists_may_be_built: bool = False
) -> None:
    """Compare two calls with plain Python.

    The third part of the case tells whether the optimised graph has no lists as Python objects, or, if they may be
    built, no operations on these.
    """
    function, arguments, unboxed = case
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(function)
    plain_arguments, first_arguments, second_arguments = (copy.deepcopy(arguments) for _ in range(3))
    expected = outcome(function, plain_arguments)
    assert outcome(compiled, first_arguments) == expected
    assert outcome(compiled, second_arguments) == expected, "the second call"
    assert repr(first_arguments) == repr(plain_arguments) == repr(second_arguments)
    (concrete,) = compiled.concrete_functions
    object_ops = _OBJECT_OPS - {"object_build"} if lists_may_be_built else _OBJECT_OPS
    assert (not object_ops & {node.op.name for node in concrete.optimised.walk()}) is unboxed


def case_name(case: Sequence[Any]) -> str:
    return f"{case[0].__name__}{case[1]}"


def check_against_plain(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Compare each call and its changed arguments with plain Python; return the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        plain_arguments, compiled_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected = outcome(function, plain_arguments)
        assert outcome(compiled, compiled_arguments) == expected
        assert repr(compiled_arguments) == repr(plain_arguments)
    return compiled
