"""`tf.experimental.numpy.random`: random numbers by the functions of NumPy's `random`, with its dtypes."""

from __future__ import annotations

from collections.abc import Iterable as _Iterable
from typing import Any

import autoconv as _autoconv


def seed(s: int) -> None:
    """Restart the global generator."""
    _autoconv.random.set_seed(int(s))


def uniform(low: object = 0.0, high: object = 1.0, size: int | _Iterable[int] | None = None) -> Any:
    return _autoconv.random.uniform(_shape(size), low, high, dtype=_autoconv.float64)


def random(size: int | _Iterable[int] | None = None) -> Any:
    return uniform(0.0, 1.0, size)


def rand(*size: int) -> Any:
    return uniform(0.0, 1.0, size)


def standard_normal(size: int | _Iterable[int] | None = None) -> Any:
    return _autoconv.random.normal(_shape(size), dtype=_autoconv.float64)


def randn(*args: int) -> Any:
    return standard_normal(args)


def randint(low: int, high: int | None = None, size: int | _Iterable[int] | None = None, dtype: object = None) -> Any:
    lowest, limit = (0, low) if high is None else (low, high)
    return _autoconv.random.uniform(_shape(size), lowest, limit, dtype=_autoconv.as_dtype(dtype or "int64"))


def poisson(lam: Any = 1.0, size: int | _Iterable[int] | None = None) -> Any:
    return _autoconv.random.poisson(_shape(size), lam, dtype=_autoconv.int64)


def _shape(size: int | _Iterable[int] | None) -> list[int]:
    return [] if size is None else [size] if isinstance(size, int) else list(size)
