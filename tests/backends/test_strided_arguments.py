"""Arguments that are parts of other arrays: read in place, with NumPy's values, views and identities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

PROGRAMS: tuple[Callable[..., Any], ...] = (
    lambda a, b: a * 2 + b,
    lambda a, b: (a.sum(), a.mean(), a.max(), a.argmin(), (a > b).any()),
    lambda a, b: (a.sum(axis=0), a.max(axis=-1), np.cumsum(a, axis=0), np.sort(a, axis=-1)),
    lambda a, b: (a[1:] - a[:-1], a[::-1] + b, a.T.copy(), a.reshape(-1)[:5]),
    lambda a, b: np.where(a > b, a, np.sin(b)).std(),
    lambda a, b: a[..., :3] @ np.swapaxes(b[..., :3], -1, -2) if a.ndim > 1 else a @ b,
    lambda a, b: (np.concatenate([a, b]), np.stack([a, b]).min(axis=0), np.roll(a, 2), a[[0, 2, 1]]),
    lambda a, b: ((a + 1j * b) * a, a.astype(np.int64) // 3, np.median(a), np.unique(b.astype(np.int64))),
    lambda a, b: [row.sum() for row in a[:3]] if a.ndim > 1 else list(a[:3]),
)


def _parts(dtype: Any) -> list[np.ndarray]:
    draws = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return (draws.standard_normal(shape) * 100).astype(dtype)

    return [
        numbers(4000)[::2], numbers(7000)[::7], numbers(3000)[::-1], numbers(2000, 3)[:, 1], numbers(60, 90)[:, :50],
        numbers(60, 90)[::2, ::3], numbers(60, 90)[:, ::-1], numbers(40, 6, 50).transpose(1, 0, 2)[::2],
        numbers(60, 40).T[::2], numbers(40)[::2],
    ]  # fmt: skip


def _compare(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for actual_part, expected_part in zip(found, expected, strict=True):
            _compare(actual_part, expected_part, tolerance)
        return
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 100)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128", "bool"])
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
@pytest.mark.search
def test_results_are_those_of_numpy(number: int, dtype: str) -> None:
    program = PROGRAMS[number]
    if (dtype == "complex128" and number in (3, 4, 7)) or (dtype == "bool" and number not in (0, 2, 6)):
        pytest.skip("NumPy refuses it, or warns")
    compiled = autoconv.compile(program)
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    for part in _parts(dtype):
        contiguous = np.ascontiguousarray(part)
        for arguments in ((part, part), (part, contiguous), (contiguous, part), (contiguous, contiguous)):
            _compare(compiled(*arguments), program(*arguments), tolerance)


def test_sums_of_many_small_numbers_are_as_exact_as_numpys() -> None:
    draws = np.random.default_rng(1)
    compiled = autoconv.compile(lambda a: (a.sum(), (a * a).mean()))
    for part in (
        draws.random((1000, 2000), dtype=np.float32)[::2, ::2],
        draws.random(4_000_000, dtype=np.float32)[::2],
        draws.random((200_000, 4), dtype=np.float32)[:, 1:],
    ):
        wide = part.astype(np.float64)
        for found, exact in zip(compiled(part), (wide.sum(), (wide * wide).mean()), strict=True):
            assert abs(found - exact) < 3e-6 * exact


def test_results_are_the_argument_or_views_of_it() -> None:
    compiled = autoconv.compile(lambda a: (a, a[3:], a.T, a + 1))
    for base in (np.arange(5000.0), np.arange(6400.0).reshape(80, 80)):
        part = base[::2]
        unchanged, later, reversed_part, fresh = compiled(part)
        assert unchanged is part
        part[4] = 7.0
        np.testing.assert_array_equal(later, part[3:])
        np.testing.assert_array_equal(reversed_part, part.T)
        assert not np.shares_memory(fresh, base)


def test_a_single_result_is_the_argument_or_a_view_of_it() -> None:
    part = np.arange(5000)[::2]
    for program in (lambda a, b: a, lambda a, b: (a, a, b.sum()), lambda a, b: a[1:], lambda a, b: a.reshape(2, -1)[1]):
        compiled = autoconv.compile(program)
        for operand in (np.ones(3), part[:1500]):
            result, expected = compiled(part, operand), program(part, operand)
            first_result, first_expected = (result[0], expected[0]) if isinstance(result, tuple) else (result, expected)
            assert (first_result is part) == (first_expected is part)
            assert np.shares_memory(first_result, part) == np.shares_memory(first_expected, part)
            np.testing.assert_array_equal(first_result, first_expected)


def test_later_writes_do_not_show_in_results() -> None:
    def program(a: Any) -> Any:
        b = a * 1
        c = a.copy()
        b[0] = 3.0
        return b, c, c.sum() + b.sum()

    part = np.arange(5000.0)[::2]
    compiled = autoconv.compile(program)
    found, expected = compiled(part), program(part)
    part[:] = 0
    for actual_part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(actual_part, expected_part)


def test_read_only_and_changing_sizes() -> None:
    compiled = autoconv.compile(lambda a, b: (a - a.mean(), b.sum()))
    for size in (2000, 3001, 2000, 4444, 5, 3000, 6000):
        base = np.random.default_rng(size).standard_normal(3 * size)
        for part in (base[::2], base[::3], base[:size], base[size:0:-1]):
            read_only = part.view()
            read_only.flags.writeable = False
            for call_arguments in ((part, read_only), (read_only, part), (part[::5], part)):
                expected = call_arguments[0] - call_arguments[0].mean(), call_arguments[1].sum()
                for left, right in zip(compiled(*call_arguments), expected, strict=True):
                    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
