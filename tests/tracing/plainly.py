"""Programs under `compile` beside plain Python: results, errors and their places, changed arguments."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import autoconv
from autoconv.config import SETTINGS

_OBJECTS = {"object_build", "object_apply", "object_method"}


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The result as text, which tells 1 from 1.0 and True; or the exception, and the line that it comes from."""
    try:
        return repr(function(*arguments))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name.startswith("test_")]
        return type(error), str(error), lines[-1]


def result_or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the call gives; or the kind and the arguments of the exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), error.args


def check(case: Sequence[Any], backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls give what plain Python does; the case says whether no list is an object of Python's afterwards."""
    function, arguments, unboxed = case
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(function)
    plain, first, second = (copy.deepcopy(arguments) for _ in range(3))
    wanted = outcome(function, plain)
    assert outcome(compiled, first) == wanted
    assert outcome(compiled, second) == wanted, "the second call"
    assert repr(first) == repr(plain) == repr(second)
    (concrete,) = compiled.concrete_functions
    assert (not _OBJECTS & {node.op.name for node in concrete.optimised.walk()}) is unboxed


def name_of(case: Sequence[Any]) -> str:
    return f"{case[0].__name__}{case[1]}"


def same_as_plain(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Asserts that each call does what plain Python does, its arguments included; the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        plain, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
        wanted = outcome(function, plain)
        assert outcome(compiled, given) == wanted
        assert repr(given) == repr(plain)
    return compiled
