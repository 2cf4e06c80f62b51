"""A mapping that forgets what was used least recently."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(OrderedDict[Key, Value]):
    """At most `limit` entries; `touch` and assigning count as use. Iteration goes from the oldest to the newest."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self.limit:
            self.popitem(last=False)

    def touch(self, key: Key) -> None:
        """The entry was used; does nothing when another thread has dropped it meanwhile."""
        with contextlib.suppress(KeyError):
            self.move_to_end(key)
