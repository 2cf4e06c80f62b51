"""Arrays of many shapes under `compile`: the third shape is traced with its sizes open, and NumPy's results stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

SIZES = (5, 7, 12, 3, 2, 1, 0, 9)


def same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert found == expected


def opened(function: Callable[..., Any], calls: list[tuple[Any, ...]], traces: int = 3) -> str:
    """What `explain` says of the function, whose results are Python's for all the calls, of which so many traced."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        same(compiled(*arguments), function(*arguments))
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()
    return compiled.explain()


def vectors(*sizes: int) -> list[tuple[np.ndarray, ...]]:
    return [(np.arange(size, dtype=np.float64) - 1.0,) for size in sizes or SIZES]


def test_a_length_is_a_number_of_the_one_code_for_any_size() -> None:
    told = opened(lambda a: (len(a), len(a) // 2 + 1, a.shape[0] * 2.5), vectors())
    assert "one code for any size: (n0)" in told
    assert "no code for any size" not in told
