"""What TensorFlow offers as experimental."""

from __future__ import annotations

from autoconv.runtime.objects.resource import TrackableResource

__all__ = ["TrackableResource"]
