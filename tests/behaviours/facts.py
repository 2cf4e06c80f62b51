"""What the tests of the catalogue's lines share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


@contextlib.contextmanager
def raises(error: type[BaseException], *facts: str) -> Iterator[Any]:
    """The block raises that error, and its message has all those parts."""
    with pytest.raises(error) as caught:
        yield caught
    text = str(caught.value)
    for fact in facts:
        assert fact in text, f"{fact!r} is not in: {text}"
