"""Threads that fill queues: there are none, since datasets take their place."""

from __future__ import annotations

from typing import Any


def start_queue_runners(sess: Any = None, coord: Any = None, **options: Any) -> list[Any]:
    """Return an empty list: there are no queues.

    >>> autoconv.compat.v1.train.start_queue_runners()
    []
    """
    return []


__all__ = ["start_queue_runners"]
