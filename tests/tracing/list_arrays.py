"""Lists that are arrays to NumPy, under `compile` beside plain Python: classes, dtypes and values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv

A = np.random.default_rng(0).normal(size=70)
INTS = np.arange(40)


def shown(value: Any) -> Any:
    """What tells classes, dtypes and values apart."""
    if isinstance(value, (tuple, list)):
        return type(value), [shown(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, str(value.tolist())
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            found = shown(function(*arguments))
        except Exception as error:
            found = type(error), str(error)
    return found, shown(arguments)


def check(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Each call, made twice, does what plain Python does; the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        wanted = outcome(function, copy.deepcopy(arguments))
        for _ in range(2):
            assert outcome(compiled, copy.deepcopy(arguments)) == wanted
    return compiled


def staged(function: Callable[..., Any], *calls: tuple[Any, ...], traces: int = 1) -> Any:
    """The same, all of it as graphs."""
    compiled = check(function, *calls)
    assert "plain Python" not in compiled.explain()
    assert len(compiled.concrete_functions) == traces
    return compiled


def ops_of(compiled: Any) -> set[str]:
    (concrete,) = compiled.concrete_functions
    return {node.op.name for node in concrete.optimised.walk()}
