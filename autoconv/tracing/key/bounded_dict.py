"""A bounded mapping that evicts its oldest entries."""

from __future__ import annotations

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedDict(dict[Key, Value]):
    """A mapping of at most `limit` entries; assigning an entry again makes it the newest.

    It is a plain dict, so its items can be listed while other threads look up entries.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        while len(self) > self.limit:
            self.pop(next(iter(self)), None)
