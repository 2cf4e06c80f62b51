"""Base class of objects with their own state that graphs refer to, such as tables."""

from __future__ import annotations

from typing import Any


class TrackableResource:
    """An object whose state is saved with the object that owns it."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}
