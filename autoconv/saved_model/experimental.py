"""Names that TensorFlow has as experimental."""

from __future__ import annotations

from autoconv.runtime.objects.resource import TrackableResource

__all__ = ["TrackableResource"]
