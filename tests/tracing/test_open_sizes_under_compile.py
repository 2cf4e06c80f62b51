"""Arrays of many shapes under `compile`: the third shape is traced with its sizes open, with NumPy's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

SIZES = (5, 7, 12, 3, 2, 1, 0, 9)


def assert_equal_results(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for actual_part, expected_part in zip(found, expected, strict=True):
            assert_equal_results(actual_part, expected_part)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert found == expected


def check_open_sizes(function: Callable[..., Any], calls: list[tuple[Any, ...]], traces: int = 3) -> str:
    """Compare calls with plain Python, of which so many are traced; return the text of `explain`."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        assert_equal_results(compiled(*arguments), function(*arguments))
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()
    return compiled.explain()


def vectors(*sizes: int) -> list[tuple[np.ndarray, ...]]:
    return [(np.arange(size, dtype=np.float64) - 1.0,) for size in sizes or SIZES]


def test_a_length_is_a_number_of_the_code_for_any_size() -> None:
    report = check_open_sizes(lambda a: (len(a), len(a) // 2 + 1, a.shape[0] * 2.5), vectors())
    assert "one compilation for all sizes: (n0)" in report
    assert "no code for any size" not in report


def test_an_unused_result_that_does_not_broadcast_raises_as_in_numpy() -> None:
    def unused(a: Any, b: Any) -> Any:
        a + b
        return a * 2.0

    compiled = autoconv.compile(unused)
    for n, m in ((3, 3), (4, 4), (5, 5), (5, 1), (1, 6)):
        assert_equal_results(compiled(np.ones(n), np.ones(m)), unused(np.ones(n), np.ones(m)))
    words = r"^operands could not be broadcast together with shapes \(6,\) \(7,\) $"
    with pytest.raises(ValueError, match=words) as error:
        compiled(np.ones(6), np.ones(7))
    assert type(error.value) is ValueError


@pytest.mark.parametrize(
    "product",
    [
        lambda A, b: A @ b, lambda A, b: A.dot(b), lambda A, b: np.dot(A, b), lambda A, b: np.concatenate([A, [b]]),
        lambda A, b: np.stack([A[0], b]),
    ],
)  # fmt: skip
def test_incompatible_shapes_raise_as_in_numpy(product: Callable[..., Any]) -> None:
    compiled = autoconv.compile(product)
    for n in (3, 4, 5, 6):
        assert_equal_results(compiled(np.ones((2, n)), np.ones(n)), product(np.ones((2, n)), np.ones(n)))
    with pytest.raises(ValueError) as expected:
        product(np.ones((2, 5)), np.ones(4))
    with pytest.raises(ValueError) as found:
        compiled(np.ones((2, 5)), np.ones(4))
    assert (type(found.value), str(found.value)) == (type(expected.value), str(expected.value))
    assert found.value.__context__ is None


def test_sizes_of_computed_arrays_in_a_function_that_writes() -> None:
    def f(a: Any, b: Any) -> Any:
        b[-1] = 3.0
        twice, tiled = a * 2.0, np.tile(a, 2)
        tiled[0] = 5.0
        return twice, len(twice), tiled, len(tiled) * 0.5

    report = check_open_sizes(f, [(np.ones(n), np.zeros(m)) for n, m in ((5, 7), (7, 4), (12, 3), (3, 3), (2, 5))])
    assert "one compilation for all sizes: (n0), (n1)" in report


def test_max_of_no_elements_raises_pythons_error() -> None:
    def largest(a: Any) -> Any:
        return max(a), min(a), len(a) and max(a[a > 1.0]), max(a.astype(np.int32))

    def unused(a: Any) -> Any:
        max(a[a > 3.0])
        return len(a)

    report = check_open_sizes(largest, vectors(5, 7, 12, 4, 9))
    assert "one compilation for all sizes: (n0)" in report or "code for" in report
    for function in (largest, unused):
        compiled = autoconv.compile(function)
        for n in (7, 8, 9, 10):
            assert_equal_results(compiled(np.arange(n) * 1.0), function(np.arange(n) * 1.0))
        for n in (0, 1):
            with pytest.raises(ValueError) as expected:
                function(np.arange(n) * 1.0)
            with pytest.raises(ValueError) as found:
                compiled(np.arange(n) * 1.0)
            assert str(found.value) == str(expected.value)


def test_a_view_that_is_returned_on_one_path_alone() -> None:
    def turned(a: Any) -> Any:
        if len(a) % 2 == 0:
            return a[::-1]
        return a.ndim

    compiled = autoconv.compile(turned)
    for n, m in ((7, 4), (6, 6), (31, 8), (5, 3), (9, 3), (8, 3), (0, 3), (11, 1)):
        a = np.arange(n * m).reshape(n, m)
        found = compiled(a)
        assert_equal_results(found, turned(a))
        assert n % 2 or not n or np.shares_memory(found, a)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: (a.size, a.nbytes, np.size(a), np.shape(a)), lambda a: np.linspace(0, 1, len(a)),
        lambda a: np.linspace(2, 5, len(a), endpoint=False), lambda a: np.linspace(0, 10, len(a) * 2 - 1, dtype=int),
        lambda a: np.linspace(a.sum(), a.sum(), len(a)), lambda a: np.eye(len(a)),
        lambda a: np.eye(len(a), 3, k=1, dtype=np.int32), lambda a: np.stack([a, a * 2.0]),
        lambda a: np.stack([a, a[::-1]], axis=1), lambda a: np.diff(a, prepend=0),
        lambda a: np.diff(np.outer(a, a), prepend=1, axis=0), lambda a: np.tile(a, 2).reshape(2, len(a)),
        lambda a: np.tile(a, 2).reshape((2, -1)),
    ],
)  # fmt: skip
@pytest.mark.search
def test_functions_of_open_sizes(function: Callable[..., Any]) -> None:
    assert "one compilation for all sizes: (n0)" in check_open_sizes(function, vectors(5, 7, 12, 3, 2, 1, 9))


@pytest.mark.parametrize(
    "function",
    [lambda a: np.eye(len(a) - 7), lambda a: np.linspace(0, 1, len(a) - 7), lambda a: len(np.stack([a, a[a > 1.0]]))],
)
def test_sizes_that_numpy_refuses(function: Callable[..., Any]) -> None:
    compiled = autoconv.compile(function)
    for n in (9, 8, 7, 6, 5):
        try:
            expected = function(np.full(n, n - 6.0))
        except ValueError as error:
            with pytest.raises(ValueError) as found:
                compiled(np.full(n, n - 6.0))
            assert str(found.value) == str(error)
        else:
            assert_equal_results(compiled(np.full(n, n - 6.0)), expected)


def test_functions_of_open_sizes_where_arrays_change_in_place() -> None:
    def f(a: Any) -> Any:
        steps = np.linspace(0, 1, len(a))
        steps[0] = 5.0
        ones = np.eye(len(a))
        ones[-1, 0] += 2.0
        return steps, ones, steps.size

    assert "one compilation for all sizes: (n0)" in check_open_sizes(f, vectors(5, 7, 12, 3, 2, 9))
