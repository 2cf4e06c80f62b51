"""Deep trees: chains of elif, long sums."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Long chains of elif are deep trees: lets them through."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 60_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
