"""Compare compiled functions of lists that NumPy converts to arrays with plain Python: classes, dtypes, values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv

A = np.random.default_rng(0).normal(size=70)
INTS = np.arange(40)


def describe(value: Any) -> Any:
    """Return the classes, dtypes and values of a result, for comparison."""
    if isinstance(value, (tuple, list)):
        return type(value), [describe(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, str(value.tolist())
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            found = describe(function(*arguments))
        except Exception as error:
            found = type(error), str(error)
    return found, describe(arguments)


def check(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Compare each call, made twice, with plain Python; return the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        expected = outcome(function, copy.deepcopy(arguments))
        for _ in range(2):
            assert outcome(compiled, copy.deepcopy(arguments)) == expected
    return compiled


def check_staged(function: Callable[..., Any], *calls: tuple[Any, ...], traces: int = 1) -> Any:
    """Do what `check` does, and assert that all calls ran as graphs, of so many traces."""
    compiled = check(function, *calls)
    assert "plain Python" not in compiled.explain()
    assert len(compiled.concrete_functions) == traces
    return compiled


def ops_of(compiled: Any) -> set[str]:
    (concrete,) = compiled.concrete_functions
    return {node.op.name for node in concrete.optimised.walk()}
