"""NumPy functions that call functions of the program (vectorize, apply_along_axis, piecewise), beside plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

scale = 3.0


@np.vectorize
def bent(v: Any) -> Any:
    return v * 2 if v > 0.5 else -v * scale


def added(a: Any, b: Any) -> Any:
    return a + b


floats = np.vectorize(added, otypes=[float])


def limit(row: Any, low: float) -> Any:
    row[row < low] = low
    return row


def counted(x: Any) -> Any:
    count = 0

    def times(v: Any) -> Any:
        nonlocal count
        count += 1
        return count * v

    result = np.vectorize(times)(x)
    return result, count


def kinds_of_elements(x: Any) -> Any:
    return np.vectorize(lambda v: v / 3)(x), np.vectorize(lambda v: v > 0.5)(x), np.vectorize(int)(x)


STAGED: list[Callable[[Any], Any]] = [
    lambda x: bent(x) + 1,
    lambda x: (np.vectorize(added)(x, 2), floats(x, x), floats(x, 1), np.vectorize(added)(1, x)),
    lambda x: bent(x[::2]),
    lambda x: bent(x.reshape(4, 6)),
    counted,
    kinds_of_elements,
    lambda x: np.piecewise(x, [x < 0.3, x > 0.6], [lambda v: v * 2, 7.0, lambda v: -v]),
    lambda x: (np.piecewise(x, [x < 0.5], [0, 1]), np.piecewise(x, x < 0.5, [np.sin, np.cos])),
    lambda x: np.piecewise(x, [x < 5, x < 0.5], [1, lambda v, k: v * k], 3),
    lambda x: np.apply_along_axis(lambda row: row.sum() * 2, 1, x.reshape(4, 6)),
    lambda x: np.apply_along_axis(lambda column: np.sort(column), 0, x.reshape(4, 6)),
    lambda x: np.apply_along_axis(np.mean, 0, x.reshape(6, 4)),
    lambda x: np.apply_along_axis(lambda row, k=1: row[0] + k, -1, x.reshape(6, 4), k=2),
    lambda x: (np.apply_along_axis(limit, 1, x.reshape(4, 6), 0.5), x),
]
PLAIN: list[Callable[[Any], Any]] = [
    lambda x: bent(0.3),
    lambda x: np.vectorize(lambda v: (v, 2 * v))(x),
    lambda x: np.vectorize(lambda v: f"{v:.2f}")(x),
    lambda x: np.vectorize(added)(x, x[:1]),
    lambda x: np.vectorize(added)(x, b=2),
    lambda x: np.vectorize(added)([1, 2.5], x[:2]),
    lambda x: np.vectorize(added, excluded=[1])(x, 2),
    lambda x: np.vectorize(lambda v: 1 if v < 0.5 else 2.7)(x),
    lambda x: np.vectorize(added)(x.astype(np.float32), x[0]),
    lambda x: np.apply_along_axis(np.sum, 0, x),
    lambda x: np.apply_along_axis(np.sum, 5, x.reshape(4, 6)),
    lambda x: np.apply_along_axis(lambda row: np.outer(row, row), 1, x.reshape(12, 2)),
    lambda x: np.piecewise(x, [x < 0.5], [1, 2, 3]),
    lambda x: np.vectorize(bent)(x[:0]),
]


def shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    return f"{value!r} {value.dtype} {value.strides}" if isinstance(value, np.ndarray) else repr(value)


def outcome(function: Callable[[Any], Any], x: Any) -> str:
    try:
        return shown(function(x))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("function", [*STAGED, *PLAIN], ids=range(len(STAGED) + len(PLAIN)))
def test_results_strides_and_changed_arguments(function: Any) -> None:
    compiled = autoconv.compile(function)
    for number in range(3):
        x = np.random.default_rng(number).random(24)
        changed = x.copy()
        assert outcome(compiled, changed) == outcome(function, x)
        assert np.array_equal(changed, x)
    if function in STAGED:
        assert "plain Python" not in compiled.explain()


def test_integers_narrow_floats_and_columns_first() -> None:
    def program(x: Any) -> Any:
        return bent(x), np.vectorize(added)(x, 2)

    compiled = autoconv.compile(program)
    for x in (np.arange(5), np.linspace(0, 1, 5, dtype=np.float32), np.asfortranarray(np.eye(3)), np.eye(3) > 0):
        assert outcome(compiled, x) == outcome(program, x)


def test_a_changed_function_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = autoconv.compile(lambda x: bent(x))
    x = np.linspace(0, 1, 7)
    assert np.array_equal(compiled(x), bent(x))
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert np.array_equal(compiled(x), bent(x))
    monkeypatch.setattr(bent, "pyfunc", lambda v: v + 1.0)
    assert np.array_equal(compiled(x), x + 1)


class Doubling:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return 2 * x


def test_a_callable_object_without_a_hash_is_converted() -> None:
    doubling = Doubling()
    compiled = autoconv.compile(lambda x: doubling(x) + 1)
    assert np.array_equal(compiled(np.ones(2)), [3.0, 3.0])
    assert "plain Python" not in compiled.explain()
