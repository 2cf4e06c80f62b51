"""Arrays of known sizes that are read before they are written: values are those before the write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv


def upwind(u: Any) -> Any:
    for _ in range(5):
        flux = 0.5 * u * u
        u[1:] -= 0.1 * (flux[1:] - flux[:-1])
    return u


def kept(u: Any) -> Any:
    old = u + 0.0
    part = u[2:] * 2
    u[:] = 1.0
    u[1:] += old[:-1]
    return part.sum() + old[0]


def swapped(u: Any) -> Any:
    for i in range(3):
        low, high = u[:5] + 0, u[-5:] * (i + 1)
        u[-5:] = low
        u[:5] = high + low[::-1]
    return u


def read_after(u: Any) -> Any:
    total = 0.0
    for i in range(4):
        row = u * 1.5
        u[i] = row[i + 1] + row.max()
        total += row[i] + u[i]
    return total


@pytest.mark.parametrize("program", [upwind, kept, swapped, read_after])
@pytest.mark.parametrize("step", [1, 2])
def test_as_numpy(program: Any, step: int) -> None:
    compiled = autoconv.compile(program)
    for size in (20, 20, 2001):
        mine, its = (np.linspace(-1, 2, size * step)[::step] for _ in range(2))
        np.testing.assert_allclose(compiled(mine), program(its), rtol=1e-12)
        np.testing.assert_allclose(mine, its, rtol=1e-12)
