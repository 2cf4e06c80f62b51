"""Base class of objects with their own state that graphs refer to, such as tables."""

from __future__ import annotations

from autoconv.runtime.objects.trackable import Trackable


class TrackableResource(Trackable):
    """An object whose state is saved with the object that owns it."""
