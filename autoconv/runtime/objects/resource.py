"""Objects with state of their own that graphs refer to, such as tables."""

from __future__ import annotations

from typing import Any


class TrackableResource:
    """Base of objects whose state belongs to the saved object that owns them."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}
