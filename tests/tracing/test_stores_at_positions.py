"""Assignments at arrays of positions into arrays that the call changes: `x[i] = value`, natively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tracing.in_place import check_in_place

POSITIONS = np.array([2, 0, -1, 2, 1])
VALUES = np.array([5.0, 6.0, 7.0, 8.0, 9.0])
ARRAY = np.arange(12.0).reshape(3, 4)


def one_hot(x: Any, i: Any, v: Any) -> Any:
    x[np.arange(len(i)) % 3, i] -= 1
    return x


def rows(x: Any, i: Any, v: Any) -> Any:
    x[i] = v[:4]
    x[:, i] = v
    x[1:, i[:2]] *= 2
    x[i[:3], ::-1] = x[i[1:4]]
    x[i[0], i] = v[0]
    return x


def views(x: Any, i: Any, v: Any) -> Any:
    x.T[i, 1] = v
    x[::2, 1:][:, i] = 3
    x[..., i[None, :] * np.ones((2, 1), np.int64)] = v
    return x


def own_elements(x: Any, i: Any, v: Any) -> Any:
    i[i] = i[::-1]
    v[i] = v
    v[1:][i[:2]] = v[3:]
    return x[i]


def of_other_dtypes(x: Any, i: Any, v: Any) -> Any:
    counts = np.zeros(6, np.int32)
    counts[i] = v
    counts[i] += 1
    flags = np.zeros(6, bool)
    flags[i] = v > 6
    flags[i.astype(np.int8)] |= True
    complexes = np.zeros(6, complex)
    complexes[i] = v
    complexes[i + 1] = 1j * v
    return counts, flags, complexes


def in_a_loop(x: Any, i: Any, v: Any) -> Any:
    for step in range(4):
        x[step % 3, i] = v * step
        x[i, step] += 1
    return x.sum(), x


def out_of_range(x: Any, i: Any, v: Any) -> Any:
    v[i + 3] = 1.0
    return v


@pytest.mark.parametrize(
    "program", [one_hot, rows, views, own_elements, of_other_dtypes, in_a_loop, out_of_range], ids=lambda f: f.__name__
)
def test_as_numpy(program: Any) -> None:
    compiled = check_in_place(program, ARRAY, POSITIONS, VALUES)
    if program is not out_of_range:
        assert "by kernels" not in compiled.explain()


def test_of_any_size() -> None:
    def program(x: Any, i: Any) -> Any:
        x[i] = i
        x[i - 1] += 2
        return x

    compiled = check_in_place(program, np.zeros(8), np.array([3, 4]))
    for count in (1, 5, 6, 7):
        i = np.random.default_rng(count).integers(-4, 4, count)
        found, expected = np.zeros(9), np.zeros(9)
        compiled(found, i)
        program(expected, i)
        np.testing.assert_array_equal(found, expected)
    assert "by kernels" not in compiled.explain()


def test_into_slices_of_sizes_known_at_run_time() -> None:
    def program(x: Any, v: Any, z: Any) -> Any:
        for start in range(0, 30, 7):
            x[start : start + 4] = v
            z[start // 2 : start // 2 + 4] = v * z[start // 2 : start // 2 + 4] + 1j
        return x, z

    for size, count in [(32, 4), (32, 1), (31, 4), (31, 1), (40, 3)]:
        compiled = check_in_place(program, np.arange(size * 1.0), VALUES[:count], np.ones(18, complex))
        if (size, count) in [(32, 4), (32, 1)]:
            assert "by kernels" not in compiled.explain()
