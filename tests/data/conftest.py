"""Fixtures of the tests of datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def plain(value: Any) -> Any:
    """Return an element as Python numbers, bytes and lists."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return np.asarray(value).tolist()


@pytest.fixture
def elements() -> Callable[[Any], list[Any]]:
    """Return a function that lists the elements of a dataset as plain values."""
    return lambda dataset: [plain(element) for element in dataset.as_numpy_iterator()]
