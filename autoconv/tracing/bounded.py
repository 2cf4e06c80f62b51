"""A mapping that forgets its oldest entries."""

from __future__ import annotations

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value]):
    """At most `limit` entries; an entry that is assigned again is as good as new.

    It is a plain dict, whose items can be listed while other threads look things up.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        while len(self) > self.limit:
            self.pop(next(iter(self)), None)
