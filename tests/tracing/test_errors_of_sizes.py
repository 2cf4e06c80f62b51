"""Errors of sizes that a program computes, and of decompositions, in handlers: NumPy's classes and messages."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import autoconv

CALLS = (
    "x.reshape(n, 2)", "x.reshape(n, -1)", "np.reshape(x, (2, n))", "np.arange(n).reshape(2, 3)", "np.zeros(n)",
    "np.ones((n, 2))", "np.full(n, 2.0)", "np.eye(n)", "np.linspace(0, 1, n)", "np.zeros_like(x, shape=n)",
    "np.broadcast_to(x, (n, 6))", "np.arange(0, 6, n)", "np.tile(x, n)", "np.repeat(x, n)", "np.ones(n) + x",
    "np.concatenate([x, np.ones(n)])", "np.stack([x, np.ones(n)])", "np.dot(x, np.ones(n))", "np.max(x[:n])",
    "np.argmax(x[n:n])", "np.zeros(n)[3]",
)  # fmt: skip


def function_of(call: str) -> Any:
    """Return a function that makes an array, counts what it did, and returns the handled error's class and text."""
    source = f"""
def function(x, n):
    steps = 1
    try:
        total = float(np.sum({call}))
        steps += 1
    except Exception as error:
        return steps, type(error).__name__, str(error)
    return steps, total
"""
    names: dict[str, Any] = {"np": np}
    path = f"<{call}>"
    exec(compile(source, path, "exec"), names)
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    return names["function"]


@pytest.mark.parametrize("call", CALLS)
def test_handlers_see_the_errors_of_numpy(call: str) -> None:
    function = function_of(call)
    compiled = autoconv.compile(function)
    x = np.arange(6.0)
    for n in (3, -2, 0, -1, 6, 1, 4):
        assert compiled(x, n) == function(x, n), n


def sizes_in_turns(x: np.ndarray, n: int, step: int) -> tuple[int, float]:
    """In handlers the names have the values from before the failed statement."""
    done, total = 0, 0.0
    try:
        total = total + x.reshape(n, 2).sum()
        done = 1
        total = total + np.arange(0, n, step).sum()
        done = 2
    except (ValueError, ZeroDivisionError):
        return done, total
    return done, total


def test_names_keep_their_values_from_before_the_error() -> None:
    compiled = autoconv.compile(sizes_in_turns)
    x = np.arange(6.0)
    for n, step in ((3, 1), (4, 1), (3, 0), (3, 2)):
        assert compiled(x, n, step) == sizes_in_turns(x, n, step)
    assert compiled.explain().count("plain") == 0


@pytest.mark.parametrize("name", ["svd", "eig", "eigh"])
def test_decompositions_that_fail(name: str) -> None:
    decompose = getattr(np.linalg, name)

    def function(x: np.ndarray) -> Any:
        done = 0
        try:
            values = decompose(x)
            done = 1
        except np.linalg.LinAlgError as error:
            return done, str(error)
        return done, len(values)

    compiled = autoconv.compile(function)
    for x in (np.eye(3), np.full((3, 3), np.nan), np.full((3, 3), np.inf)):
        assert compiled(x) == function(x)


def assigned_by_mask(x: Any, values: Any, mask: Any) -> Any:
    y = np.copy(x)
    try:
        y[mask] = values
    except ValueError:
        return np.float64(-1.0)
    return np.sum(y)


def assigned_to_slice(x: Any, values: Any, mask: Any) -> Any:
    y = np.copy(x)
    try:
        y[:2] = values
    except ValueError:
        return np.float64(-1.0)
    return np.sum(y)


@pytest.mark.parametrize("function", [assigned_by_mask, assigned_to_slice])
def test_handlers_see_that_assigned_values_do_not_fit_the_indexed_part(function: Any) -> None:
    """The number of values is known only at run time."""
    arguments = (([4], "float64"), ([None], "float64"), ([4], "bool"))
    specs = [autoconv.TensorSpec(shape, dtype) for shape, dtype in arguments]
    traced = autoconv.function(function, input_signature=specs)
    x, mask = np.arange(4.0), np.array([True, False, False, True])
    for count in (2, 3, 1, 4):
        values = np.arange(count) + 0.5
        assert float(traced(x, values, mask)) == function(x, values, mask), count
