"""Helpers of the tests of the catalogue's lines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


def values(*results: Any) -> list[Any]:
    """Return tensors as Python's numbers and lists; None stays None."""
    return [result if result is None else result.numpy().tolist() for result in results]


@contextlib.contextmanager
def raises(error: type[BaseException], *facts: str) -> Iterator[Any]:
    """Assert that the block raises that error with all these parts in its message."""
    with pytest.raises(error) as caught:
        yield caught
    text = str(caught.value)
    for fact in facts:
        assert fact in text, f"{fact!r} is not in: {text}"
